//! The rubrics that are compiled in.

use super::{Rubric, RubricError};

/// A rubric that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinRubric {
    /// What `--rubric` calls it.
    pub id: &'static str,
    /// Its file, as it was compiled in.
    pub text: &'static str,
}

impl BuiltinRubric {
    /// Reads it, as a file of the user's would be.
    pub fn parse(self) -> Result<Rubric, RubricError> {
        Rubric::parse(self.text, &format!("builtin rubric {}", self.id))
    }
}

/// Every rubric that comes with the program; the first is the default.
pub fn builtin() -> &'static [BuiltinRubric] {
    &[
        BuiltinRubric {
            id: "semantic",
            text: include_str!("../../../../config/rubrics/semantic.toml"),
        },
        BuiltinRubric { id: "acrue", text: include_str!("../../../../config/rubrics/acrue.toml") },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::{Formula, MetricKind, Need, Success};

    fn builtin_named(id: &str) -> Rubric {
        let found = builtin().iter().find(|rubric| rubric.id == id).unwrap();
        found.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_builtin_rubric_parses_under_its_own_id() {
        for rubric in builtin() {
            assert_eq!(builtin_named(rubric.id).id, rubric.id);
        }
    }

    #[test]
    fn semantic_has_the_five_criteria_of_ten() {
        let rubric = builtin_named("semantic");
        let keys: Vec<_> = rubric.criteria.iter().map(|criterion| criterion.key.as_str()).collect();
        assert_eq!(
            keys,
            [
                "visual_similarity",
                "token_adherence",
                "variant_accuracy",
                "feature_completeness",
                "layout_accuracy"
            ]
        );
        assert_eq!((rubric.scale.min, rubric.scale.max), (0, 10));
        assert_eq!(rubric.formula, Formula::SumOverMax);
        assert_eq!(rubric.success, Success::Above(0.85));
        assert_eq!(rubric.needs, [Need::GeneratedCode, Need::ExpectedTokens]);
        assert_eq!(rubric.max_output_tokens, 1000);
        for criterion in &rubric.criteria {
            let bands: Vec<_> = criterion.anchors.iter().map(|a| (a.from, a.to)).collect();
            match criterion.key.as_str() {
                "variant_accuracy" => assert_eq!(bands, [(10, 10), (5, 5), (0, 0)]),
                _ => assert_eq!(bands, [(10, 10), (7, 9), (4, 6), (1, 3), (0, 0)]),
            }
        }
    }

    #[test]
    fn acrue_has_twenty_criteria_in_five_weighted_groups() {
        let rubric = builtin_named("acrue");
        let groups: Vec<_> = rubric
            .groups
            .iter()
            .map(|group| (group.key.as_str(), group.weight, rubric.criteria_of(&group.key).count()))
            .collect();
        assert_eq!(
            groups,
            [
                ("accuracy", 1.0, 4),
                ("completeness", 1.0, 5),
                ("relevance", 0.5, 2),
                ("usefulness", 0.5, 4),
                ("exceptional_value", 2.0, 5)
            ]
        );
        assert_eq!(rubric.success, Success::AtLeast(0.70));
        assert_eq!(rubric.max_output_tokens, 3000);
        assert_eq!(rubric.images.len(), 2);
        assert_eq!(rubric.metrics.len(), 5);
        assert!(rubric.metrics.iter().all(|metric| metric.kind == MetricKind::GroupMean));
    }
}
