//! Evaluation of one job, from claim to result.

use crate::{
    claim_job::{ClaimOutcome, claim},
    interruption::Interruption,
    judge_request::PreparedRequest,
    judging::Judged,
    prepare_job::{PreparedJob, prepare},
    result_builder::ResultBuilder,
    run_context::RunContext,
    telemetry,
};
use juror_ledger::job_store::{ClaimKey, FinishedJob};
use juror_types::{job::Job, outcome::JobResult};
use std::sync::Arc;

/// A job after every step that needs no call.
pub(crate) enum PreparationOutcome {
    Finished(Box<JobResult>),
    /// The judge of the job must be called. The claim is released.
    NeedsCall(Box<PreparedRequest>, Box<ResultBuilder>),
}

/// Judges one job. A failure of the job itself is an outcome; an [`Interruption`] concerns the
/// worker or the run.
pub async fn evaluate(job: &Job, context: &Arc<RunContext>) -> Result<JobResult, Interruption> {
    let claimed = match claim(job, context).await? {
        ClaimOutcome::Claimed(claimed) => claimed,
        ClaimOutcome::Finished(result) => return Ok(*result),
    };
    let key = claimed.builder.claim.clone();
    let evaluating = async {
        // Boxed: the future is large, and a worker's stack is small.
        let finished = match Box::pin(prepare(*claimed)).await? {
            PreparedJob::Finished(finished) => finished,
            PreparedJob::NeedsCall(judging, prepared, builder) => {
                match judging.judge(*prepared, builder).await? {
                    Judged::Stored(result) => return Ok(*result),
                    Judged::Unstored(finished) => *finished,
                }
            }
        };
        store(finished, context).await
    };
    let evaluated = evaluating.await;
    record_end(evaluated.as_ref(), &key, context).await?;
    evaluated
}

/// Performs every step of a job that needs no call.
pub(crate) async fn prepare_without_call(
    job: &Job,
    context: &Arc<RunContext>,
) -> Result<PreparationOutcome, Interruption> {
    let claimed = match claim(job, context).await? {
        ClaimOutcome::Claimed(claimed) => claimed,
        ClaimOutcome::Finished(result) => return Ok(PreparationOutcome::Finished(result)),
    };
    let key = claimed.builder.claim.clone();
    let ended = match Box::pin(prepare(*claimed)).await {
        Ok(PreparedJob::NeedsCall(_, prepared, builder)) => {
            context.store.requeue(&key).await?;
            return Ok(PreparationOutcome::NeedsCall(prepared, Box::new(builder)));
        }
        Ok(PreparedJob::Finished(finished)) => store(finished, context).await,
        Err(interruption) => Err(interruption),
    };
    record_end(ended.as_ref(), &key, context).await?;
    ended.map(|result| PreparationOutcome::Finished(Box::new(result)))
}

/// Counts a result for the metrics and for the circuit breaker.
pub(crate) async fn record_result(result: &JobResult, context: &RunContext) {
    telemetry::job_finished(result, &context.metrics);
    if context.breaker.item_ended(result) {
        // A store without a count for the whole fleet leaves this process's own.
        let streak = context.store.count_unusable(&result.run_id).await;
        context.breaker.check(streak.unwrap_or_default());
    }
    if context.breaker.is_open() {
        // Stops the run's other jobs before they are paid for.
        context.shutdown.drain.cancel();
    }
}

/// Stores a result and counts it.
pub(crate) async fn store_and_record(
    finished: FinishedJob,
    context: &RunContext,
) -> Result<Box<JobResult>, Interruption> {
    let result = store(finished, context).await?;
    record_result(&result, context).await;
    Ok(Box::new(result))
}

/// Records the end of the work on a claimed job.
async fn record_end(
    ended: Result<&JobResult, &Interruption>,
    claim: &ClaimKey,
    context: &RunContext,
) -> Result<(), Interruption> {
    match ended {
        Ok(result) => record_result(result, context).await,
        // The claim is another worker's, or the ledger cannot take it back.
        Err(
            Interruption::ClaimLost
            | Interruption::ClaimedElsewhere
            | Interruption::Pausing
            | Interruption::Ledger(_),
        ) => {}
        Err(interruption) => {
            telemetry::job_requeued(interruption);
            // A job that is given back in order does not count as a crash.
            context.store.requeue(claim).await?;
        }
    }
    Ok(())
}

async fn store(finished: FinishedJob, context: &RunContext) -> Result<JobResult, Interruption> {
    let result = finished.result.clone();
    if context.store.finish(finished).await? { Ok(result) } else { Err(Interruption::ClaimLost) }
}
