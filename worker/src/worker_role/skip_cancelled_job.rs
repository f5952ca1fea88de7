//! End of a job of a cancelled run: not tried, with the cost that it had before.

use super::Worker;
use crate::{claim_job::unclaimed, interruption::Interruption, telemetry};
use juror_ledger::job_store::{Claim, ClaimKey, FinishedJob, UnattributedCost};
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
            telemetry::job_already_finished(metrics);
            Ok(*result)
        }
        Claim::Held => Err(Interruption::ClaimedElsewhere),
        Claim::Granted { fence, unattributed_cost, .. } => {
            let result = skipped(job, unattributed_cost);
            let claim = ClaimKey { fence, ..unclaimed };
            let finished = FinishedJob { claim, result: result.clone(), reply_to_cache: None };
            if !store.finish(finished).await? {
                return Err(Interruption::ClaimLost);
            }
            telemetry::job_finished(&result, metrics);
            Ok(result)
        }
    }
}

fn skipped(job: &Job, unattributed_cost: UnattributedCost) -> JobResult {
    let message = "the run was cancelled before this job's turn".to_owned();
    JobResult {
        cost_usd: unattributed_cost.cost,
        usage: unattributed_cost.usage,
        attempts: unattributed_cost.calls,
        unmetered_calls: unattributed_cost.unmetered_calls,
        error: Some(JobError { kind: ErrorKind::Cancelled, message }),
        ..JobResult::empty(job, Outcome::Skipped)
    }
}
