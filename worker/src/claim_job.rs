//! Claims: a job has one holder at a time.

use crate::{
    interruption::Interruption, poison_job::UnfinishedStarts, result_builder::ResultBuilder,
    run_context::RunContext, telemetry,
};
use juror_ledger::job_store::{Claim, ClaimKey};
use juror_types::{job::Job, outcome::JobResult};
use std::sync::Arc;
use tokio::time::Instant;

pub enum ClaimOutcome<'job> {
    /// The claim is granted to this worker.
    Claimed(Box<ClaimedJob<'job>>),
    /// The job has a result already.
    Finished(Box<JobResult>),
}

pub struct ClaimedJob<'job> {
    pub job: &'job Job,
    pub context: &'job Arc<RunContext>,
    /// Result so far.
    pub builder: ResultBuilder,
    /// Time by which its delivery must be requeued.
    pub requeue_by: Option<Instant>,
    /// Outages of the ledger before it was claimed.
    pub outages: u64,
    pub unfinished_starts: UnfinishedStarts,
}

pub async fn claim<'job>(
    job: &'job Job,
    context: &'job Arc<RunContext>,
) -> Result<ClaimOutcome<'job>, Interruption> {
    let requeue_by = context.max_wait.map(|max_wait| Instant::now() + max_wait);
    let unclaimed = unclaimed(job);
    match context.store.claim(&unclaimed, &context.owner).await? {
        Claim::Done(result) => {
            telemetry::job_already_finished(&context.metrics);
            Ok(ClaimOutcome::Finished(result))
        }
        Claim::Held => {
            telemetry::job_requeued(&Interruption::ClaimedElsewhere);
            Err(Interruption::ClaimedElsewhere)
        }
        Claim::Granted { fence, unfinished_starts: all, alone: isolated, unattributed_cost } => {
            let outages = context.admission.outages();
            let key = ClaimKey { fence, ..unclaimed };
            let builder = ResultBuilder::begin(job, context, key, unattributed_cost);
            let unfinished_starts = UnfinishedStarts { all, isolated };
            let claimed =
                ClaimedJob { job, context, builder, requeue_by, outages, unfinished_starts };
            Ok(ClaimOutcome::Claimed(Box::new(claimed)))
        }
    }
}

/// A job's claim before it is granted.
pub fn unclaimed(job: &Job) -> ClaimKey {
    ClaimKey { run: job.run_id.clone(), job: job.job_id.clone(), round: job.round, fence: 0 }
}
