//! Claims: a job has one holder at a time, and a job that kills its workers is detected.

use crate::{
    interruption::Interruption, result_builder::ResultBuilder, run_context::RunContext, telemetry,
};
use juror_ledger::job_store::{Claim, ClaimKey};
use juror_types::{
    job::Job,
    outcome::{ErrorKind, JobError, JobResult},
};
use std::sync::Arc;
use tokio::time::Instant;

/// Number of unfinished starts after which a job may have killed its workers, and is prepared
/// alone.
const MAX_UNFINISHED_STARTS: u32 = 2;
/// Number of unfinished starts alone after which a job has killed its workers. Starts beside other
/// jobs prove nothing: whatever ends a process ends every job in it.
const MAX_ISOLATED_STARTS: u32 = 3;

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
    /// Number of earlier starts that never ended.
    starts: u32,
    /// Number of those starts that ran alone.
    isolated_starts: u32,
}

impl ClaimedJob<'_> {
    /// True if it may have killed its workers.
    pub fn is_suspect(&self) -> bool {
        self.starts >= MAX_UNFINISHED_STARTS
    }

    /// The error of a job that has killed its workers.
    pub fn poison(&self) -> Option<JobError> {
        (self.isolated_starts >= MAX_ISOLATED_STARTS).then(|| {
            let message = format!(
                "started {} times, the last times isolated, and never finished: it probably kills its \
                 worker; inspect its files, then judge it again with `juror dead-letters replay`, \
                 or with `juror retry`, which retries all unscored jobs of its run",
                self.starts
            );
            JobError { kind: ErrorKind::Poison, message }
        })
    }
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
        Claim::Granted {
            fence,
            unfinished_starts: starts,
            alone: isolated_starts,
            unattributed_cost,
        } => {
            let outages = context.admission.outages();
            let key = ClaimKey { fence, ..unclaimed };
            let builder = ResultBuilder::begin(job, context, key, unattributed_cost);
            let claimed =
                ClaimedJob { job, context, builder, requeue_by, outages, starts, isolated_starts };
            Ok(ClaimOutcome::Claimed(Box::new(claimed)))
        }
    }
}

/// A job's claim before it is granted.
pub fn unclaimed(job: &Job) -> ClaimKey {
    ClaimKey { run: job.run_id.clone(), job: job.job_id.clone(), round: job.round, fence: 0 }
}
