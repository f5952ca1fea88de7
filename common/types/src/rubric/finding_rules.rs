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
#[serde(deny_unknown_fields)]
pub struct FindingRules {
    /// Name of a vocabulary of `config/findings.toml`; the rubric's own entries come first.
    #[serde(rename = "vocabulary")]
    pub builtin: Option<String>,
    /// The rubric's own kinds.
    #[serde(default)]
    pub kinds: Vec<FindingKind>,
    /// The rubric's own elements.
    #[serde(default)]
    pub elements: Vec<FindingElement>,
    /// Maximum number of findings of a reply.
    #[serde(default = "default_max")]
    pub max: u32,
    /// True if the judge is called once more where its scores and findings contradict each other.
    #[serde(default)]
    pub ask_again: bool,
}

impl Default for FindingRules {
    fn default() -> Self {
        Self {
            builtin: None,
            kinds: Vec::new(),
            elements: Vec::new(),
            max: default_max(),
            ask_again: false,
        }
    }
}

impl FindingRules {
    /// The rubric's own kinds and elements, then those of the named vocabulary with other keys.
    pub(super) fn vocabulary(&self) -> FindingVocabulary {
        let mut all =
            FindingVocabulary { kinds: self.kinds.clone(), elements: self.elements.clone() };
        let named = self.builtin.as_deref().and_then(FindingVocabulary::builtin);
        if let Some(named) = named {
            let kinds =
                named.kinds.iter().filter(|kind| !self.kinds.iter().any(|own| own.key == kind.key));
            all.kinds.extend(kinds.cloned());
            let elements = named
                .elements
                .iter()
                .filter(|element| !self.elements.iter().any(|own| own.key == element.key));
            all.elements.extend(elements.cloned());
        }
        all
    }
}

fn default_max() -> u32 {
    20
}
