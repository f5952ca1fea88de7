//! Errors of a run directory, by what its user can do next.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Reason why a run directory cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another process writes to it: wait.
    #[error(
        "the run directory {} is in use by another juror process: wait until it ends or stop it, or give this run another --run-id",
        directory.display()
    )]
    InUse {
        /// The run directory.
        directory: PathBuf,
    },
    /// There is a run of this name: resume it or choose another name.
    #[error(
        "the run directory {} holds a run already: continue it with --resume, or choose another --run-id",
        directory.display()
    )]
    Exists {
        /// The run directory.
        directory: PathBuf,
    },
    /// The directory that a run's name stands for belongs to something else: choose another name.
    #[error(
        "{} exists and is no run directory: choose another --run-id, or move it away",
        directory.display()
    )]
    Occupied {
        /// The file or folder.
        directory: PathBuf,
    },
    /// There is no run of this name.
    #[error(
        "{} holds no run (no run.json): check the run id and --runs-dir, or list what there is with `juror runs`",
        directory.display()
    )]
    Missing {
        /// The run directory.
        directory: PathBuf,
    },
    /// The disk is full: make room and go on.
    #[error(
        "no space left to write {}: free some, then go on (juror run --resume, or juror aggregate for a fleet); every result before this one is kept",
        path.display()
    )]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// Action that was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A complete line, or run.json, is not what it should be: a person must look at it.
    #[error("{}, line {line}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The problem and the remedy.
        reason: String,
    },
    /// The reader was asked to end.
    #[error("the results were not read to their end: the program was asked to stop")]
    Stopped,
    /// Another version of juror wrote it.
    #[error(
        "{}, line {line}: schema {found}, but this program reads schema {known}: use the juror version that wrote it",
        path.display(),
        known = juror_types::SCHEMA
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The version that was found.
        found: u64,
    },
}

impl JournalError {
    /// Message for those who may see runs and not where they lie: files are named from the folder
    /// of their run on.
    pub fn in_its_run(&self) -> String {
        let place = match self {
            Self::InUse { directory }
            | Self::Exists { directory }
            | Self::Occupied { directory }
            | Self::Missing { directory } => directory,
            Self::Full { path }
            | Self::Io { path, .. }
            | Self::Unreadable { path, .. }
            | Self::Schema { path, .. } => path,
            Self::Stopped => return self.to_string(),
        };
        let depth = place.components().count();
        let short: PathBuf = place.components().skip(depth.saturating_sub(2)).collect();
        self.to_string().replace(&place.display().to_string(), &short.display().to_string())
    }

    /// True if what was written is not what it should be: a person must look at the files of this
    /// run, and no other run is concerned.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Unreadable { .. } | Self::Schema { .. } | Self::Occupied { .. })
    }

    /// Sorts what the system says by what can be done about it.
    pub fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Io { action, path, source },
        }
    }
}

/// Reads one record of a file, and tells another version from a broken record. `remedy` is what
/// helps where there is no copy of the file.
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
        reason: format!(
            "not a readable record ({error}): restore the file from a copy, or {remedy}"
        ),
    };
    // A record of another version may lack fields of this one, so its version is read by itself;
    // reading it costs a second parse only where the first one fails.
    let version = || match serde_json::from_slice::<Version>(bytes) {
        Ok(Version { schema }) if schema != u64::from(juror_types::SCHEMA) => {
            Some(JournalError::Schema { path: path.to_owned(), line, found: schema })
        }
        _ => None,
    };
    serde_json::from_slice(bytes).map_err(|error| version().unwrap_or_else(|| unreadable(error)))
}
