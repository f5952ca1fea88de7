//! Output of a report or a comparison into a file whose extension determines the format.

use super::{Attachments, csv, html, json, junit, markdown};
use juror_analysis::{comparison::Comparison, run_report::Report};
use juror_journal::{
    journal::{JournalError, RunFiles},
    replace_file::{replace_file, replace_json},
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

/// Extensions of report files.
const OF_REPORTS: [(&str, OutputFormat); 6] = [
    (".json", OutputFormat::Json),
    (".jsonl", OutputFormat::Jsonl),
    (".csv", OutputFormat::Csv),
    (".html", OutputFormat::Html),
    (".md", OutputFormat::Markdown),
    (".junit.xml", OutputFormat::Junit),
];

/// Extensions of comparison files.
const OF_COMPARISONS: [(&str, OutputFormat); 2] =
    [(".json", OutputFormat::Json), (".md", OutputFormat::Markdown)];

/// Reason why a file was not written; an earlier file of that name is unchanged.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum OutputError {
    /// The extension is unknown.
    #[error("{}: unknown format; use one of the extensions {endings}", path.display())]
    UnknownEnding {
        path: PathBuf,
        /// Extensions of the formats.
        endings: String,
    },
    /// The results cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl OutputFormat {
    /// Format of a report file's extension; check before the run, so that a mistyped one costs
    /// nothing.
    pub fn from_path(path: &Path) -> Result<Self, OutputError> {
        Self::among(&OF_REPORTS, path)
    }

    /// The format that a comparison file's extension determines.
    pub fn for_comparison(path: &Path) -> Result<Self, OutputError> {
        Self::among(&OF_COMPARISONS, path)
    }

    fn among(known: &[(&str, Self)], path: &Path) -> Result<Self, OutputError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let found = known.iter().find(|(ending, _)| name.ends_with(ending));
        found.map(|(_, format)| *format).ok_or_else(|| {
            let endings: Vec<&str> = known.iter().map(|(ending, _)| *ending).collect();
            OutputError::UnknownEnding { path: path.to_owned(), endings: endings.join(", ") }
        })
    }
}

/// Writes the report into a file, replaced atomically, in the format of its extension. Formats with
/// images and code take them from `attachments`.
pub fn write_output(
    path: &Path,
    report: &Report,
    files: &RunFiles,
    attachments: &dyn Attachments,
) -> Result<(), OutputError> {
    let format = OutputFormat::from_path(path)?;
    // Reports an unreadable journal before the file is created.
    drop(report.items.read(files)?);
    replace_file(path, |out| write_report(format, report, files, attachments, out))
        .map_err(|source| OutputError::Write { path: path.to_owned(), source })
}

/// Writes the report in a format. Formats with images and code take them from `attachments`.
pub fn write_report(
    format: OutputFormat,
    report: &Report,
    files: &RunFiles,
    attachments: &dyn Attachments,
    out: &mut impl Write,
) -> io::Result<()> {
    match format {
        OutputFormat::Json => json::write(report, files, out),
        OutputFormat::Jsonl => json::write_lines(report, files, out),
        OutputFormat::Csv => csv::write(report, files, out),
        OutputFormat::Html => html::write(report, files, attachments, out),
        OutputFormat::Markdown => out.write_all(markdown::render(report).as_bytes()),
        OutputFormat::Junit => junit::write(report, files, out),
    }
}

/// Writes a comparison into a file, replaced in one step, in the format of its extension.
pub fn write_comparison(path: &Path, comparison: &Comparison) -> Result<(), OutputError> {
    let format = OutputFormat::for_comparison(path)?;
    let written = match format {
        OutputFormat::Json => replace_json(path, comparison),
        _ => replace_file(path, |out| {
            out.write_all(markdown::render_comparison(comparison).as_bytes())
        }),
    };
    written.map_err(|source| OutputError::Write { path: path.to_owned(), source })
}
