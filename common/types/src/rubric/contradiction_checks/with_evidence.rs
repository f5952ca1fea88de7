//! Contradictions between a verdict and the evidence measured on the rendered code.

use crate::{
    contradiction::Contradiction,
    evidence::{Evidence, SAME_COLOR_DELTA_E, TokenEvidence},
    rubric::Rubric,
    verdict::{Score, Verdict},
};

/// Criterion that compares the images as a whole.
const SIMILARITY: &str = "visual_similarity";
/// The criterion that compares design values.
const TOKENS: &str = "token_adherence";

/// Color difference (CIEDE2000) above which a region's difference is large …
const LARGE_DELTA_E: f64 = 10.0;
/// … if the region is at least this share of the image.
const LARGE_SHARE: f64 = 0.02;
/// Minimum color difference of a color that is absent.
const OTHER_COLOR: f64 = 5.0;

/// The rules by which a verdict contradicts the evidence. Empty for rubrics without the criteria
/// `visual_similarity` and `token_adherence`.
pub fn contradictions_with_evidence(
    rubric: &Rubric,
    verdict: &Verdict,
    evidence: &Evidence,
) -> Vec<Contradiction> {
    let share = |criterion: &str| share_of(rubric, verdict, criterion);
    let (similarity, tokens) = (share(SIMILARITY), share(TOKENS));
    let differs_much = evidence
        .regions
        .iter()
        .any(|region| region.delta_e > LARGE_DELTA_E && region.share > LARGE_SHARE);
    let lacks_token = evidence.tokens.iter().any(is_lacking);
    let rules = [
        (
            Contradiction::SimilarityAgainstEvidence,
            differs_much && similarity.is_some_and(|share| share >= 0.9),
        ),
        (
            Contradiction::DeductionAgainstEvidence,
            evidence.regions.is_empty()
                && evidence.overflow.is_none()
                && similarity.is_some_and(|share| share <= 0.5),
        ),
        (
            Contradiction::TokensAgainstEvidence,
            lacks_token && tokens.is_some_and(|share| share >= 1.0),
        ),
    ];
    rules.into_iter().filter_map(|(rule, is_broken)| is_broken.then_some(rule)).collect()
}

/// A score as a share of the best one.
fn share_of(rubric: &Rubric, verdict: &Verdict, criterion: &str) -> Option<f64> {
    let Score::Sum { scores, .. } = &verdict.score else { return None };
    Some(f64::from(*scores.get(criterion)?) / f64::from(rubric.scale.max))
}

/// True if the screenshot has the token's color and the render does not.
fn is_lacking(token: &TokenEvidence) -> bool {
    let found = token.screenshot_delta_e.zip(token.render_delta_e);
    found.is_some_and(|(screenshot, render)| {
        screenshot <= SAME_COLOR_DELTA_E && render > OTHER_COLOR
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        evidence::{EvidenceRegion, EvidenceSource, RegionKind},
        rubric::builtin_named,
    };
    use indexmap::indexmap;

    fn broken(similarity: u32, tokens: u32, evidence: &Evidence) -> Vec<Contradiction> {
        let rubric = builtin_named("semantic-evidence").unwrap().parse().unwrap();
        let score = Score::Sum {
            semantic_correctness: 0.5,
            scores: indexmap! { SIMILARITY.into() => similarity, TOKENS.into() => tokens },
            total_score: 10.0,
            max_score: 20.0,
        };
        contradictions_with_evidence(&rubric, &Verdict::new("semantic-evidence@1", score), evidence)
    }

    fn differing(delta_e: f64, share: f64) -> Evidence {
        let region = EvidenceRegion {
            place: [0, 0, 10, 10],
            render_box: [0, 0, 10, 10],
            share,
            delta_e,
            kind: RegionKind::Shape,
            moved_by: None,
            element: None,
            property: None,
            is: None,
            should_be: None,
            explains: None,
            alternatives: Vec::new(),
        };
        Evidence { regions: vec![region], ..Evidence::for_equal_pictures(EvidenceSource::Rendered) }
    }

    #[test]
    fn high_similarity_is_a_score_of_nine_on_any_scale() {
        let mut rubric: Rubric = builtin_named("semantic-evidence").unwrap().parse().unwrap();
        rubric.scale.min = 1;
        let scores = indexmap! { SIMILARITY.into() => 9 };
        let score =
            Score::Sum { semantic_correctness: 0.9, scores, total_score: 9.0, max_score: 10.0 };
        let verdict = Verdict::new("semantic-evidence@1", score);
        let found = contradictions_with_evidence(&rubric, &verdict, &differing(11.0, 0.03));
        assert_eq!(found, [Contradiction::SimilarityAgainstEvidence]);
    }

    #[test]
    fn similarity_contradicts_only_large_regions() {
        let expected = [Contradiction::SimilarityAgainstEvidence];
        assert_eq!(broken(9, 5, &differing(10.1, 0.021)), expected);
        for (score, evidence) in
            [(8, differing(30.0, 0.5)), (10, differing(9.9, 0.5)), (10, differing(30.0, 0.02))]
        {
            assert_eq!(broken(score, 5, &evidence), []);
        }
    }

    #[test]
    fn low_score_without_a_difference_contradicts() {
        let equal = Evidence::for_equal_pictures(EvidenceSource::Rendered);
        assert_eq!(broken(5, 5, &equal), [Contradiction::DeductionAgainstEvidence]);
        assert_eq!(broken(6, 5, &equal), []);
        assert_eq!(broken(5, 5, &differing(1.0, 0.001)), []);
    }

    #[test]
    fn the_top_score_for_tokens_needs_their_colors() {
        let token = |screenshot, render| TokenEvidence {
            key: "color.primary".into(),
            expected: "#1D4ED8".into(),
            screenshot_delta_e: Some(screenshot),
            render_delta_e: Some(render),
            screenshot_color: None,
            render_color: None,
            used_by: None,
            other_values: Vec::new(),
        };
        let evidence = |screenshot, render| Evidence {
            tokens: vec![token(screenshot, render)],
            ..Evidence::for_equal_pictures(EvidenceSource::Rendered)
        };
        let expected = [Contradiction::TokensAgainstEvidence];
        assert_eq!(broken(10, 10, &evidence(0.2, 6.1)), expected);
        assert_eq!(broken(10, 9, &evidence(0.2, 6.1)), []);
        assert_eq!(broken(10, 10, &evidence(6.0, 6.1)), [], "the screenshot lacks it too");
    }
}
