//! Progress of a run's jobs by their stored results and claims.

use crate::{
    error::LedgerError,
    redis::{RedisLedger, failure::unexpected_reply, scripts},
};
use juror_types::{
    id::{JobId, RunId},
    outcome::Outcome,
};

/// Progress of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobState {
    /// The last round with a result, and the outcome of that round.
    pub ended: Option<(u32, Outcome)>,
    /// The last round in which a worker started the job.
    pub started: Option<u32>,
}

impl RedisLedger {
    /// Calls back for every job of a run that has a result, with its last round and outcome; a job
    /// may occur twice. Results of a closed run expire some time after its end.
    pub async fn for_each_outcome(
        &self,
        run: &RunId,
        mut tell: impl FnMut(JobId, u32, Outcome),
    ) -> Result<(), LedgerError> {
        let mut cursor = String::from("0");
        loop {
            let arguments = [run.to_string(), cursor];
            let answer = self.connection.perform(&scripts::LIST_OUTCOMES, &arguments).await?;
            let Some((next, found)) = answer.split_first() else {
                return Err(unexpected_reply("list outcomes"));
            };
            for ended in found.chunks(3) {
                let [job, round, outcome] = ended else {
                    return Err(unexpected_reply("list outcomes"));
                };
                let (round, outcome) = ended_in(round, outcome)
                    .ok_or_else(|| unexpected_reply(&format!("list the outcome of job {job}")))?;
                tell(JobId::new(job), round, outcome);
            }
            if next == "0" {
                return Ok(());
            }
            cursor = next.clone();
        }
    }

    /// Progress of a job.
    pub async fn job_state(&self, run: &RunId, job: &JobId) -> Result<JobState, LedgerError> {
        let arguments = [run.to_string(), job.to_string()];
        let answer = self.connection.perform(&scripts::JOB_STATE, &arguments).await?;
        let [round, outcome, started] = answer.as_slice() else {
            return Err(unexpected_reply(&format!("read the state of job {job}")));
        };
        Ok(JobState { ended: ended_in(round, outcome), started: started.parse().ok() })
    }
}

fn ended_in(round: &str, outcome: &str) -> Option<(u32, Outcome)> {
    let outcome = serde_json::from_value(serde_json::Value::from(outcome)).ok()?;
    Some((round.parse().ok()?, outcome))
}
