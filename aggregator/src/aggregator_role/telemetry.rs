//! Metrics and log lines of commits and reports.

use super::{CompletedRun, incoming::Incoming};
use crate::aggregator_role::commit_work::CommittedWork;
use juror_telemetry::{MessageKind, Metrics};
use tracing::{debug, error_span, info};

/// Records a batch that was committed to its run's journal.
pub(super) fn committed(done: &CommittedWork, metrics: &Metrics) {
    let CommittedWork { run, batch, committed, .. } = done;
    for result in &committed.news {
        metrics.result_committed(result.outcome);
    }
    for _ in 0..committed.duplicates {
        metrics.duplicate(MessageKind::Result);
    }
    if batch.is_empty() {
        return;
    }
    // At the highest level, so that every line names the run at every log level.
    let _run = error_span!("run", %run).entered();
    info!(results = committed.news.len(), duplicates = committed.duplicates, "results committed");
    for incoming in batch {
        match incoming {
            Incoming::Result(delivery) => {
                if delivery.redelivered {
                    metrics.redelivered(MessageKind::Result);
                }
                let result = &delivery.message;
                debug!(job = %result.job_id, outcome = result.outcome.name(), "result committed");
            }
            Incoming::Dead(delivery) => {
                let job = &delivery.message.message.job_id;
                info!(%job, "the job was dead-lettered and has failed");
            }
        }
    }
}

/// Logs a run whose report has all its results.
pub(super) fn completed(completed: &CompletedRun) {
    let CompletedRun { run, coverage, cost_usd, .. } = completed;
    info!(%run, planned = coverage.planned, scored = coverage.scored, %cost_usd, "run complete");
}
