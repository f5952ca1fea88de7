//! Key of a group of statements.

use juror_types::finding::{FindingVocabulary, OTHER};

/// Key of a group, the same in every run except for [`IssueKey::Words`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IssueKey {
    /// Findings of one kind on one element.
    Finding {
        /// Key of the kind.
        kind: String,
        /// Key of the element.
        element: String,
    },
    /// Statements with the same topic in the vocabulary of words.
    Topic(String),
    /// Statements that share words.
    Words,
}

impl IssueKey {
    /// Basis of the group: `kind` if the judge named the kind, otherwise `words`.
    pub fn grouped_by(&self) -> &'static str {
        match self {
            Self::Finding { .. } => "kind",
            Self::Topic(_) | Self::Words => "words",
        }
    }

    /// Keys of kind and element, if the judge named them.
    pub fn kind_and_element(&self) -> Option<(&str, &str)> {
        match self {
            Self::Finding { kind, element } => Some((kind, element)),
            Self::Topic(_) | Self::Words => None,
        }
    }

    /// Label and examples, from the most central wording and the others. Groups of findings have
    /// titles; their wordings name single places and are not used as labels.
    pub(super) fn label(
        &self,
        vocabulary: &FindingVocabulary,
        (central, mut others): (String, Vec<String>),
    ) -> (String, Vec<String>) {
        let Self::Finding { kind, element } = self else { return (central, others) };
        let title = vocabulary.kind(kind).map_or(kind.as_str(), |kind| &kind.title);
        let element = vocabulary.element(element).filter(|element| element.key != OTHER);
        let label = match element {
            // "missing icon" is about an icon.
            Some(element) if title.ends_with(&element.title.to_lowercase()) => title.to_owned(),
            Some(element) => format!("{title}: {}", element.title.to_lowercase()),
            None => title.to_owned(),
        };
        others.insert(0, central);
        others.truncate(super::wordings::MAX_EXAMPLES);
        (label, others)
    }
}
