//! Clusters of items, whose changes are not independent.

use super::*;
use crate::test_fixtures::comparisons::twenty;

#[test]
fn falls_of_one_cluster_count_once() {
    let found = six_fallen(Some("cards"));
    assert_eq!((found.fallen.fell, found.fallen.groups_fell), (6, 1));
    assert_eq!(found.decision, Decision::Inconclusive, "{}", found.reason);
}

#[test]
fn pairs_of_one_cluster_have_no_interval_and_a_reason() {
    let in_clusters = |mut results: Vec<JobResult>, clusters: usize| {
        for (id, result) in results.iter_mut().enumerate() {
            result.item.cluster = Some(format!("cluster {}", id % clusters));
        }
        results
    };
    let compared = |clusters| {
        let (base, head) = (in_clusters(twenty(0), clusters), in_clusters(twenty(4), clusters));
        compared(base, head, RULES)
    };
    let one = compared(1);
    assert_eq!(one.decision, Decision::Inconclusive);
    let reason = "20 paired items are all in one cluster and count as one observation";
    assert!(one.reason.contains(reason), "{}", one.reason);
    let warned = one.warnings.iter().any(|warning| warning.contains("name at least two clusters"));
    assert!(warned, "{:?}", one.warnings);
    let two = compared(2);
    assert!(two.warnings.iter().any(|warning| warning.contains("based on 2 clusters")), "{two:?}");
}

/// Eight components of fifteen items each, each component with its own change.
fn components(
    changes: [i64; 8],
    ids: impl Fn(usize) -> String,
) -> (Vec<JobResult>, Vec<JobResult>) {
    let run = |changes: [i64; 8]| -> Vec<JobResult> {
        let item = |id: usize| {
            let points = 7 + changes[id / 15] + i64::from(id.is_multiple_of(3));
            let points = u32::try_from(points).unwrap();
            let mut result = shown(id, [points, 7, 7, 7, 7], b"one");
            result.pipeline_success = Some(true);
            result.screenshot_id = ids(id);
            result
        };
        (0..120).map(item).collect()
    };
    (run([0; 8]), run(changes))
}

const UNEVEN: [i64; 8] = [-4, -1, -1, -4, -1, 0, -1, 1];

#[test]
fn likely_clusters_are_used_and_reported() {
    let letters = ["alert", "badge", "button", "card", "form", "modal", "nav", "table"];
    let ids = |id: usize| format!("{}_{:02}", letters[id / 15], id % 15);
    let (base, head) = components(UNEVEN, ids);
    let used = compared(base.clone(), head.clone(), RULES);
    assert_eq!(used.decision, Decision::Inconclusive, "{}", used.reason);
    assert_eq!(used.decisive.difference.groups, 8);
    let reading = used.likely_clusters.as_ref().unwrap();
    assert_eq!((reading.used, reading.otherwise), (true, Decision::Worse));
    assert!(used.reason.contains("120 items look like 8 clusters"), "{}", used.reason);
    assert!(used.warnings.iter().any(|warning| warning.contains("declare `cluster`")));

    let warned = compared(base, head, Rules { use_likely_clusters: false, ..RULES });
    assert_eq!(warned.decision, Decision::Worse);
    assert!(warned.reason.contains("the decision would be inconclusive"), "{}", warned.reason);

    let (base, head) = components(UNEVEN, |id| format!("shot_{id:03}"));
    let plain = compared(base, head, RULES);
    assert_eq!((plain.decision, plain.likely_clusters), (Decision::Worse, None));
}

#[test]
fn clusters_without_between_variance_change_nothing() {
    let ids = |id: usize| format!("{}_{:02}", char::from(b'a' + (id / 15) as u8), id % 15);
    let (base, head) = components([-2; 8], ids);
    let found = compared(base, head, RULES);
    assert_eq!(found.decision, Decision::Worse, "{}", found.reason);
    assert_eq!(found.likely_clusters, None);
}
