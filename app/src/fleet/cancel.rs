//! Cancellation of runs.

use super::job_rounds::job_rounds;
use crate::{
    batch_lane::LOCAL_OWNER, environment::Environment, error::AppError, judge,
    local_ledger::open_local_ledger, settings::Settings,
};
use futures_util::future::BoxFuture;
use juror_analysis::fold::{Fold, Rounds};
use juror_journal::journal::RunFiles;
use juror_ledger::{
    batches::BatchRecords as _,
    redis::{RedisLedger, RunStatus},
    sqlite::SqliteLedger,
};
use juror_types::{
    id::{OwnerId, RunId},
    run::RunRecord,
};
use juror_worker::batch::cancel_batches;
use serde::Serialize;

/// State of a run after a request to cancel it.
#[derive(Debug, Serialize)]
pub struct CancelSummary {
    /// The run.
    pub run_id: RunId,
    /// True if it is cancelled, now or before.
    pub cancelled: bool,
    /// True if each of its jobs has its result.
    pub complete: bool,
    /// Its planned jobs.
    pub planned: u64,
    /// Its published jobs.
    pub published: u64,
    /// Jobs that have a result.
    pub results: u64,
    /// Its scored jobs.
    pub scored: u64,
    /// Batches that were cancelled and are to be collected.
    #[serde(skip_serializing_if = "is_none")]
    pub batches: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(batches: &u32) -> bool {
    *batches == 0
}

/// Cancels the run unless each of its jobs has its result; returns its state.
pub fn cancel<'a>(
    backend: &'a RedisLedger,
    run: &'a RunId,
    settings: &'a Settings,
) -> BoxFuture<'a, Result<CancelSummary, AppError>> {
    Box::pin(async move {
        let unknown = || {
            AppError::not_found(format!(
                "the fleet {} knows no run {run}; `juror runs` lists those that have a report",
                settings.fleet.namespace
            ))
        };
        let status = backend.run_status(run).await.map_err(AppError::from)?.ok_or_else(unknown)?;
        // A run whose journal cannot be read is cancelled as one whose journal is elsewhere. What
        // the aggregator told last may be less than both, or be forgotten.
        let files = RunFiles::open(&settings.run.runs_dir, run);
        let fold = files.and_then(|files| Fold::of_journal(&files)).ok();
        let rounds = job_rounds(backend, run, fold.as_ref()).await?;
        let complete = status.is_reported()
            || status.expected.is_some_and(|expected| rounds.results() >= expected);
        if complete {
            return Ok(tally(&status, &rounds, complete));
        }
        backend.cancel_run(run).await.map_err(AppError::from)?;
        let status = backend.run_status(run).await.map_err(AppError::from)?.ok_or_else(unknown)?;
        Ok(tally(&status, &rounds, complete))
    })
}

fn tally(status: &RunStatus, rounds: &Rounds, complete: bool) -> CancelSummary {
    let told = status.progress.clone().unwrap_or_default();
    CancelSummary {
        run_id: status.record.run_id.clone(),
        cancelled: status.cancelled,
        complete,
        planned: status.record.planned,
        published: status.jobs(),
        results: told.jobs().max(rounds.jobs()),
        scored: told.scored.max(rounds.scored()),
        batches: 0,
    }
}

/// State of a run of this machine; one that goes on cannot be cancelled from here.
pub fn local_summary(files: &RunFiles) -> Result<CancelSummary, AppError> {
    let (run_id, planned) = (files.record().run_id.clone(), files.record().planned);
    let counts = Fold::of_journal(files).map_err(AppError::from)?;
    if files.is_held() {
        return Err(AppError::conflict(format!(
            "run {run_id} is one of this machine: press Ctrl-C where it runs, and it stops; one \
             that `juror serve` began is cancelled in its pages"
        )));
    }
    Ok(CancelSummary {
        run_id,
        cancelled: false,
        complete: counts.len() >= planned,
        planned,
        published: planned,
        results: counts.len(),
        scored: counts.counts().scored,
        batches: 0,
    })
}

/// Cancels the batches of a run of this machine; returns how many are to be collected.
pub fn cancel_local_batches<'a>(
    record: &'a RunRecord,
    settings: &'a Settings,
    environment: &'a Environment,
) -> BoxFuture<'a, Result<u32, AppError>> {
    Box::pin(async move {
        let backend = open_local_ledger(settings)?;
        let cancelled = cancel_in(&backend, record, settings, environment).await;
        backend.close().await;
        cancelled
    })
}

async fn cancel_in(
    backend: &SqliteLedger,
    record: &RunRecord,
    settings: &Settings,
    environment: &Environment,
) -> Result<u32, AppError> {
    let shards = backend.shards(&record.run_id).await.map_err(AppError::internal)?;
    if shards.is_empty() {
        return Ok(0);
    }
    let client = judge::client(settings, environment, judge::key(settings, environment)?)?;
    let owner = OwnerId::new(LOCAL_OWNER);
    let cancelled = cancel_batches(&record.run_id, &owner, &client, backend).await;
    cancelled.map_err(|error| {
        let run = &record.run_id;
        AppError::internal(format!("the batches of run {run} are not cancelled: {error}"))
    })
}
