//! The two rubrics that come with the program, for prompts that show no form of the reply.

use super::shape::{SAFE_SCALE, Shape};
use serde_json::json;

/// The shapes of the two rubrics that come with the program, by the keys that a prompt names.
pub(super) fn named_in(texts: &[&str]) -> Shape {
    let names = |key: &&str| texts.iter().any(|text| text.contains(*key));
    if ACRUE.iter().flat_map(|(_, keys)| *keys).all(names) {
        let criterion = |key: &&str| {
            let parts = [("score".to_owned(), SAFE_SCALE), ("rationale".to_owned(), Shape::Text)];
            ((*key).to_owned(), Shape::Object(parts.into()))
        };
        let group = |(name, keys): &(&str, &[&str])| {
            let sub_scores = Shape::Object(keys.iter().map(criterion).collect());
            ((*name).to_owned(), Shape::Object(vec![("sub_scores".to_owned(), sub_scores)]))
        };
        return Shape::Object(vec![
            ("scores".to_owned(), Shape::Object(ACRUE.iter().map(group).collect())),
            ("overall_assessment".to_owned(), Shape::Text),
        ]);
    }
    let known: Vec<_> = SEMANTIC.iter().filter(|key| names(key)).collect();
    if known.is_empty() {
        return Shape::Fixed(json!({"answer": "the simulator knows no rubric in this question"}));
    }
    let score = |key: &&str| ((*key).to_owned(), Shape::Score { least: 0, most: 10 });
    Shape::Object(vec![
        ("scores".to_owned(), Shape::Object(known.into_iter().map(score).collect())),
        ("issues".to_owned(), Shape::Statements),
        ("strengths".to_owned(), Shape::Statements),
    ])
}

const SEMANTIC: [&str; 5] = [
    "visual_similarity",
    "token_adherence",
    "variant_accuracy",
    "feature_completeness",
    "layout_accuracy",
];

const ACRUE: [(&str, &[&str]); 5] = [
    ("accuracy", &["faithfulness", "technical_alignment", "subject_identity", "no_hallucinations"]),
    (
        "completeness",
        &[
            "subject_retention",
            "context_retention",
            "prompt_coverage",
            "global_consistency",
            "structural_coherence",
        ],
    ),
    ("relevance", &["intent_alignment", "theme_mood_match"]),
    ("usefulness", &["share_ready", "clarity", "no_artifacts", "practical_usability"]),
    (
        "exceptional_value",
        &[
            "tasteful_novelty",
            "compositional_lift",
            "stylistic_distinction",
            "narrative_coherence",
            "signature_details",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_rubrics_are_recognized_by_their_keys() {
        let keys: Vec<&str> = ACRUE.iter().flat_map(|(_, keys)| *keys).copied().collect();
        let Shape::Object(parts) = named_in(&[&keys.join(", ")]) else {
            panic!("no object");
        };
        assert_eq!(parts[1].0, "overall_assessment");
        let Shape::Object(groups) = &parts[0].1 else { panic!("no groups") };
        assert_eq!(groups.len(), 5);
        let Shape::Object(parts) = named_in(&["visual_similarity"]) else {
            panic!("no object");
        };
        let score = Shape::Score { least: 0, most: 10 };
        assert_eq!(parts[0].1, Shape::Object(vec![("visual_similarity".to_owned(), score)]));
        assert!(!named_in(&["hello"]).scores());
    }
}
