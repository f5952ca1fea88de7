//! Metrics and log lines of jobs and calls. Reasons are reduced to their class, since a provider's
//! message may quote the request or the reply. Facts for the user are events, not log lines.

use crate::{
    interruption::Interruption,
    retry_policy::NextStep,
    run_context::RunContext,
    vision::{Call, CallEnd},
};
use juror_queue::Delivery;
use juror_telemetry::{CallCost, MessageKind, Metrics, Ongoing};
use juror_types::{job::Job, outcome::JobResult};
use std::time::Duration;
use tracing::{Span, debug, error_span, info};

/// The span of a job's work, so that every log line names run and job. It has the highest level, so
/// that it exists at every log level.
pub fn span(job: &Job) -> Span {
    error_span!("job", run = %job.run_id, job = %job.job_id)
}

/// Counts a job that was delivered.
pub fn job_taken(delivery: &Delivery<Job>, metrics: &Metrics) -> Ongoing {
    if delivery.redelivered {
        metrics.redelivered(MessageKind::Job);
    }
    metrics.job_in_progress()
}

/// Counts a delivered job whose result was stored before.
pub fn job_already_finished(metrics: &Metrics) {
    metrics.duplicate(MessageKind::Job);
    debug!("the job was already finished; publishing its result again");
}

/// Counts a job whose result is stored.
pub fn job_finished(result: &JobResult, metrics: &Metrics) {
    metrics.job_finished(result);
    info!(
        outcome = result.outcome.name(),
        error = result.error.as_ref().map(|error| error.kind.name()),
        attempts = result.attempts,
        cost_usd = %result.cost_usd,
        cached = result.cached,
        latency_ms = result.total_latency_ms,
        "job finished"
    );
}

/// Counts a call that ended, with or without a verdict.
pub fn call_ended(
    call: &Call,
    has_verdict: bool,
    cost: CallCost,
    model: &str,
    context: &RunContext,
) {
    let result = call.end.result(has_verdict);
    context.metrics.call_ended(model, result, call.latency, cost);
    let latency_ms = milliseconds(call.latency);
    debug!(model, result = result.name(), status = call.end.status(), latency_ms, "call ended");
    if let CallEnd::Account { problem, .. } = &call.end {
        info!(%problem, "the run is paused");
    }
}

/// Logs a job that continues after a failed call.
pub fn log_retry(next: &NextStep) {
    let (what, pause) = match next {
        NextStep::RetryAfter(pause) => ("retrying", Some(pause)),
        NextStep::Cooldown(pause) => ("retrying after the provider's cooldown", Some(pause)),
        NextStep::AwaitPermit => ("retrying with fewer concurrent calls", None),
        NextStep::RetryLonger => ("retrying with a larger output limit", None),
        NextStep::Retry => ("retrying, since the reply has no verdict", None),
        _ => return,
    };
    debug!(after_ms = pause.map(|pause| milliseconds(*pause)), "{what}");
}

/// Logs a job that is requeued without a result.
pub fn job_requeued(interruption: &Interruption) {
    match interruption {
        Interruption::Paused(_) | Interruption::Pausing => info!("job requeued: its run is paused"),
        Interruption::UnknownRun(_) => info!("job requeued: its run is unknown"),
        Interruption::WaitTimeout => info!("job requeued: it waited too long for its call"),
        Interruption::ClaimedElsewhere => info!("job requeued: it is claimed by another worker"),
        Interruption::FileNotHere(_) => info!("job requeued: a file of it is not available here"),
        Interruption::RenderingUnsupported => info!("job requeued: this worker does not render"),
        Interruption::LedgerOutage => info!("job requeued: the ledger was unavailable meanwhile"),
        _ => debug!("job requeued: the worker or its run is stopping"),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
