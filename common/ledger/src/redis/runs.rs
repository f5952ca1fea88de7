//! A fleet's record of a run: announced, closed, cancelled.

use super::{RedisLedger, encoding::milliseconds, failure::unexpected_reply, scripts};
use crate::{
    error::LedgerError,
    json::{JsonRecords, write_json},
};
use juror_types::{
    id::{JobId, RunId},
    outcome::OutcomeCounts,
    run::{RunRecord, StageCommands},
    usage::Money,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Time for which a new run's name is reserved before it is announced.
const NAME_RESERVATION_TTL: Duration = Duration::from_secs(30);

/// A fleet's record of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStatus {
    /// Record of the run.
    pub record: RunRecord,
    /// Number of results to come of the jobs published so far.
    pub published: u64,
    /// Number of results that the run will have, over all rounds: it is complete when its journal
    /// holds as many. `None` while more jobs may be published.
    pub expected: Option<u64>,
    /// True if it was cancelled: jobs that are not judged yet are skipped.
    pub cancelled: bool,
    /// True while a retry publishes the next rounds of its jobs, or was stopped before their end.
    pub retrying: bool,
    /// Reason of its pause, if it is paused: its jobs are held without calls.
    pub paused: Option<String>,
    /// Progress, as the aggregator recorded it last.
    pub progress: Option<RunProgress>,
}

impl RunStatus {
    /// Number of published jobs: those with a result, plus the results still to come. While its
    /// progress is unknown, rounds cannot be distinguished from jobs, and the planned number of
    /// jobs is the upper bound.
    pub fn jobs(&self) -> u64 {
        let results = self.expected.unwrap_or(self.published);
        let progress = self.progress.clone().unwrap_or_default();
        let jobs = progress.counts.total() + results.saturating_sub(progress.results);
        jobs.min(self.record.planned)
    }

    /// True if the run's report covers all results that it will have. A report of fewer belongs to
    /// an earlier round.
    pub fn is_reported(&self) -> bool {
        let reported = self.progress.as_ref().and_then(|progress| progress.reported_at);
        self.expected.zip(reported).is_some_and(|(expected, reported)| reported >= expected)
    }
}

/// Progress of a run, by its journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunProgress {
    /// Results of all rounds: a job counts once for each round in which it was judged.
    pub results: u64,
    /// Jobs by the outcome of their last round.
    #[serde(flatten)]
    pub counts: OutcomeCounts,
    /// Cost of the results.
    pub cost_usd: Money,
    /// Number of results with which the run was complete when its report was written; `None` before
    /// that. If it differs from [`RunStatus::expected`], the report belongs to an earlier round.
    pub reported_at: Option<u64>,
}

impl RedisLedger {
    /// Announces a run before its first job. A repeated announcement reopens it: it is no longer
    /// closed, cancelled or paused, and keeps its claims and results.
    pub async fn announce_run(&self, record: &RunRecord) -> Result<(), LedgerError> {
        let arguments = [record.run_id.to_string(), write_json(record)?];
        self.connection.perform(&scripts::ANNOUNCE_RUN, &arguments).await.map(drop)
    }

    /// Reserves the name of a new run until it is announced, for half a minute. Returns false if a
    /// run has it or another one reserves it.
    pub async fn reserve_run_name(&self, record: &RunRecord) -> Result<bool, LedgerError> {
        self.hold_name(record, NAME_RESERVATION_TTL).await
    }

    /// Releases the name of a run that is not announced.
    pub async fn release_run_name(&self, record: &RunRecord) -> Result<(), LedgerError> {
        self.hold_name(record, Duration::ZERO).await.map(drop)
    }

    /// Records how many results will come of the jobs published so far, so that cancelling can
    /// close the run. Returns false if there is no such run.
    pub async fn record_published(&self, run: &RunId, results: u64) -> Result<bool, LedgerError> {
        self.set_field(run, "published", results.to_string()).await
    }

    /// Records that a retry publishes the next rounds of the run's jobs, until the run is closed.
    /// Returns false if there is no such run.
    pub async fn mark_retrying(&self, run: &RunId) -> Result<bool, LedgerError> {
        self.set_field(run, "retrying", "1".to_owned()).await
    }

    /// Pauses a run for this reason, since none of its calls can succeed now; the first reason
    /// stays until the run is announced again. Returns false if there is no such run.
    pub async fn pause_run(&self, run: &RunId, reason: &str) -> Result<bool, LedgerError> {
        self.set_field(run, "paused", reason.to_owned()).await
    }

    /// Records the commands of the worker that is about to judge a run first; the first ones stay.
    /// From here on they are part of the run's record. Returns false if there is no such run.
    pub async fn record_stage_commands(
        &self,
        run: &RunId,
        commands: &StageCommands,
    ) -> Result<bool, LedgerError> {
        self.set_field(run, "commands", write_json(commands)?).await
    }

    /// Replaces the record of a run, as when its cap has changed; its state stays the same. A
    /// changed record requires a new report. Returns false if there is no such run.
    pub async fn update_record(&self, record: &RunRecord) -> Result<bool, LedgerError> {
        self.set_field(&record.run_id, "record", write_json(record)?).await
    }

    /// Closes a run: no more jobs will come, and it will have this number of results. Returns false
    /// if there is no such run. From here on its claims, results and status expire some time after
    /// their last use.
    pub async fn close_run(&self, run: &RunId, expected: u64) -> Result<bool, LedgerError> {
        self.end_run(run, "close", expected.to_string()).await
    }

    /// Records that a job is about to be published again, in this round: a closed run expects one
    /// more result, and closing a run adds it. Recording it twice counts once. Returns false if
    /// there is no such run.
    pub async fn expect_round(
        &self,
        run: &RunId,
        job: &JobId,
        round: u32,
    ) -> Result<bool, LedgerError> {
        let arguments = [run.to_string(), job.to_string(), round.to_string()];
        self.connection.perform_check(&scripts::EXPECT_ROUND, &arguments).await
    }

    /// Cancels a run, and closes it with the jobs published so far if it is open. Returns false if
    /// there is no such run.
    pub async fn cancel_run(&self, run: &RunId) -> Result<bool, LedgerError> {
        self.end_run(run, "cancel", String::new()).await
    }

    /// Status of a run; `None` if it was never announced or has expired.
    pub async fn run_status(&self, run: &RunId) -> Result<Option<RunStatus>, LedgerError> {
        let answer = self.connection.perform(&scripts::RUN_STATUS, &[run.to_string()]).await?;
        let [record, expected, published, cancelled, paused, progress, commands, retrying] =
            answer.as_slice()
        else {
            return Err(unexpected_reply("read the status of a run"));
        };
        if record.is_empty() {
            return Ok(None);
        }
        let mut record: RunRecord =
            JsonRecords::REDIS.read(record, || format!("record of run {run}"))?;
        if let (Some(stages), false) = (&mut record.stages, commands.is_empty()) {
            let name = || format!("commands of run {run}");
            stages.commands = JsonRecords::REDIS.read(commands, name)?;
        }
        let progress = Some(progress).filter(|progress| !progress.is_empty());
        let read =
            |text: &String| JsonRecords::REDIS.read(text, || format!("progress of run {run}"));
        Ok(Some(RunStatus {
            record,
            published: published.parse().unwrap_or_default(),
            expected: expected.parse().ok(),
            cancelled: cancelled == "1",
            retrying: retrying == "1",
            paused: Some(paused.clone()).filter(|reason| !reason.is_empty()),
            progress: progress.map(read).transpose()?,
        }))
    }

    /// Known runs, ordered by their last announcement.
    pub async fn announced_runs(&self) -> Result<Vec<RunId>, LedgerError> {
        let runs = self.connection.perform(&scripts::LIST_RUNS, &[]).await?;
        Ok(runs.into_iter().map(RunId::new).collect())
    }

    async fn hold_name(&self, record: &RunRecord, time: Duration) -> Result<bool, LedgerError> {
        let arguments = [record.run_id.to_string(), write_json(record)?, milliseconds(time)];
        self.connection.perform_check(&scripts::RESERVE_RUN_NAME, &arguments).await
    }

    async fn end_run(&self, run: &RunId, how: &str, jobs: String) -> Result<bool, LedgerError> {
        let kept = milliseconds(self.settings.results_kept);
        let arguments = [run.to_string(), how.to_owned(), jobs, kept];
        self.connection.perform_check(&scripts::END_RUN, &arguments).await
    }

    /// Sets a field of a run's record. Returns false if there is no such run.
    pub(super) async fn set_field(
        &self,
        run: &RunId,
        field: &str,
        value: String,
    ) -> Result<bool, LedgerError> {
        let arguments = [run.to_string(), field.to_owned(), value];
        self.connection.perform_check(&scripts::UPDATE_RUN, &arguments).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_stored_beside_the_other_figures() {
        let stored = r#"{"results":9,"scored":1,"no_output":2,"unscorable":1,"failed":3,"skipped":1,"cost_usd":"0.000000000","reported_at":8}"#;
        let progress: RunProgress = serde_json::from_str(stored).unwrap();
        assert_eq!((progress.counts.total(), progress.counts.unscored()), (8, 7));
        assert_eq!(serde_json::to_string(&progress).unwrap(), stored);
    }
}
