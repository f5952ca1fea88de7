use super::*;
use crate::test_fixtures::bare;
use juror_types::{id::Digest, outcome::Outcome, similarity_signature::SimilaritySignature};

fn detected(
    ids: impl Iterator<Item = String>,
    score: impl Fn(usize) -> f64,
) -> Option<LikelyClusters> {
    let mut detector = ClusterDetector::default();
    for (position, id) in ids.enumerate() {
        detector.add(&bare(&id, Outcome::Scored), Some(score(position)));
    }
    detector.finish()
}

/// Score that is nearly equal within each fifteen items.
fn by_fifteen(position: usize) -> f64 {
    0.5 + 0.05 * (position / 15) as f64 + 0.001 * (position % 7) as f64
}

#[test]
fn items_of_few_templates_are_likely_clusters() {
    let names = ["alert", "badge", "button", "card", "form", "modal", "nav", "table"];
    let ids = || names.iter().flat_map(|name| (0..15).map(move |at| format!("{name}_{at:02}")));
    let found = detected(ids(), by_fifteen).unwrap();
    assert_eq!((found.basis, found.items, found.clusters), (ClusterBasis::Ids, 120, 8));
    let effect = found.effect.unwrap();
    assert!(effect.is_seen() && effect.design_effect > 10.0 && effect.widening > 3.0, "{effect:?}");
    let warning = found.warning().unwrap();
    assert!(warning.contains("120 of 120 items look like 8 clusters (ids alert_*"), "{warning}");
    let level = detected(ids(), |position| 0.1 * (position % 7) as f64).unwrap();
    assert_eq!(level.warning(), None, "the scores do not differ between the clusters");
}

#[test]
fn one_common_stem_and_unique_stems_are_no_clusters() {
    assert_eq!(detected((0..200).map(|at| format!("item_{at:04}")), by_fifteen), None);
    let own = |at: usize| -> String {
        let letter = |shift: usize| char::from(b'a' + ((at >> shift) % 16) as u8);
        [letter(4), letter(0), 'z'].iter().collect()
    };
    assert_eq!(detected((0..200).map(own), by_fifteen), None);
}

#[test]
fn declared_clusters_end_the_search_and_tags_are_one_basis() {
    let mut detector = ClusterDetector::default();
    let mut tagged = ClusterDetector::default();
    for at in 0..60 {
        let mut result = bare(&format!("{at:04}"), Outcome::Scored);
        result.item.tags = vec![format!("kind {}", at / 10)];
        tagged.add(&result, Some(by_fifteen(at)));
        result.item.cluster = Some("declared".into());
        detector.add(&result, Some(by_fifteen(at)));
    }
    assert_eq!(detector.finish(), None);
    let found = tagged.finish().unwrap();
    assert_eq!((found.basis, found.clusters), (ClusterBasis::Tags, 6));
}

#[test]
fn items_of_near_equal_code_are_likely_clusters() {
    let mut detector = ClusterDetector::default();
    for at in 0..60_usize {
        let mut result = bare(&format!("{at:04}"), Outcome::Scored);
        // Each item differs from the first of its template in up to three bits.
        let template = u64::from_be_bytes([(at / 15) as u8 * 85; 8]);
        let signature = Some(SimilaritySignature::new(template ^ (at as u64 % 15)));
        let code = InputRecord::unread(InputRecord::CODE, "a.tsx");
        let digest = Some(Digest::from_content(&at.to_be_bytes()));
        result.item.inputs = vec![InputRecord { digest, signature, ..code }];
        detector.add(&result, Some(by_fifteen(at)));
    }
    let found = detector.finish().unwrap();
    assert_eq!((found.basis, found.items, found.clusters), (ClusterBasis::SimilarCode, 60, 4));
    let warning = found.warning().unwrap();
    assert!(warning.contains("look like 4 clusters (near-equal code 0000, 0015"), "{warning}");
}
