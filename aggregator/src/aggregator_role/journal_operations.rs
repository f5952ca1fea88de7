//! Operations of a fleet's aggregator on a run's journal. All block on disk I/O.

use super::incoming::Incoming;
use crate::run_journal::RunJournal;
use juror_journal::journal::{JournalError, JournalWriter};
use juror_ledger::redis::RunProgress;
use juror_queue::DeadLetter;
use juror_types::{
    id::RunId,
    job::Job,
    outcome::{ErrorKind, JobError, JobResult, Outcome},
    rubric::{Rubric, zero},
    run::RunRecord,
};
use std::{path::Path, sync::Arc};
use tokio_util::sync::CancellationToken;

/// Result of a commit.
#[derive(Debug, Default)]
pub(super) struct Committed {
    /// New results.
    pub(super) news: Vec<Arc<JobResult>>,
    /// Number of duplicates.
    pub(super) duplicates: u64,
}

impl RunJournal {
    /// Creates the directory of a run without `run.json`. An existing journal is read: a damaged
    /// `run.json` may have been removed.
    pub(super) fn create(
        runs_dir: &Path,
        record: &RunRecord,
        stop: &CancellationToken,
    ) -> Result<Self, JournalError> {
        Self::read(JournalWriter::create(runs_dir, record)?, stop)
    }

    /// Opens the directory of a run: truncates a torn last line, and reads the journal, unless
    /// `stop` is cancelled meanwhile.
    pub(super) fn open(
        runs_dir: &Path,
        run: &RunId,
        stop: &CancellationToken,
    ) -> Result<Self, JournalError> {
        Self::read(JournalWriter::open(runs_dir, run)?, stop)
    }

    /// Commits the new ones among these. On an error none is committed, and this value must be
    /// dropped.
    pub(super) fn commit_incoming(
        &mut self,
        batch: &[Incoming],
    ) -> Result<Committed, JournalError> {
        let record = self.record();
        let results: Vec<_> = batch
            .iter()
            .map(|incoming| match incoming {
                Incoming::Result(delivery) => Arc::clone(&delivery.message),
                Incoming::Dead(delivery) => Arc::new(dead_job_result(&delivery.message, record)),
            })
            .collect();
        let mut committed = Committed::default();
        let news = self.commit(results.iter().map(Arc::as_ref))?;
        for ((incoming, result), is_new) in batch.iter().zip(results).zip(news) {
            match (incoming, is_new) {
                (_, true) => committed.news.push(result),
                (Incoming::Result(_), false) => committed.duplicates += 1,
                // The round of the job has a result already; this is no duplicate from a worker.
                (Incoming::Dead(_), false) => {}
            }
        }
        Ok(committed)
    }

    /// Progress of the run, without its report.
    pub(super) fn progress(&self) -> RunProgress {
        let fold = self.fold();
        RunProgress {
            results: fold.results(),
            counts: fold.counts(),
            cost_usd: fold.spent().cost,
            reported_at: None,
        }
    }
}

/// The result of a dead job in its round, so that its run ends. The worker that dead-lettered it
/// may have published one too; the second one is a duplicate.
fn dead_job_result(letter: &DeadLetter<Job>, record: &RunRecord) -> JobResult {
    let DeadLetter { message: job, reason, .. } = letter;
    let mut result = JobResult::empty(job, Outcome::Failed);
    result.pipeline_success = Some(false);
    if job.judge.is_some() {
        // The report warns of an invalid rubric.
        let rubric = Rubric::parse(&record.rubric_text, "the run's rubric").ok();
        result.semantic = rubric.map(|rubric| zero(&rubric, reason));
    }
    result.error = Some(JobError { kind: ErrorKind::Poison, message: reason.clone() });
    result
}
