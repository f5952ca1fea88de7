//! Findings: single defects reported by a judge, each with a kind and an element from closed lists.

mod vocabulary;

pub use vocabulary::{FindingElement, FindingKind, FindingVocabulary, OTHER};

use serde::{Deserialize, Serialize};

/// Defect in a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Key of its kind in the rubric's vocabulary, as in `wrong_color`.
    pub kind: String,
    /// Key of the affected element, as in `button`.
    pub element: String,
    /// The element's label or place, as free text.
    #[serde(rename = "where")]
    pub place: String,
    /// Keys of the criteria that it touches.
    pub criteria: Vec<String>,
    /// Expected state, as in the screenshot or the original.
    pub shown: String,
    /// Actual state.
    pub found: String,
    /// Severity of the defect.
    pub severity: Severity,
    /// The defect in one sentence.
    pub statement: String,
    /// Number of the measured region that shows it, from 1; `None` if the judge cites none that
    /// exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<u32>,
    /// The kind as a lax server wrote it, where the vocabulary lacks it and `kind` is `other`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted_kind: Option<String>,
    /// The element as a lax server wrote it, where the vocabulary lacks it and `element` is
    /// `other`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted_element: Option<String>,
}

crate::serde_enum! {
    /// Weight of a finding, ascending.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Severity {
        /// Visible to a careful viewer.
        Minor = "minor",
        /// Visible at first sight, or relevant to use or meaning.
        Major = "major",
        /// Makes the result fail.
        Critical = "critical",
    }
}
