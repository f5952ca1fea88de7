//! The judge's scores, issues and strengths for one job.

mod record;

use crate::{contradiction::Contradiction, finding::Finding};
use indexmap::IndexMap;
use record::VerdictRecord;
use serde::{Deserialize, Serialize, Serializer};

/// A verdict in a result, under `semantic`. The totals are the program's own arithmetic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "VerdictRecord")]
pub struct Verdict {
    /// The rubric, as in `semantic@1`.
    pub rubric: String,
    /// The scores, in the shape of the rubric's formula.
    #[serde(flatten)]
    pub score: Score,
    /// Defects, as the judge wrote them.
    pub issues: Vec<String>,
    /// Strengths, as the judge wrote them.
    pub strengths: Vec<String>,
    /// Defects by kind and element, in the judge's order; empty by rubrics of reply version 1.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Places in the item's data that the judge reported as attempts to instruct it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suspected_instructions: Vec<String>,
    /// Rules by which its scores, findings and the evidence contradict each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
    /// Reason of each criterion's score, by `sum_over_max` of reply version 2; the other formula
    /// has them in `dimensions`.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub rationales: IndexMap<String, String>,
}

/// Scores and totals, in one of the two shapes that rubrics compute.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Score {
    /// `sum_over_max`: every criterion counts by its weight.
    Sum {
        /// `total_score / max_score`, 0 to 1.
        semantic_correctness: f64,
        /// Criterion to score.
        scores: IndexMap<String, u32>,
        /// Weighted sum of the scores.
        #[serde(serialize_with = "whole_where_possible")]
        total_score: f64,
        /// Maximum of `total_score`.
        #[serde(serialize_with = "whole_where_possible")]
        max_score: f64,
    },
    /// `weighted_groups`: criteria are averaged in groups, and groups are weighted.
    Groups {
        /// Group to its mean and sub-scores.
        dimensions: IndexMap<String, Dimension>,
        /// Weighted sum of the group means.
        weighted_total: f64,
        /// `weighted_total` in percent of its maximum.
        percentage: f64,
        /// The grade of the percentage.
        grade: String,
        /// The judge's summary.
        overall_assessment: String,
    },
}

/// One group of criteria in a verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dimension {
    /// Mean of the sub-scores.
    pub score: f64,
    /// Criterion to sub-score.
    pub sub_scores: IndexMap<String, SubScore>,
}

/// One criterion of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubScore {
    /// The score on the rubric's scale.
    pub score: u32,
    /// Reason of the score, as the judge wrote it.
    pub rationale: String,
}

impl Verdict {
    /// Scores of the rubric of this name, without issues and strengths.
    pub fn new(rubric: impl Into<String>, score: Score) -> Self {
        Self {
            rubric: rubric.into(),
            score,
            issues: Vec::new(),
            strengths: Vec::new(),
            findings: Vec::new(),
            suspected_instructions: Vec::new(),
            contradictions: Vec::new(),
            rationales: IndexMap::new(),
        }
    }

    /// The verdict as one number from 0 to 1: semantic correctness, or the percentage over 100.
    pub fn correctness(&self) -> f64 {
        match &self.score {
            Score::Sum { semantic_correctness, .. } => *semantic_correctness,
            Score::Groups { percentage, .. } => percentage / 100.0,
        }
    }

    /// True if it contradicts the measured evidence.
    pub fn contradicts_evidence(&self) -> bool {
        self.contradictions.iter().any(|rule| rule.is_with_evidence())
    }

    /// True if its scores and findings contradict each other.
    pub fn contradicts_itself(&self) -> bool {
        self.contradictions.iter().any(|rule| !rule.is_with_evidence())
    }
}

/// Serializes a whole total as an integer.
fn whole_where_possible<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() < 1e9 {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}
