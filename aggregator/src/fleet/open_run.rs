//! A run whose directory is locked and whose fold is in memory. Everything here waits for the disk.

use super::{batch::Incoming, poison};
use juror_analysis::fold::{Applied, Counted, Fold};
use juror_journal::journal::{JournalError, RunDirectory, RunFiles, encode};
use juror_ledger::redis::RunProgress;
use juror_types::{
    id::RunId,
    outcome::{JobResult, Outcome},
    run::RunRecord,
};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// A run that results can be committed to.
#[derive(Debug)]
pub(super) struct OpenRun {
    directory: RunDirectory,
    fold: Fold,
}

/// Result of a commit.
#[derive(Debug, Default)]
pub(super) struct Committed {
    /// The outcomes of those that are new.
    pub(super) news: Vec<Outcome>,
    /// Results that were committed before.
    pub(super) duplicates: u64,
}

/// State of a run for a report, at one moment.
#[derive(Debug)]
pub(super) struct FoldSnapshot {
    pub(super) files: RunFiles,
    pub(super) counted: Counted,
}

impl OpenRun {
    /// Makes the directory of a run that has no `run.json`. A journal that is there already is read:
    /// somebody may have taken a damaged `run.json` away.
    pub(super) fn create(
        runs_dir: &Path,
        record: &RunRecord,
        stop: &CancellationToken,
    ) -> Result<Self, JournalError> {
        Self::read(RunDirectory::create(runs_dir, record)?, stop)
    }

    /// Opens the directory of a run: cuts a torn last line off, and reads the journal, unless
    /// `stop` is cancelled meanwhile.
    pub(super) fn open(
        runs_dir: &Path,
        run: &RunId,
        stop: &CancellationToken,
    ) -> Result<Self, JournalError> {
        Self::read(RunDirectory::open(runs_dir, run)?, stop)
    }

    fn read(directory: RunDirectory, stop: &CancellationToken) -> Result<Self, JournalError> {
        let fold = Fold::of_journal(&directory.files().clone().until(stop.clone()))?;
        Ok(Self { directory, fold })
    }

    /// Commits what is new among these: one write and one fsync. On an error nothing of them is
    /// committed, and this value is of no more use.
    pub(super) fn commit(&mut self, batch: &[Incoming]) -> Result<Committed, JournalError> {
        let mut committed = Committed::default();
        let mut lines = Vec::new();
        for incoming in batch {
            match incoming {
                Incoming::Result(delivery) => {
                    if !self.add(&delivery.message, &mut lines, &mut committed)? {
                        committed.duplicates += 1;
                    }
                }
                Incoming::Dead(delivery) => {
                    let result = poison::result_of(&delivery.message, self.record());
                    self.add(&result, &mut lines, &mut committed)?;
                }
            }
        }
        self.directory.append_lines(&lines)?;
        Ok(committed)
    }

    /// Record of the run.
    pub(super) fn record(&self) -> &RunRecord {
        self.directory.files().record()
    }

    /// Writes `run.json` anew unless it says this already.
    pub(super) fn keep_record(&mut self, record: &RunRecord) -> Result<(), JournalError> {
        if self.record() == record {
            return Ok(());
        }
        self.directory.set_record(record.clone())
    }

    /// Progress of the run; nothing is said of its report.
    pub(super) fn progress(&self) -> RunProgress {
        let counts = self.fold.counts();
        RunProgress {
            results: self.fold.results(),
            scored: counts.scored,
            no_output: counts.no_output,
            unscorable: counts.unscorable,
            failed: counts.failed,
            skipped: counts.skipped,
            cost_usd: self.fold.spent().cost,
            reported_at: None,
        }
    }

    /// Present state for a report.
    pub(super) fn snapshot(&self) -> FoldSnapshot {
        FoldSnapshot { files: self.directory.files().clone(), counted: self.fold.counted() }
    }

    /// Whether it is new.
    fn add(
        &mut self,
        result: &JobResult,
        lines: &mut Vec<u8>,
        committed: &mut Committed,
    ) -> Result<bool, JournalError> {
        let offset = self.directory.length() + lines.len() as u64;
        if self.fold.apply(result, offset) == Applied::Duplicate {
            return Ok(false);
        }
        encode(result, lines)?;
        committed.news.push(result.outcome);
        Ok(true)
    }
}

#[cfg(all(test, target_os = "linux"))]
impl OpenRun {
    /// Makes every further write fail as on a full disk.
    pub(super) fn fill_the_disk(&mut self) -> std::io::Result<()> {
        self.directory.fill_the_disk()
    }
}
