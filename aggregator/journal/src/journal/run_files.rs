//! The files of a run directory for readers.

use super::{
    error::{JournalError, parse_record},
    lock,
    result_reader::Results,
};
use juror_files::data_roots::read_regular;
use juror_types::{
    SCHEMA,
    id::RunId,
    run::{JudgingTime, RunRecord},
};
use std::{
    io,
    path::{Path, PathBuf},
};
use tokio_util::sync::CancellationToken;

/// File with a run's results, in its directory.
pub const JOURNAL_FILE: &str = "results.jsonl";
/// Remedy without a backup of `run.json`.
const WITHOUT_A_COPY: &str =
    "remove it if the run is a fleet's: juror aggregate writes it again beside the results";

/// Maximum size of a record in bytes: its largest part is a rubric's text.
const MAX_RECORD_BYTES: u64 = 16 << 20;

/// The files of a run, for reading; needs no lock, so a run in progress can be reported.
#[derive(Clone, Debug)]
pub struct RunFiles {
    directory: PathBuf,
    record: RunRecord,
    stop: CancellationToken,
}

impl RunFiles {
    /// Reads the record of the run of this id.
    pub fn open(runs_dir: &Path, run: &RunId) -> Result<Self, JournalError> {
        Self::open_directory(&runs_dir.join(run.as_str()))
    }

    /// Reads the record of the run in this directory.
    pub fn open_directory(directory: &Path) -> Result<Self, JournalError> {
        let path = directory.join("run.json");
        let bytes = read_regular(&path, MAX_RECORD_BYTES).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                JournalError::Missing(directory.to_owned())
            }
            _ => JournalError::io("read", &path, error),
        })?;
        let record: RunRecord = parse_record(&bytes, &path, 1, WITHOUT_A_COPY)?;
        if record.schema != SCHEMA {
            let found = u64::from(record.schema);
            return Err(JournalError::Schema { path, line: 1, found });
        }
        Ok(Self::new(directory.to_owned(), record))
    }

    /// True if the directory has the run's name; a copy in another one is not the run.
    pub fn has_own_directory(&self) -> bool {
        let name = self.directory.file_name().and_then(|name| name.to_str());
        name == Some(self.record.run_id.as_str())
    }

    pub(crate) fn new(directory: PathBuf, record: RunRecord) -> Self {
        Self { directory, record, stop: CancellationToken::new() }
    }

    /// Returns the files with results that end once `stop` is cancelled: a large journal takes a
    /// while, and an immediate shutdown does not wait for it.
    pub fn until(self, stop: CancellationToken) -> Self {
        Self { stop, ..self }
    }

    /// True if a process works on the run.
    pub fn is_held(&self) -> bool {
        lock::is_held(&self.directory)
    }

    /// Time of the last written result; `None` if unknown.
    pub fn last_written(&self) -> Option<jiff::Timestamp> {
        let modified = self.journal_path().metadata().and_then(|metadata| metadata.modified());
        jiff::Timestamp::try_from(modified.ok()?).ok()
    }

    /// Length of the journal in bytes; 0 without results.
    pub fn journal_bytes(&self) -> u64 {
        self.journal_path().metadata().map_or(0, |metadata| metadata.len())
    }

    /// Judging time of the run, up to its last result where a session is open or was killed.
    /// Records of a fleet and of earlier versions have no sessions: one since the run's creation is
    /// assumed.
    pub fn judging_time(&self) -> Option<JudgingTime> {
        let known = match &self.record.judging {
            Some(known) => known.clone(),
            None => JudgingTime::since(self.record.created_at.parse().ok()?),
        };
        match known.open_since {
            None => Some(known),
            Some(_) => Some(known.closed(self.last_written()?)),
        }
    }

    /// Record of the run.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// The run directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Path of a report of this file name.
    pub fn path_of(&self, file_name: &str) -> PathBuf {
        self.directory.join(file_name)
    }

    /// All results with their offsets, including superseded rounds, in commit order.
    pub fn results(&self) -> Result<Results, JournalError> {
        Results::open(&self.journal_path(), self.stop.clone())
    }

    /// As [`RunFiles::results`], beginning with the result at this offset.
    pub fn results_from(&self, offset: u64) -> Result<Results, JournalError> {
        let mut results = self.results()?;
        results.skip_to(offset)?;
        Ok(results)
    }

    pub(crate) fn journal_path(&self) -> PathBuf {
        self.path_of(JOURNAL_FILE)
    }
}
