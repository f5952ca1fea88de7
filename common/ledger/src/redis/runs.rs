//! A fleet's record of a run: announced, closed, cancelled.

use crate::redis::store::{read_json, write_json};
use crate::{
    error::LedgerError,
    redis::{
        RedisLedger,
        failure::odd_answer,
        scripts::{self, StepScript},
    },
};
use juror_types::{
    id::{JobId, RunId},
    outcome::JobResult,
    run::RunRecord,
    usage::Money,
};
use serde::{Deserialize, Serialize};

/// A fleet's record of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStatus {
    /// Record of the run.
    pub record: RunRecord,
    /// Results to come of what was published, as far as was noted.
    pub published: u64,
    /// Results that it will have, over all rounds: it is complete when so many are in its journal.
    /// None while more jobs may come.
    pub expected: Option<u64>,
    /// True if it was cancelled: jobs that have not been judged yet are skipped.
    pub cancelled: bool,
    /// Reason of its pause, if it is paused: its jobs are held without calls.
    pub paused: Option<String>,
    /// Its progress, as the aggregator told it last.
    pub progress: Option<RunProgress>,
}

impl RunStatus {
    /// Jobs of the run among what was published: those with a result, and as many more as results
    /// are still to come. While its progress is unknown, rounds cannot be told from jobs, and all
    /// that were planned bound their number.
    pub fn jobs(&self) -> u64 {
        let results = self.expected.unwrap_or(self.published);
        let progress = self.progress.clone().unwrap_or_default();
        let jobs = progress.jobs() + results.saturating_sub(progress.results);
        jobs.min(self.record.planned)
    }

    /// True if the run's report tells all the results that it will have. A report of fewer is one
    /// of an earlier round.
    pub fn is_reported(&self) -> bool {
        let reported = self.progress.as_ref().and_then(|progress| progress.reported_at);
        self.expected.zip(reported).is_some_and(|(expected, reported)| reported >= expected)
    }
}

/// Progress of a run, by its journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunProgress {
    /// Results of all rounds: each job counts once for each round that it was judged in.
    pub results: u64,
    /// Jobs by the outcome of their last round.
    pub scored: u64,
    /// As `scored`; absent in what earlier versions wrote.
    #[serde(default)]
    pub no_output: u64,
    /// As `scored`.
    pub unscorable: u64,
    /// As `scored`.
    pub failed: u64,
    /// As `scored`.
    pub skipped: u64,
    /// Cost of the results.
    pub cost_usd: Money,
    /// The number of results upon which the run was complete and its report was written; none
    /// before that. Another one than [`RunStatus::expected`] tells of an earlier round.
    pub reported_at: Option<u64>,
}

impl RunProgress {
    /// Jobs that have a result.
    pub fn jobs(&self) -> u64 {
        self.scored + self.no_output + self.unscorable + self.failed + self.skipped
    }
}

impl RedisLedger {
    /// Says what a run is, before its first job. Doing so again opens the run again: it is neither
    /// closed, cancelled nor paused any more, and keeps its claims and results.
    pub async fn announce_run(&self, record: &RunRecord) -> Result<(), LedgerError> {
        let arguments = [record.run_id.to_string(), write_json(record)?];
        self.connection.perform(&scripts::ANNOUNCE_RUN, &arguments).await.map(drop)
    }

    /// Notes how many results will come of what was published so far, so that cancelling can close
    /// the run. Answers whether there is such a run.
    pub async fn note_published(&self, run: &RunId, results: u64) -> Result<bool, LedgerError> {
        self.note(run, "published", results.to_string()).await
    }

    /// Notes why no call of a run can succeed now; the first reason stays until the run is
    /// announced again. Answers whether there is such a run.
    pub async fn pause_run(&self, run: &RunId, reason: &str) -> Result<bool, LedgerError> {
        self.note(run, "paused", reason.to_owned()).await
    }

    /// Notes what a run is now, as when its cap has changed; how it stands does not change. Another
    /// record than before wants another report. Answers whether there is such a run.
    pub async fn note_record(&self, record: &RunRecord) -> Result<bool, LedgerError> {
        self.note(&record.run_id, "record", write_json(record)?).await
    }

    /// Notes how far a run has come. Answers whether there is such a run.
    pub async fn note_progress(
        &self,
        run: &RunId,
        progress: &RunProgress,
    ) -> Result<bool, LedgerError> {
        self.note(run, "progress", write_json(progress)?).await
    }

    /// Says how many results a run will have of what was published: no more jobs will come. Answers
    /// whether there is such a run. Its claims, results and status are kept for a while after their
    /// last use from here on.
    pub async fn close_run(&self, run: &RunId, expected: u64) -> Result<bool, LedgerError> {
        self.end_run(run, "close", expected.to_string()).await
    }

    /// Says that a job is about to be sent again, in this round: a closed run will have one result
    /// more, and closing one counts it on top. Saying it twice counts once. Answers whether there
    /// is such a run.
    pub async fn expect_round(
        &self,
        run: &RunId,
        job: &JobId,
        round: u32,
    ) -> Result<bool, LedgerError> {
        self.told_job(&scripts::EXPECT_ROUND, run, job, round).await
    }

    /// True if a dead letter of this job is to be sent again: the job has neither a result nor an
    /// unfinished start in its round, so it cannot have killed a worker. Each job a few times.
    pub async fn allow_resend(
        &self,
        run: &RunId,
        job: &JobId,
        round: u32,
    ) -> Result<bool, LedgerError> {
        self.told_job(&scripts::ALLOW_RESEND, run, job, round).await
    }

    /// Stores results that a journal has and Redis has forgotten: their jobs are not judged again.
    pub async fn restore_results(
        &self,
        run: &RunId,
        results: &[JobResult],
    ) -> Result<(), LedgerError> {
        let mut arguments = vec![run.to_string()];
        for result in results {
            let text = write_json(result)?;
            arguments.extend([result.job_id.to_string(), result.round.to_string(), text]);
        }
        self.connection.perform(&scripts::RESTORE_RESULTS, &arguments).await.map(drop)
    }

    /// Cancels a run, and closes it with what was published if it is not closed yet. Answers
    /// whether there is such a run.
    pub async fn cancel_run(&self, run: &RunId) -> Result<bool, LedgerError> {
        self.end_run(run, "cancel", String::new()).await
    }

    /// Status of a run; none if it was never announced, or closed long ago.
    pub async fn run_status(&self, run: &RunId) -> Result<Option<RunStatus>, LedgerError> {
        let answer = self.connection.perform(&scripts::RUN_STATUS, &[run.to_string()]).await?;
        let [record, expected, published, cancelled, paused, progress] = answer.as_slice() else {
            return Err(odd_answer("tell the status of a run"));
        };
        if record.is_empty() {
            return Ok(None);
        }
        Ok(Some(RunStatus {
            record: read_json(record, || format!("record of run {run}"))?,
            published: published.parse().unwrap_or_default(),
            expected: expected.parse().ok(),
            cancelled: cancelled == "1",
            paused: Some(paused.clone()).filter(|reason| !reason.is_empty()),
            progress: match progress.as_str() {
                "" => None,
                progress => Some(read_json(progress, || format!("progress of run {run}"))?),
            },
        }))
    }

    /// The runs that are known, in the order in which they were announced last.
    pub async fn announced_runs(&self) -> Result<Vec<RunId>, LedgerError> {
        let runs = self.connection.perform(&scripts::LIST_RUNS, &[]).await?;
        Ok(runs.into_iter().map(RunId::new).collect())
    }

    async fn end_run(&self, run: &RunId, how: &str, jobs: String) -> Result<bool, LedgerError> {
        let kept = self.settings.results_kept.as_millis().to_string();
        self.told_run(&scripts::END_RUN, &[run.to_string(), how.to_owned(), jobs, kept]).await
    }

    async fn note(&self, run: &RunId, what: &str, value: String) -> Result<bool, LedgerError> {
        self.told_run(&scripts::NOTE_RUN, &[run.to_string(), what.to_owned(), value]).await
    }

    async fn told_job(
        &self,
        step: &StepScript,
        run: &RunId,
        job: &JobId,
        round: u32,
    ) -> Result<bool, LedgerError> {
        self.told_run(step, &[run.to_string(), job.to_string(), round.to_string()]).await
    }

    async fn told_run(&self, step: &StepScript, arguments: &[String]) -> Result<bool, LedgerError> {
        let answer = self.connection.perform(step, arguments).await?;
        Ok(answer.first().is_some_and(|known| known == "1"))
    }
}
