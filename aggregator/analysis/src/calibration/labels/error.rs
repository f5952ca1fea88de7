//! Errors of labels, by what their author can mend.

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
    /// In a file, in a line of it if any.
    File { name: String, line: Option<u64> },
    /// With an item.
    Item { id: String },
}

/// Problem of a label.
#[derive(Debug, thiserror::Error)]
pub enum LabelProblem {
    /// No format has this ending.
    #[error("the ending tells the format; take .jsonl or .csv")]
    UnknownEnding,
    /// The bytes are no text.
    #[error("not UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// There is no rating.
    #[error("no line; write one for each item and rater")]
    Empty,
    /// A line that cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// A line without the item that it is of.
    #[error("give the item's id, as text")]
    NoId,
    /// Something else stands where a name belongs.
    #[error("a name is expected, as text")]
    NotAName,
    /// A field that cannot be rated.
    #[error("nothing of this name is rated; there are id, rater, comment, {known}")]
    Unknown {
        /// Names that there are.
        known: String,
    },
    /// A column that is there twice.
    #[error("there are two columns of this name")]
    ColumnTwice,
    /// Something else stands where a rating belongs.
    #[error("a number is expected, and it is {found}")]
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
            format!("{rater:?} rated item {id:?} in line {first} already; leave one of the two")
        }
        None => format!(
            "item {id:?} was rated in line {first} already; name the rater of each, or leave one"
        ),
    }
}
