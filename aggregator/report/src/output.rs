//! Writing a report into a file whose ending tells the format.

use super::{Attachments, csv, html, json, jsonl, junit, markdown};
use juror_analysis::run_report::Report;
use juror_journal::{
    journal::{JournalError, RunFiles},
    replace_file::replace_file,
};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A format of report files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// The whole report.
    Json,
    /// The results that count, one a line.
    Jsonl,
    /// A table of the results.
    Csv,
    /// A page for people.
    Html,
    /// A comment on a pull request.
    Markdown,
    /// Test cases for a CI system.
    Junit,
}

/// Reason why a report file was not written; an earlier file of that name is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// No format has this ending.
    #[error(
        "{}: the ending picks the format; take one of .json, .jsonl, .csv, .html, .md, .junit.xml",
        path.display()
    )]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// The results cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl OutputFormat {
    /// The format that a file's ending picks; ask before the run, so that a mistyped one costs
    /// nothing.
    pub fn from_path(path: &Path) -> Result<Self, OutputError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let known = [
            (".json", Self::Json),
            (".jsonl", Self::Jsonl),
            (".csv", Self::Csv),
            (".html", Self::Html),
            (".md", Self::Markdown),
            (".junit.xml", Self::Junit),
        ];
        let found = known.into_iter().find(|(ending, _)| name.ends_with(ending));
        found
            .map(|(_, format)| format)
            .ok_or_else(|| OutputError::UnknownEnding { path: path.to_owned() })
    }
}

/// Writes the report into a file, replaced in one step, in the format of its ending. Formats that
/// show pictures and code have them from `exhibits`.
pub fn write_output(
    path: &Path,
    report: &Report,
    files: &RunFiles,
    exhibits: &dyn Attachments,
) -> Result<(), OutputError> {
    let format = OutputFormat::from_path(path)?;
    // What cannot be read is told as such, before a file is begun.
    drop(report.items.read(files)?);
    replace_file(path, |out| write_report(format, report, files, exhibits, out))
        .map_err(|source: io::Error| OutputError::Write { path: path.to_owned(), source })
}

/// Writes the report in a format. Formats that show pictures and code have them from `exhibits`.
pub fn write_report(
    format: OutputFormat,
    report: &Report,
    files: &RunFiles,
    exhibits: &dyn Attachments,
    out: &mut impl Write,
) -> io::Result<()> {
    let results = || report.items.read(files).map_err(io::Error::other);
    match format {
        OutputFormat::Json => json::write(report, results()?, out),
        OutputFormat::Jsonl => jsonl::write(results()?, out),
        OutputFormat::Csv => {
            let metadata = csv::MetadataColumns::from_results(results()?)?;
            csv::write(report, &metadata, results()?, out)
        }
        OutputFormat::Html => html::write(report, files, exhibits, out),
        OutputFormat::Markdown => out.write_all(markdown::render(report).as_bytes()),
        OutputFormat::Junit => junit::write(
            report,
            junit::TestCounts::from_report(report, results()?)?,
            results()?,
            out,
        ),
    }
}
