//! Key of a group of statements.

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
}
