//! Errors of a run directory, by the user's next step.

use std::{
    io,
    path::{Path, PathBuf},
};

/// The error of reading or writing a run directory.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum JournalError {
    /// Another process writes to it: wait.
    #[error(
        "the run directory {} is in use by another juror process: wait until it ends or stop it, or give this run another --run-id",
        .0.display()
    )]
    InUse(PathBuf),
    /// There is a run of this name: resume it or choose another name.
    #[error(
        "the run directory {} already contains a run: continue it with --resume, or choose another --run-id",
        .0.display()
    )]
    Exists(PathBuf),
    /// The directory of a run's name belongs to something else: choose another name.
    #[error(
        "{} exists and is not a run directory: choose another --run-id, or move it away",
        .0.display()
    )]
    Occupied(PathBuf),
    /// There is no run of this name.
    #[error(
        "{} contains no run (no run.json): check the run id and --runs-dir, or list the runs with `juror runs`",
        .0.display()
    )]
    Missing(PathBuf),
    /// Files of a run were removed while results were committed: restore them.
    #[error(
        "files of the run directory {} were removed: restore them from a backup; of a fleet's run, juror retry publishes the stored results again",
        .0.display()
    )]
    Removed(PathBuf),
    /// The disk is full: free some space and continue.
    #[error(
        "no space left to write {}: free some space, then continue (juror run --resume {}, or juror aggregate for a fleet); earlier results are kept",
        .0.display(),
        run_of(.0)
    )]
    Full(PathBuf),
    /// The operating system reported an error.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The failed action.
        action: &'static str,
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A complete line, or run.json, is damaged: a person must inspect it.
    #[error("{}, line {line}: {reason}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The problem and the remedy.
        reason: String,
    },
    /// The reader was stopped.
    #[error("reading the results was interrupted by shutdown")]
    Stopped,
    /// Written by another version of juror.
    #[error(
        "{}, line {line}: schema {found}, but this program reads schema {known}: use the juror version that wrote it",
        path.display(),
        known = juror_types::SCHEMA
    )]
    Schema {
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The version found.
        found: u64,
    },
}

impl JournalError {
    /// Message for users without access to paths: files are named relative to the run's folder.
    pub fn in_its_run(&self) -> String {
        let place = match self {
            Self::InUse(path)
            | Self::Exists(path)
            | Self::Occupied(path)
            | Self::Missing(path)
            | Self::Removed(path)
            | Self::Full(path)
            | Self::Io { path, .. }
            | Self::Unreadable { path, .. }
            | Self::Schema { path, .. } => path,
            Self::Stopped => return self.to_string(),
        };
        let depth = place.components().count();
        let short: PathBuf = place.components().skip(depth.saturating_sub(2)).collect();
        self.to_string().replace(&place.display().to_string(), &short.display().to_string())
    }

    /// True if the files of this run are damaged and must be inspected by a person; other runs are
    /// unaffected.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Unreadable { .. } | Self::Schema { .. } | Self::Occupied(_) | Self::Removed(_)
        )
    }

    /// The error of an I/O error, by its remedy.
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(path),
            _ => Self::Io { action, path, source },
        }
    }
}

impl From<JournalError> for io::Error {
    fn from(error: JournalError) -> Self {
        Self::other(error)
    }
}

/// Parses one record of a file, and distinguishes another schema version from a damaged record.
/// `remedy` is for files without a backup.
pub(crate) fn parse_record<T: serde::de::DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    line: u64,
    remedy: &str,
) -> Result<T, JournalError> {
    #[derive(serde::Deserialize)]
    struct Version {
        schema: u64,
    }
    let unreadable = |error: serde_json::Error| JournalError::Unreadable {
        path: path.to_owned(),
        line: line.saturating_add(error.line().saturating_sub(1) as u64),
        reason: format!("damaged record ({error}): restore the file from a backup, or {remedy}"),
    };
    // A record of another version may lack fields of this one, so its version is parsed separately,
    // and only where the first attempt fails.
    let version = || match serde_json::from_slice::<Version>(bytes) {
        Ok(Version { schema }) if schema != u64::from(juror_types::SCHEMA) => {
            Some(JournalError::Schema { path: path.to_owned(), line, found: schema })
        }
        _ => None,
    };
    // A text that is checked once is parsed faster than bytes whose every string is checked.
    let parsed = match str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(bytes),
    };
    parsed.map_err(|error| version().unwrap_or_else(|| unreadable(error)))
}

/// The run whose journal or record this is, for a command; RUN for another file.
fn run_of(path: &Path) -> String {
    let is_of_a_run = ["results.jsonl", "run.json"].iter().any(|name| path.ends_with(name));
    let directory = path.parent().filter(|_| is_of_a_run).and_then(Path::file_name);
    directory.map_or("RUN".into(), |name| name.to_string_lossy().into_owned())
}
