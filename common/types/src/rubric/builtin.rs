//! The compiled-in rubrics.

use super::{Rubric, RubricError};

/// A compiled-in rubric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltinRubric {
    /// Value of `--rubric`: the id of the newest version, `id@version` of earlier ones.
    pub id: &'static str,
    /// Text of its file.
    pub text: &'static str,
}

impl BuiltinRubric {
    /// Parses it like a file of the user.
    pub fn parse(self) -> Result<Rubric, RubricError> {
        Rubric::parse(self.text, &format!("builtin rubric {}", self.id))
    }
}

/// All compiled-in rubrics, newest versions first; the first one is the default.
pub fn builtin() -> &'static [BuiltinRubric] {
    &[
        BuiltinRubric {
            id: "semantic",
            text: include_str!("../../../../config/rubrics/semantic.toml"),
        },
        BuiltinRubric { id: "acrue", text: include_str!("../../../../config/rubrics/acrue.toml") },
        BuiltinRubric {
            id: "semantic-evidence",
            text: include_str!("../../../../config/rubrics/semantic-evidence.toml"),
        },
        BuiltinRubric {
            id: "semantic@1",
            text: include_str!("../../../../config/rubrics/semantic@1.toml"),
        },
        BuiltinRubric {
            id: "acrue@1",
            text: include_str!("../../../../config/rubrics/acrue@1.toml"),
        },
    ]
}

/// The compiled-in rubric of this name: `semantic`, or with its version, as in `semantic@2`.
pub fn builtin_named(name: &str) -> Option<BuiltinRubric> {
    let current = |rubric: &BuiltinRubric| rubric.parse().is_ok_and(|parsed| parsed.name() == name);
    let exact = builtin().iter().find(|rubric| rubric.id == name);
    exact.or_else(|| builtin().iter().find(|rubric| current(rubric))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::{Formula, MetricKind, PromptField, ReplyVersion, Success};

    fn rubric(name: &str) -> Rubric {
        builtin_named(name).unwrap().parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_builtin_rubric_parses_under_its_own_name() {
        for builtin in builtin() {
            let found = rubric(builtin.id);
            assert!(builtin.id == found.id || builtin.id == found.name());
        }
        assert_eq!(builtin_named("semantic@2"), builtin_named("semantic"));
        assert_eq!(builtin_named("semantic@3"), None);
    }

    /// Old runs are compared with new ones by version 1, which another byte would forbid.
    #[test]
    fn version_one_file_is_unchanged() {
        let digests = [
            ("semantic@1", "871ef44830ec53eee5106a43be4171b1b425c78b9b752721ef9b1f46e04a297a"),
            ("acrue@1", "a8df0493f28f720da17c4174c1b4b5171acefe4d29807aa28d732b6cf288bdbb"),
        ];
        for (name, digest) in digests {
            assert_eq!(rubric(name).digest.to_string(), digest);
            assert_eq!(rubric(name).reply, ReplyVersion::One);
        }
    }

    #[test]
    fn semantic_has_five_criteria_of_ten_points() {
        let rubric = rubric("semantic");
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
        assert_eq!(rubric.needs, [PromptField::GeneratedCode, PromptField::ExpectedTokens]);
        assert_eq!((rubric.reply, rubric.max_output_tokens), (ReplyVersion::Two, 2500));
        for criterion in &rubric.criteria {
            let bands: Vec<_> = criterion.anchors.iter().map(|a| (a.from, a.to)).collect();
            match criterion.key.as_str() {
                "variant_accuracy" => assert_eq!(bands, [(10, 10), (5, 5), (0, 0)]),
                _ => assert_eq!(bands, [(10, 10), (7, 9), (4, 6), (1, 3), (0, 0)]),
            }
        }
    }

    #[test]
    fn semantic_with_evidence_scores_like_semantic() {
        let (plain, evidence) = (rubric("semantic"), rubric("semantic-evidence"));
        assert_eq!(plain.criteria, evidence.criteria);
        assert_eq!((plain.formula, plain.scale), (evidence.formula, evidence.scale));
        assert_eq!((plain.metrics, plain.success), (evidence.metrics.clone(), evidence.success));
        assert!(evidence.needs(PromptField::Evidence));
        let required: Vec<_> = evidence.images_of_items().map(|image| &image.name).collect();
        assert_eq!(required, ["screenshot"]);
    }

    #[test]
    fn acrue_has_twenty_criteria_in_five_weighted_groups() {
        let rubric = rubric("acrue");
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
        assert_eq!((rubric.reply, rubric.max_output_tokens), (ReplyVersion::Two, 3500));
        assert_eq!(rubric.images.len(), 2);
        assert_eq!(rubric.metrics.len(), 5);
        assert!(rubric.metrics.iter().all(|metric| metric.kind == MetricKind::GroupMean));
    }
}
