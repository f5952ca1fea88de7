//! Writing a comparison into a file whose ending tells the format.

use crate::markdown::render_comparison;
use juror_analysis::comparison::Comparison;
use juror_journal::replace_file::replace_file;
use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// A format of comparison files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonFormat {
    /// All of it.
    Json,
    /// For the comment of a pull request.
    Markdown,
}

/// Reason why a comparison was not written; an earlier file of that name is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonOutputError {
    /// No format has this ending.
    #[error("{}: the ending picks the format; take one of .json, .md", path.display())]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl ComparisonFormat {
    /// The format that a file's ending picks.
    pub fn from_path(path: &Path) -> Result<Self, ComparisonOutputError> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match ending.as_str() {
            "json" => Ok(Self::Json),
            "md" => Ok(Self::Markdown),
            _ => Err(ComparisonOutputError::UnknownEnding { path: path.to_owned() }),
        }
    }
}

/// Writes a comparison into a file, replaced in one step, in the format of its ending.
pub fn write_comparison(path: &Path, comparison: &Comparison) -> Result<(), ComparisonOutputError> {
    let format = ComparisonFormat::from_path(path)?;
    replace_file(path, |out| match format {
        ComparisonFormat::Json => {
            serde_json::to_writer_pretty(&mut *out, comparison)?;
            out.write_all(b"\n")
        }
        ComparisonFormat::Markdown => out.write_all(render_comparison(comparison).as_bytes()),
    })
    .map_err(|source: io::Error| ComparisonOutputError::Write { path: path.to_owned(), source })
}
