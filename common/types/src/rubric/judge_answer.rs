//! A judge's reply, parsed and before any arithmetic.

use crate::finding::Finding;
use indexmap::IndexMap;

/// A parsed reply of the judge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgeAnswer {
    /// Score and, where the form has one, rationale by criterion.
    pub scores: IndexMap<String, (u32, Option<String>)>,
    /// Defects; version 2 only.
    pub findings: Vec<Finding>,
    /// Texts of the item that try to instruct the judge; version 2 only.
    pub suspected_instructions: Vec<String>,
    /// Defects as texts; `sum_over_max` of version 1 only.
    pub issues: Vec<String>,
    /// Strengths; not read for `weighted_groups` of version 1.
    pub strengths: Vec<String>,
    /// The summary; not read for `sum_over_max`.
    pub overall_assessment: String,
}
