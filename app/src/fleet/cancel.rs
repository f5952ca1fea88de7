//! Cancellation of a fleet's runs.

use super::retry_plan::job_rounds;
use crate::{cancel::CancelSummary, error::AppError, settings::Settings};
use futures_util::future::BoxFuture;
use juror_analysis::fold::{Fold, Rounds};
use juror_journal::journal::RunFiles;
use juror_ledger::redis::{RedisLedger, RunStatus};
use juror_types::id::RunId;

/// Cancels the run unless every job has a result; returns its state.
pub fn cancel<'a>(
    backend: &'a RedisLedger,
    run: &'a RunId,
    settings: &'a Settings,
) -> BoxFuture<'a, Result<CancelSummary, AppError>> {
    Box::pin(async move {
        let unknown = || {
            AppError::not_found(format!(
                "run {run} is unknown in fleet {}; `juror runs` lists the runs with a report",
                settings.fleet.namespace
            ))
        };
        let status = backend.run_status(run).await?.ok_or_else(unknown)?;
        // An unreadable journal is treated as one on another machine. The aggregator's last
        // progress may be behind both, or may have expired.
        let files = RunFiles::open(&settings.run.runs_dir, run);
        let fold = files.and_then(|files| Fold::from_journal(&files)).ok();
        let rounds = job_rounds(backend, run, fold.as_ref()).await?;
        let complete = status.is_reported()
            || status.expected.is_some_and(|expected| rounds.results() >= expected);
        if complete {
            return Ok(summary(&status, &rounds, complete));
        }
        backend.cancel_run(run).await?;
        let status = backend.run_status(run).await?.ok_or_else(unknown)?;
        Ok(summary(&status, &rounds, complete))
    })
}

fn summary(status: &RunStatus, rounds: &Rounds, complete: bool) -> CancelSummary {
    let progress = status.progress.clone().unwrap_or_default();
    CancelSummary {
        run_id: status.record.run_id.clone(),
        cancelled: status.cancelled,
        complete,
        planned: status.record.planned,
        published: status.jobs(),
        results: progress.counts.total().max(rounds.jobs()),
        scored: progress.counts.scored.max(rounds.scored()),
        batches: 0,
    }
}
