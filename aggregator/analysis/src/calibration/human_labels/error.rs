//! Errors of labels.

use std::fmt;

/// Error of a file of labels, with its place.
#[derive(Debug, thiserror::Error)]
#[error("{place}{}: {problem}", named(field.as_deref()))]
pub struct LabelError {
    place: LabelPlace,
    field: Option<String>,
    problem: LabelProblem,
}

/// Place in a file of labels.
#[derive(Clone, Debug)]
pub(super) enum LabelPlace {
    /// Error in a file, with the line if known.
    File { name: String, line: Option<u64> },
    /// Error in the labels of an item.
    Item { id: String },
}

/// Problem of a label.
#[derive(Debug, thiserror::Error)]
pub enum LabelProblem {
    /// An unknown extension.
    #[error("unknown file extension; use .jsonl or .csv")]
    UnknownEnding,
    /// Invalid UTF-8.
    #[error("not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// There are no ratings.
    #[error("no lines; write one for each item and rater")]
    Empty,
    /// An unreadable line.
    #[error("{0}")]
    Unreadable(String),
    /// A line without an item.
    #[error("set the item's id, as text")]
    NoId,
    /// A value that is not a name.
    #[error("a name is expected, as text")]
    NotAName,
    /// A field that cannot be rated.
    #[error("unknown field; use id, rater, comment, {known}")]
    Unknown {
        /// Known names.
        known: String,
    },
    /// A duplicate column.
    #[error("there are two columns of this name")]
    ColumnTwice,
    /// A value that is not a rating.
    #[error("expected a number, found {found}")]
    NotANumber {
        /// The value found.
        found: String,
    },
    /// A rating outside its scale.
    #[error("{found} is not on the scale of {least} to {most}")]
    OffScale {
        /// The rating.
        found: f64,
        /// The worst.
        least: f64,
        /// The best.
        most: f64,
    },
    /// Two lines of one rater on one item.
    #[error("{}", twice(id, rater.as_deref(), *first))]
    RatedTwice {
        /// The item.
        id: String,
        /// The rater, if named.
        rater: Option<String>,
        /// The other line.
        first: u64,
    },
}

impl LabelPlace {
    pub(super) fn line(name: &str, line: u64) -> Self {
        Self::File { name: name.to_owned(), line: Some(line) }
    }

    pub(super) fn file(name: &str) -> Self {
        Self::File { name: name.to_owned(), line: None }
    }

    pub(super) fn item(id: &str) -> Self {
        Self::Item { id: id.to_owned() }
    }

    pub(super) fn error(self, field: Option<&str>, problem: LabelProblem) -> LabelError {
        LabelError { place: self, field: field.map(str::to_owned), problem }
    }
}

impl fmt::Display for LabelPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name, line: Some(line) } => write!(formatter, "{name}, line {line}"),
            Self::File { name, line: None } => formatter.write_str(name),
            Self::Item { id } => write!(formatter, "the labels of item {id:?}"),
        }
    }
}

fn named(field: Option<&str>) -> String {
    field.map(|field| format!(", field {field:?}")).unwrap_or_default()
}

fn twice(id: &str, rater: Option<&str>, first: u64) -> String {
    match rater {
        Some(rater) => {
            format!("{rater:?} rated item {id:?} in line {first} already; remove one of the two")
        }
        None => format!(
            "item {id:?} was rated in line {first} already; name the rater of each, or remove one"
        ),
    }
}
