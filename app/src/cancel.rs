//! State of a cancelled run, and cancellation of the batches of runs of this machine: only its own
//! process stops an active one.

use crate::{
    batch_resources::LOCAL_OWNER, environment::Environment, error::AppError, judge,
    local_ledger::open_local_ledger, settings::Settings,
};
use futures_util::future::BoxFuture;
use juror_analysis::fold::Fold;
use juror_journal::journal::RunFiles;
use juror_ledger::{batches::BatchRecords as _, error::LedgerError, sqlite::SqliteLedger};
use juror_types::{
    id::{OwnerId, RunId},
    is_default,
    run::RunRecord,
};
use juror_worker::batch::{CancelBatchesError, cancel_batches};
use serde::Serialize;

/// State of a run after a request to cancel it.
#[derive(Debug, Serialize)]
pub struct CancelSummary {
    /// Id of the run.
    pub run_id: RunId,
    /// True if it is cancelled, now or before.
    pub cancelled: bool,
    /// True if every job has a result.
    pub complete: bool,
    /// Number of planned jobs.
    pub planned: u64,
    /// Number of published jobs.
    pub published: u64,
    /// Number of jobs with a result.
    pub results: u64,
    /// Number of scored jobs.
    pub scored: u64,
    /// Number of cancelled batches whose results are not collected yet.
    #[serde(skip_serializing_if = "is_default")]
    pub batches: u32,
}

/// State of a run of this machine.
///
/// # Errors
/// [`AppError::Conflict`] for an active run, which only its own process can stop.
pub fn local_summary(files: &RunFiles) -> Result<CancelSummary, AppError> {
    let (run_id, planned) = (files.record().run_id.clone(), files.record().planned);
    let counts = Fold::from_journal(files)?;
    if files.is_held() {
        return Err(AppError::conflict(format!(
            "run {run_id} is a run of this machine: stop it with Ctrl-C in its terminal, or, if \
             `juror serve` started it, cancel it in the dashboard; then cancel batches that it \
             waits for with: juror cancel {run_id}"
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

/// Cancels the batches of a run of this machine; returns the number of batches to collect.
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
    let shards = backend.shards(&record.run_id).await?;
    if shards.is_empty() {
        return Ok(0);
    }
    let client = judge::client(settings, environment, judge::key(settings, environment)?)?;
    let owner = OwnerId::new(LOCAL_OWNER);
    let pause = settings.batch.poll_min.0;
    let cancelled = cancel_batches(&record.run_id, &owner, &client, backend, pause).await;
    cancelled.map_err(|error| {
        let run = &record.run_id;
        let message = format!("the batches of run {run} cannot be cancelled: {error}");
        match error {
            CancelBatchesError::Ledger(LedgerError::Broken(_)) => AppError::invalid(message),
            CancelBatchesError::Ledger(LedgerError::Unavailable(_))
            | CancelBatchesError::Provider(_) => AppError::unavailable(message),
        }
    })
}
