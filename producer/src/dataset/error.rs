//! Errors of a dataset, with their places.

use juror_types::reference::InvalidReference;
use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The error of opening or reading a dataset.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum DatasetError {
    /// The file or folder does not exist.
    #[error("{0} does not exist; check the path")]
    NotFound(PathBuf),
    /// The file or folder cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A file that is not a manifest.
    #[error(
        "{0} is not a dataset: use a JSONL manifest (.jsonl), a CSV file (.csv), a folder \
         with manifest.jsonl, dataset.jsonl or metadata.jsonl, or a folder of screenshots"
    )]
    UnknownFormat(PathBuf),
    /// A folder without a manifest and images.
    #[error(
        "folder {0} has no manifest.jsonl, dataset.jsonl or metadata.jsonl and no .png, .jpg, \
         .jpeg, .webp, .gif or .bmp file; use the path of the manifest or of the folder with the screenshots"
    )]
    EmptyFolder(PathBuf),
    /// A folder of pairs cannot provide the inputs of the rubric.
    #[error(
        "folder {path} has no manifest, so each of its items is one image, but the rubric needs \
         {needed}; describe the items in a manifest.jsonl"
    )]
    TooLittleInFolder {
        path: PathBuf,
        /// The rubric's requirements, as text.
        needed: String,
    },
    /// A file of a folder of pairs whose name is not UTF-8.
    #[error("the name of {0} is not valid UTF-8; rename the file")]
    FileName(PathBuf),
}

/// Error of one line of a dataset (one file, in a folder of pairs).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub struct LineError {
    /// Place of the problem.
    pub place: DatasetPlace,
    /// The invalid field, if it is one field.
    pub field: Option<String>,
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
    /// The line, from 1; `None` in a folder of pairs.
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

/// An invalid field, before its place is known.
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

impl From<DatasetProblem> for FieldError {
    /// An error of the whole line.
    fn from(problem: DatasetProblem) -> Self {
        Self { field: None, problem }
    }
}

/// Problem of a line, with its remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum DatasetProblem {
    /// Reading failed.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// A line above the limit.
    #[error("longer than 8 MB; put long texts into separate files and reference them")]
    TooLong,
    /// Invalid UTF-8.
    #[error("not valid UTF-8; save the file as UTF-8")]
    NotUtf8,
    /// Not JSON.
    #[error("not valid JSON at column {column}: {message}; write one JSON object per line")]
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
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// The expected value.
        expected: &'static str,
        /// The value found.
        found: &'static str,
    },
    /// A missing required field.
    #[error("missing; {}", match .like {
        Some(like) => format!("rename {like:?} if that is what it should be"),
        None => "every item needs it".to_owned(),
    })]
    Missing {
        /// A field of the line with a similar name.
        like: Option<String>,
    },
    /// An empty required text.
    #[error("empty; every item needs it")]
    Empty,
    /// An id that would garble output.
    #[error("{0:?} has control characters; remove them")]
    ControlCharacters(String),
    /// An id that cannot be part of a URL: `.` or `..`.
    #[error("{0:?} is not a valid id, since it cannot be part of a URL; use another id")]
    DotsAlone(String),
    /// Another version of the format.
    #[error("schema {found} is not supported: this version reads schema {}", juror_types::SCHEMA)]
    Schema {
        /// The version that the line names.
        found: String,
    },
    /// An unsupported language.
    #[error("{0:?} is not a supported language; use tsx, jsx, ts, js or html")]
    Language(String),
    /// A path of code whose extension names no supported language.
    #[error(
        "{0:?} looks like a path, but has no supported extension; use a file that ends in \
         .tsx, .jsx, .ts, .js, .mjs, .html or .htm, or, if this is code, end it with a line break"
    )]
    CodePath(String),
    /// A score outside its range.
    #[error("{0} is outside 0 to 1; scale it")]
    QualityScore(f64),
    /// Not a digest.
    #[error("{0}")]
    Digest(String),
    /// A digest of an image that the rubric does not name.
    #[error("{name:?} is not an image of the rubric; use {known}")]
    UnknownImage {
        name: String,
        /// The rubric's images.
        known: String,
    },
    /// Tokens as a quoted text.
    #[error("a text that contains JSON; write the object itself, or the path of a file with it")]
    QuotedTokens,
    /// An invalid reference.
    #[error(transparent)]
    Reference(#[from] InvalidReference),
    /// A path with `..` in it.
    #[error(
        "{0:?} has '..', which is not allowed; use a path below the manifest's folder or a \
         --data-root"
    )]
    ParentFolder(String),
    /// A path out of the manifest's folder and of the data roots.
    #[error(
        "{0:?} is outside the manifest's folder; use a file inside it, or allow the folder of \
         the file with --data-root"
    )]
    Outside(String),
    /// An output file of the command.
    #[error(
        "{0:?} is also an output of this command, which would replace it; choose another output"
    )]
    IsOutput(String),
    /// A file that the system does not let this process inspect.
    #[error("file {0:?} cannot be inspected: {1}; check its folder's permissions")]
    UnreadableFile(String, String),
    /// A missing file.
    #[error("file {0:?} does not exist; paths are relative to the manifest's folder{1}")]
    NoFile(String, &'static str),
    /// A folder or device at a path.
    #[error("{0:?} is not a file")]
    NotAFile(String),
    /// A duplicate id.
    #[error("duplicate id {id:?}{}; ids must be unique", match .first {
        Some(line) => format!(", first in line {line}"),
        None => String::new(),
    })]
    Duplicate {
        id: String,
        /// The line of the first one.
        first: Option<u64>,
    },
    /// Two files of a folder of pairs where one is expected.
    #[error("both {0:?} and {1:?} belong to it; keep one")]
    Ambiguous(String, String),
}
