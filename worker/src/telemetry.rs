//! Metrics and log lines of jobs and calls. Reasons are reduced to their class, since a provider's
//! message may quote the question or the answer. Facts for the user are events, not log lines.

use crate::{
    context::Context,
    interruption::Interruption,
    retry::NextStep,
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
    metrics.job_in_hand()
}

/// Counts a delivered job whose result was stored before.
pub fn job_was_finished(metrics: &Metrics) {
    metrics.duplicate(MessageKind::Job);
    debug!("the job was finished before; its result is published again");
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
pub fn call_ended(call: &Call, has_verdict: bool, cost: CallCost, model: &str, context: &Context) {
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
        NextStep::RetryAfter(pause) => ("calling again", Some(pause)),
        NextStep::Cooldown(pause) => ("calling again when the provider allows it", Some(pause)),
        NextStep::AwaitPermit => ("calling again with fewer calls at once", None),
        NextStep::RetryLonger => ("asking again with a larger output limit", None),
        NextStep::Retry => ("asking again, since the answer holds no verdict", None),
        _ => return,
    };
    debug!(after_ms = pause.map(|pause| milliseconds(*pause)), "{what}");
}

/// Logs a job that is requeued without a result.
pub fn job_put_back(interruption: &Interruption) {
    match interruption {
        Interruption::Paused(_) => info!("job put back: its run is paused"),
        Interruption::UnknownRun(_) => info!("job put back: nothing is known of its run"),
        Interruption::WaitTimeout => info!("job put back: it has waited for its call for long"),
        Interruption::ClaimedElsewhere => info!("job put back: another worker has it in hand"),
        Interruption::FileNotHere(_) => info!("job put back: a file of it is not here"),
        Interruption::NotDrawnHere => info!("job put back: this worker draws nothing"),
        Interruption::LedgerOutage => info!("job put back: the ledger was away meanwhile"),
        _ => debug!("job put back: the worker or its run stops"),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
