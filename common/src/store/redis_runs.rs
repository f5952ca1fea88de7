//! What the fleet knows of a run: announced, closed, cancelled.

use super::redis::{read_json, write_json};
use crate::{
    admission::AdmissionError,
    id::RunId,
    redis::{RedisHome, failure::odd_answer, scripts, scripts::Step},
    run::RunRecord,
};

/// What the fleet knows of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStatus {
    /// What it is.
    pub record: RunRecord,
    /// How many jobs were published, as far as was noted.
    pub published: u64,
    /// How many jobs it has: it is complete when so many have an outcome. None while more may come.
    pub jobs: Option<u64>,
    /// Whether it was cancelled: jobs that have not been judged yet are skipped.
    pub cancelled: bool,
}

impl RedisHome {
    /// Says what a run is, before its first job. Doing so again opens the run again: it is neither
    /// closed nor cancelled any more, and keeps its claims and results.
    pub async fn announce_run(&self, record: &RunRecord) -> Result<(), AdmissionError> {
        let arguments = [record.run_id.to_string(), write_json(record)?];
        self.connection.perform(&scripts::ANNOUNCE_RUN, &arguments).await.map(drop)
    }

    /// Notes how many jobs of a run have been published so far, so that cancelling can close it.
    /// Answers whether there is such a run.
    pub async fn note_published(&self, run: &RunId, jobs: u64) -> Result<bool, AdmissionError> {
        self.told_run(&scripts::NOTE_PUBLISHED, &[run.to_string(), jobs.to_string()]).await
    }

    /// Says how many jobs a run has: no more will come. Answers whether there is such a run. Its
    /// claims, results and status are kept for a while after their last use from here on.
    pub async fn close_run(&self, run: &RunId, jobs: u64) -> Result<bool, AdmissionError> {
        self.end_run(run, "close", jobs.to_string()).await
    }

    /// Cancels a run, and closes it with what was published if it is not closed yet. Answers
    /// whether there is such a run.
    pub async fn cancel_run(&self, run: &RunId) -> Result<bool, AdmissionError> {
        self.end_run(run, "cancel", String::new()).await
    }

    /// What is known of a run; none if it was never announced, or closed long ago.
    pub async fn run_status(&self, run: &RunId) -> Result<Option<RunStatus>, AdmissionError> {
        let answer = self.connection.perform(&scripts::RUN_STATUS, &[run.to_string()]).await?;
        let [record, jobs, published, cancelled] = answer.as_slice() else {
            return Err(odd_answer("tell the status of a run"));
        };
        if record.is_empty() {
            return Ok(None);
        }
        Ok(Some(RunStatus {
            record: read_json(record, || format!("record of run {run}"))?,
            published: published.parse().unwrap_or_default(),
            jobs: jobs.parse().ok(),
            cancelled: cancelled == "1",
        }))
    }

    /// The runs that are known, in the order in which they were announced last.
    pub async fn announced_runs(&self) -> Result<Vec<RunId>, AdmissionError> {
        let runs = self.connection.perform(&scripts::LIST_RUNS, &[]).await?;
        Ok(runs.into_iter().map(RunId::new).collect())
    }

    async fn end_run(&self, run: &RunId, how: &str, jobs: String) -> Result<bool, AdmissionError> {
        let kept = self.settings.results_kept.as_millis().to_string();
        self.told_run(&scripts::END_RUN, &[run.to_string(), how.to_owned(), jobs, kept]).await
    }

    async fn told_run(&self, step: &Step, arguments: &[String]) -> Result<bool, AdmissionError> {
        let answer = self.connection.perform(step, arguments).await?;
        Ok(answer.first().is_some_and(|known| known == "1"))
    }
}
