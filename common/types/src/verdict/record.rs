//! A verdict as it is read: the fields of both formulas side by side. A derived reader would build
//! every verdict twice to find out which formula it has, and verdicts are most of a journal.

use super::{Dimension, Score, Verdict};
use crate::{contradiction::Contradiction, finding::Finding};
use indexmap::IndexMap;
use serde::Deserialize;

/// The fields of a verdict of either formula.
#[derive(Deserialize)]
pub(super) struct VerdictRecord {
    rubric: String,
    semantic_correctness: Option<f64>,
    scores: Option<IndexMap<String, u32>>,
    total_score: Option<f64>,
    max_score: Option<f64>,
    dimensions: Option<IndexMap<String, Dimension>>,
    weighted_total: Option<f64>,
    percentage: Option<f64>,
    grade: Option<String>,
    overall_assessment: Option<String>,
    issues: Vec<String>,
    strengths: Vec<String>,
    #[serde(default)]
    findings: Vec<Finding>,
    #[serde(default)]
    suspected_instructions: Vec<String>,
    #[serde(default)]
    contradictions: Vec<Contradiction>,
    #[serde(default)]
    rationales: IndexMap<String, String>,
}

/// The record has the scores of neither formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "this verdict lacks the scores of either formula: it needs (semantic_correctness, scores, \
     total_score and max_score) or (dimensions, weighted_total, percentage, grade and \
     overall_assessment)"
)]
pub(super) struct NoScore;

impl TryFrom<VerdictRecord> for Verdict {
    type Error = NoScore;

    fn try_from(mut record: VerdictRecord) -> Result<Self, NoScore> {
        let score = record.take_sum().or_else(|| record.take_groups()).ok_or(NoScore)?;
        Ok(Self {
            rubric: record.rubric,
            score,
            issues: record.issues,
            strengths: record.strengths,
            findings: record.findings,
            suspected_instructions: record.suspected_instructions,
            contradictions: record.contradictions,
            rationales: record.rationales,
        })
    }
}

impl VerdictRecord {
    fn take_sum(&mut self) -> Option<Score> {
        Some(Score::Sum {
            semantic_correctness: self.semantic_correctness?,
            total_score: self.total_score?,
            max_score: self.max_score?,
            scores: self.scores.take()?,
        })
    }

    fn take_groups(&mut self) -> Option<Score> {
        Some(Score::Groups {
            weighted_total: self.weighted_total?,
            percentage: self.percentage?,
            dimensions: self.dimensions.take()?,
            grade: self.grade.take()?,
            overall_assessment: self.overall_assessment.take()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(scores: Value) -> Result<Verdict, serde_json::Error> {
        let mut record = json!({"rubric": "semantic@2", "issues": ["a"], "strengths": []});
        record.as_object_mut().unwrap().extend(scores.as_object().unwrap().clone());
        serde_json::from_value(record)
    }

    #[test]
    fn verdicts_of_both_formulas_round_trip() {
        let sum = json!({
            "semantic_correctness": 0.9, "scores": {"layout": 9}, "total_score": 9, "max_score": 10
        });
        let groups = json!({
            "dimensions": {"visual": {"score": 4.0, "sub_scores": {}}},
            "weighted_total": 4.0, "percentage": 80.0, "grade": "B", "overall_assessment": "Good."
        });
        for scores in [sum, groups] {
            let verdict = read(scores.clone()).unwrap();
            let written = serde_json::to_value(&verdict).unwrap();
            for (field, value) in scores.as_object().unwrap() {
                assert_eq!(&written[field], value, "{field}");
            }
            assert_eq!(serde_json::from_value::<Verdict>(written).unwrap(), verdict);
        }
    }

    #[test]
    fn verdict_without_all_scores_of_a_formula_is_refused() {
        for scores in [json!({}), json!({"semantic_correctness": 0.9, "total_score": 9.0})] {
            let error = read(scores).unwrap_err().to_string();
            assert!(
                error.starts_with("this verdict lacks the scores of either formula"),
                "{error}"
            );
        }
    }
}
