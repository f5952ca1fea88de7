//! Disk work for one run, on a blocking thread.

use super::{incoming::Incoming, journal_operations::Committed, runs_lock::RunsLock};
use crate::run_journal::RunJournal;
use juror_journal::journal::{JOURNAL_FILE, JournalError, RunFiles};
use juror_types::{id::RunId, run::RunRecord};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Results to commit to a run, which is opened if it is not.
#[derive(Debug)]
pub(super) struct CommitWork {
    pub(super) run: RunId,
    pub(super) from: RunSource,
    /// New content of `run.json`, if it has changed.
    pub(super) record: Option<RunRecord>,
    pub(super) batch: Vec<Incoming>,
}

/// Source of a run's state.
#[derive(Debug)]
pub(super) enum RunSource {
    /// An open run.
    Open(Box<RunJournal>),
    /// The run's directory.
    Directory,
    /// A new run, created from its record.
    Record,
}

/// Completed work.
#[derive(Debug)]
pub(super) struct CommittedWork {
    pub(super) run: RunId,
    pub(super) open: RunJournal,
    pub(super) batch: Vec<Incoming>,
    pub(super) committed: Committed,
}

/// Failed work; nothing of its batch is committed.
#[derive(Debug)]
pub(super) struct FailedCommit {
    pub(super) run: RunId,
    pub(super) batch: Vec<Incoming>,
    pub(super) error: JournalError,
}

impl CommitWork {
    pub(super) fn perform(
        self,
        runs_dir: &Path,
        stop: &CancellationToken,
    ) -> Result<CommittedWork, Box<FailedCommit>> {
        let Self { run, from, record, batch } = self;
        let is_new = matches!(from, RunSource::Record);
        let removal = || is_removed(runs_dir, &run).then(|| removed(runs_dir, &run));
        let committing = || {
            let mut open = match (from, &record) {
                (RunSource::Open(open), _) => *open,
                (RunSource::Record, Some(record)) => RunJournal::create(runs_dir, record, stop)?,
                (RunSource::Record | RunSource::Directory, _) => {
                    RunJournal::open(runs_dir, &run, stop)?
                }
            };
            if let Some(record) = &record {
                open.update_record_file(record)?;
            }
            let committed = open.commit_incoming(&batch)?;
            // Data written to a removed file is lost.
            let is_lost = match open.record().fleet {
                Some(_) => is_removed(runs_dir, &run),
                None => lacks_files(runs_dir, &run),
            };
            match is_lost {
                true => Err(removed(runs_dir, &run)),
                false => Ok((open, committed)),
            }
        };
        match committing() {
            Ok((open, committed)) => Ok(CommittedWork { run, open, batch, committed }),
            Err(error) => {
                let error = removal().filter(|_| !is_new).unwrap_or(error);
                Err(Box::new(FailedCommit { run, batch, error }))
            }
        }
    }
}

/// The error of a run without its files.
pub(super) fn removed(runs_dir: &Path, run: &RunId) -> JournalError {
    JournalError::Removed(runs_dir.join(run.as_str()))
}

/// Record in the directory of a run, if there is one.
pub(super) fn look_up(runs_dir: &Path, run: &RunId) -> Result<Option<RunRecord>, JournalError> {
    match RunFiles::open(runs_dir, run) {
        Ok(files) => Ok(Some(files.record().clone())),
        Err(JournalError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// True if files of a run were removed, and not the runs directory with them, as an unmounted one is.
fn is_removed(runs_dir: &Path, run: &RunId) -> bool {
    RunsLock::is_known(runs_dir) && lacks_files(runs_dir, run)
}

fn lacks_files(runs_dir: &Path, run: &RunId) -> bool {
    let directory = runs_dir.join(run.as_str());
    let is_missing = |file| directory.join(file).try_exists().is_ok_and(|exists| !exists);
    is_missing("run.json") || is_missing(JOURNAL_FILE)
}
