//! An open run. Everything here waits for the disk.

use super::{batch::Incoming, poison};
use crate::run_journal::RunJournal;
use juror_analysis::fold::{Counted, Fold};
use juror_journal::journal::{JournalError, RunDirectory, RunFiles};
use juror_ledger::redis::RunProgress;
use juror_types::{id::RunId, outcome::JobResult, run::RunRecord};
use std::{path::Path, sync::Arc};
use tokio_util::sync::CancellationToken;

/// A run that results can be committed to.
#[derive(Debug)]
pub(super) struct OpenRun(pub(super) RunJournal);

/// Result of a commit.
#[derive(Debug, Default)]
pub(super) struct Committed {
    /// Those that are new.
    pub(super) news: Vec<Arc<JobResult>>,
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
    /// Makes the directory of a run that has no `run.json`. A journal that is there already is
    /// read: somebody may have taken a damaged `run.json` away.
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
        Ok(Self(RunJournal::new(directory, fold)))
    }

    /// Commits what is new among these. On an error nothing of them is committed, and this value is
    /// of no more use.
    pub(super) fn commit(&mut self, batch: &[Incoming]) -> Result<Committed, JournalError> {
        let record = self.record();
        let results: Vec<_> = batch
            .iter()
            .map(|incoming| match incoming {
                Incoming::Result(delivery) => Arc::clone(&delivery.message),
                Incoming::Dead(delivery) => Arc::new(poison::result_of(&delivery.message, record)),
            })
            .collect();
        let mut committed = Committed::default();
        let news = self.0.commit(results.iter().map(Arc::as_ref))?;
        for ((incoming, result), is_new) in batch.iter().zip(results).zip(news) {
            match (incoming, is_new) {
                (_, true) => committed.news.push(result),
                (Incoming::Result(_), false) => committed.duplicates += 1,
                // Its round has a result.
                (Incoming::Dead(_), false) => {}
            }
        }
        Ok(committed)
    }

    /// Record of the run.
    pub(super) fn record(&self) -> &RunRecord {
        self.0.record()
    }

    /// Writes `run.json` anew unless it says this already.
    pub(super) fn keep_record(&mut self, record: &RunRecord) -> Result<(), JournalError> {
        self.0.keep_record(record)
    }

    /// Progress of the run; nothing is said of its report.
    pub(super) fn progress(&self) -> RunProgress {
        let fold = self.0.fold();
        let counts = fold.counts();
        RunProgress {
            results: fold.results(),
            scored: counts.scored,
            no_output: counts.no_output,
            unscorable: counts.unscorable,
            failed: counts.failed,
            skipped: counts.skipped,
            cost_usd: fold.spent().cost,
            reported_at: None,
        }
    }

    /// Present state for a report.
    pub(super) fn snapshot(&self) -> FoldSnapshot {
        FoldSnapshot { files: self.0.files().clone(), counted: self.0.fold().counted() }
    }
}

#[cfg(all(test, target_os = "linux"))]
impl OpenRun {
    /// Makes every further write fail as on a full disk.
    pub(super) fn fill_the_disk(&mut self) -> std::io::Result<()> {
        self.0.fill_the_disk()
    }
}
