//! Errors of a dataset, with their places.

use juror_types::{id::InvalidDigest, reference::InvalidReference};
use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Reason why a dataset cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// No file or folder is there.
    #[error("{0} does not exist; check the path")]
    NotFound(PathBuf),
    /// It is there and cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A file that is no manifest.
    #[error(
        "{0} is not a dataset: it takes a JSONL manifest (.jsonl), a CSV file (.csv), a folder \
         with manifest.jsonl, dataset.jsonl or metadata.jsonl, or a folder of screenshots"
    )]
    UnknownFormat(PathBuf),
    /// A folder without manifest that holds no image.
    #[error(
        "folder {0} holds no manifest.jsonl, dataset.jsonl or metadata.jsonl and no .png, .jpg, \
         .jpeg or .webp file; name the manifest or the folder with the screenshots"
    )]
    EmptyFolder(PathBuf),
    /// A folder of pairs cannot say what the rubric needs.
    #[error(
        "folder {path} has no manifest, so each of its items is one image, and the rubric needs \
         {needed}; describe the items in a manifest.jsonl"
    )]
    TooLittleInFolder {
        /// The folder.
        path: PathBuf,
        /// The rubric's needs, in words.
        needed: String,
    },
    /// A file of a folder of pairs whose name is not UTF-8.
    #[error("the name of {0} is not valid UTF-8; rename the file")]
    FileName(PathBuf),
}

/// Error of one line of a dataset (one file, in a folder of pairs).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct LineError {
    /// Place of the problem.
    pub place: DatasetPlace,
    /// The field at fault, if it is one field.
    pub field: Option<String>,
    /// The problem.
    pub problem: DatasetProblem,
}

impl fmt::Display for LineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.place)?;
        if let Some(field) = &self.field {
            write!(formatter, "field {field:?}: ")?;
        }
        self.problem.fmt(formatter)
    }
}

/// A place in a dataset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetPlace {
    /// The manifest, or the image of a folder of pairs.
    pub file: Arc<Path>,
    /// The line, from 1; none in a folder of pairs.
    pub line: Option<u64>,
}

impl fmt::Display for DatasetPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.file.display())?;
        match self.line {
            Some(line) => write!(formatter, ", line {line}"),
            None => Ok(()),
        }
    }
}

/// A field at fault, before anyone knows its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FieldError {
    pub(crate) field: Option<String>,
    pub(crate) problem: DatasetProblem,
}

impl FieldError {
    pub(crate) fn new(field: &str, problem: DatasetProblem) -> Self {
        Self { field: Some(field.to_owned()), problem }
    }

    pub(crate) fn at(self, place: DatasetPlace) -> LineError {
        LineError { place, field: self.field, problem: self.problem }
    }
}

/// Problem of a line, with the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DatasetProblem {
    /// Reading stopped here.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A line beyond the limit.
    #[error("longer than 8 MB; keep long texts in files of their own and name those")]
    TooLong,
    /// Bytes that are no text.
    #[error("not valid UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// Not JSON.
    #[error("not valid JSON at column {column}: {message}; write one JSON object a line")]
    NotJson {
        /// From 1.
        column: usize,
        /// Message of the parser.
        message: String,
    },
    /// Not CSV.
    #[error("not valid CSV: {0}")]
    NotCsv(String),
    /// A value of another type.
    #[error("{expected} is expected, and it is {found}")]
    WrongType {
        /// The expected value.
        expected: &'static str,
        /// The value found.
        found: &'static str,
    },
    /// A required field is not there.
    #[error("missing; {}", match .like {
        Some(like) => format!("rename {like:?} if that is what it should be"),
        None => "every item needs it".to_owned(),
    })]
    Missing {
        /// A field of the line with a similar name.
        like: Option<String>,
    },
    /// A text that must not be empty is.
    #[error("empty; every item needs it")]
    Empty,
    /// An id that would garble whatever shows it.
    #[error("{0:?} has control characters; leave them out")]
    ControlCharacters(String),
    /// An id that no address can name: `.` and `..` are ways in it.
    #[error(
        "an item cannot be called {0:?}, which no address of a page can name; give it another id"
    )]
    DotsAlone(String),
    /// Another version of the format.
    #[error("schema {found} is not known: this version reads schema {}", juror_types::SCHEMA)]
    Schema {
        /// The version that the line names.
        found: String,
    },
    /// A language that nobody can check.
    #[error("{0:?} is not a known language; it takes tsx, jsx, ts, js or html")]
    Language(String),
    /// A score outside its range.
    #[error("{0} lies outside 0 to 1; scale it")]
    QualityScore(f64),
    /// Not a digest.
    #[error("{0}")]
    Digest(String),
    /// A digest of an image that the rubric does not name.
    #[error("{name:?} is no image of the rubric; it takes {known}")]
    UnknownImage {
        /// The name.
        name: String,
        /// The rubric's images.
        known: String,
    },
    /// Tokens in quotes.
    #[error("a text that holds JSON; write the object itself, or the path of a file with it")]
    QuotedTokens,
    /// A reference that leads nowhere.
    #[error(transparent)]
    Reference(#[from] InvalidReference),
    /// A path with `..` in it.
    #[error(
        "{0:?} has '..', which is not followed; name the file from the manifest's folder or from a \
         --data-root down"
    )]
    ParentFolder(String),
    /// A path that leads out of the manifest's folder and of the data roots.
    #[error(
        "{0:?} leads out of the manifest's folder; name a file inside it, or allow the folder of \
         the file with --data-root"
    )]
    Outside(String),
    /// A file that the command is asked to write.
    #[error("{0:?} is also an output of this command, which would replace it; name another output")]
    IsOutput(String),
    /// A file that the system does not let this process look at.
    #[error("file {0:?} cannot be looked at: {1}; check its folder's permissions")]
    UnreadableFile(String, String),
    /// No file is at a path.
    #[error("file {0:?} does not exist; paths are relative to the manifest's folder{1}")]
    NoFile(String, &'static str),
    /// A folder or device at a path.
    #[error("{0:?} is not a file")]
    NotAFile(String),
    /// An id that stood before.
    #[error("id {id:?} stands twice{}; ids must be unique", match .first {
        Some(line) => format!(", first in line {line}"),
        None => String::new(),
    })]
    Duplicate {
        /// The id.
        id: String,
        /// The line that had it first.
        first: Option<u64>,
    },
    /// Two files of a folder of pairs where one is meant.
    #[error("both {0:?} and {1:?} stand beside it; keep one")]
    Ambiguous(String, String),
}

impl From<InvalidDigest> for DatasetProblem {
    fn from(error: InvalidDigest) -> Self {
        Self::Digest(error.to_string())
    }
}
