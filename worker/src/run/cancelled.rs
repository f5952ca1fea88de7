//! End of a job of a cancelled run: not tried, with the cost that it had before.

use super::Worker;
use crate::{claim::unclaimed, interruption::Interruption, telemetry};
use juror_ledger::store::{Carried, Claim, ClaimKey, FinishedJob};
use juror_types::{
    job::Job,
    outcome::{ErrorKind, JobError, JobResult, Outcome},
};

/// Ends a job without work; a job that was finished before keeps its result.
pub async fn skip(job: &Job, worker: &Worker) -> Result<JobResult, Interruption> {
    let Worker { store, owner, metrics, .. } = worker;
    let unclaimed = unclaimed(job);
    match store.claim(&unclaimed, owner).await? {
        Claim::Done(result) => {
            telemetry::job_was_finished(metrics);
            Ok(*result)
        }
        Claim::Held => Err(Interruption::ClaimedElsewhere),
        Claim::Granted { fence, carried, .. } => {
            let result = skipped(job, carried);
            let claim = ClaimKey { fence, ..unclaimed };
            let finished = FinishedJob { claim, result: result.clone(), remember: None };
            if !store.finish(finished).await? {
                return Err(Interruption::ClaimLost);
            }
            telemetry::job_finished(&result, metrics);
            Ok(result)
        }
    }
}

fn skipped(job: &Job, carried: Carried) -> JobResult {
    let message = "the run was cancelled before this job's turn".to_owned();
    JobResult {
        cost_usd: carried.cost,
        usage: carried.usage,
        attempts: carried.calls,
        unmetered_calls: carried.unmetered_calls,
        error: Some(JobError { kind: ErrorKind::Cancelled, message }),
        ..JobResult::empty(job, Outcome::Skipped)
    }
}
