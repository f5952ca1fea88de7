//! Reply version of a rubric, and rules for findings.

use crate::finding::{FindingElement, FindingKind, FindingVocabulary};
use serde::Deserialize;

/// Version of the reply's form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u32")]
pub enum ReplyVersion {
    /// Scores first, then issues and strengths as texts.
    #[default]
    One,
    /// Findings first, then a reason and a score for each criterion.
    Two,
}

impl TryFrom<u32> for ReplyVersion {
    type Error = String;

    fn try_from(version: u32) -> Result<Self, String> {
        match version {
            1 => Ok(Self::One),
            2 => Ok(Self::Two),
            other => Err(format!("{other} is not a reply version; use 1 or 2")),
        }
    }
}

/// Rules for the findings of a reply.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FindingRules {
    /// Name of a vocabulary of `config/findings.toml`; the rubric's own entries come first.
    #[serde(rename = "vocabulary")]
    pub builtin: Option<String>,
    /// The rubric's own kinds.
    pub kinds: Vec<FindingKind>,
    /// The rubric's own elements.
    pub elements: Vec<FindingElement>,
    /// Maximum number of findings of a reply.
    pub max: u32,
    /// True if the judge is called once more where its scores and findings contradict each other.
    pub ask_again: bool,
}

impl Default for FindingRules {
    fn default() -> Self {
        let (kinds, elements) = (Vec::new(), Vec::new());
        Self { builtin: None, kinds, elements, max: 20, ask_again: false }
    }
}

impl FindingRules {
    /// The rubric's own kinds and elements, then those of the named vocabulary with other keys.
    pub(super) fn vocabulary(&self) -> FindingVocabulary {
        let mut all =
            FindingVocabulary { kinds: self.kinds.clone(), elements: self.elements.clone() };
        if let Some(named) = self.builtin.as_deref().and_then(FindingVocabulary::builtin) {
            let own = all.clone();
            let kinds = named.kinds.iter().filter(|kind| own.kind(&kind.key).is_none());
            all.kinds.extend(kinds.cloned());
            let elements = named.elements.iter();
            let elements = elements.filter(|element| own.element(&element.key).is_none());
            all.elements.extend(elements.cloned());
        }
        all
    }
}
