//! The context of a process that judges one run of this machine.

use super::session::Session;
use crate::{
    error::AppError,
    settings::Settings,
    worker_resources::{WorkerResources, evidence, run_deadline, sources},
};
use juror_journal::journal::RunFiles;
use juror_ledger::{admission::AdmissionQueue, batches::BatchRecords, sqlite::SqliteLedger};
use juror_telemetry::Metrics;
use juror_types::{event::Events, id::OwnerId, lane::Lane, shutdown::Shutdown};
use juror_worker::{
    batch_lane::BatchLane,
    concurrency::Concurrency,
    context::{Context, JudgeSetup},
};
use std::{path::PathBuf, sync::Arc, thread::available_parallelism};
use tokio::time::Instant;

/// The context of a process that knows one run alone, but for what its own wiring adds.
pub fn of_one_run(
    session: &Session,
    backend: &Arc<SqliteLedger>,
    judge: Option<Arc<JudgeSetup>>,
) -> Result<Context, AppError> {
    let settings = &session.settings;
    let cores = available_parallelism().map_or(1, usize::from);
    let concurrency = match (settings.limits.max_concurrency, &judge) {
        (Some(limit), _) => Concurrency::fixed(limit),
        (None, Some(_)) => Concurrency::adaptive(),
        (None, None) => Concurrency::fixed(cores),
    };
    let resources = WorkerResources {
        backend: Arc::clone(backend),
        waiting: Arc::new(AdmissionQueue::new()),
        max_wait: None,
        evidence: evidence(settings),
        sources: sources(settings, &session.environment, roots(session))?,
        concurrency,
        isolation: Arc::default(),
        owner: OwnerId::random(),
        events: Events::silent(),
        metrics: Arc::new(Metrics::silent()),
    };
    Ok(resources.context(settings, session.rubric.clone(), judge, Shutdown::new()))
}

/// The folders that files of a session's dataset are read in.
pub fn roots(session: &Session) -> Vec<PathBuf> {
    let folder = session.dataset.folder().to_owned();
    [folder].into_iter().chain(session.settings.files.data_roots.iter().cloned()).collect()
}

/// Terms on which a run buys its calls in batches; none where it does not. A run that goes on in
/// another lane cancels its batches, collects what they have done, and asks the rest in ordinary
/// calls.
pub async fn batch_lane(
    settings: &Settings,
    backend: &Arc<SqliteLedger>,
    files: &RunFiles,
    judge: Option<&JudgeSetup>,
) -> Result<Option<Arc<BatchLane>>, AppError> {
    let Some((lane, provider)) =
        judge.and_then(|setup| Some((setup.terms.lane, setup.batches.clone()?)))
    else {
        return Ok(None);
    };
    let record = files.record();
    let shards = backend.shards(&record.run_id).await.map_err(AppError::internal)?;
    if !lane.is_batched() && shards.is_empty() {
        return Ok(None);
    }
    let limits = provider.limits();
    let until = match lane {
        Lane::Batch => run_deadline(record),
        Lane::Mixed => run_deadline(record).map(|deadline| {
            let reserve = settings.batch.realtime_reserve.0;
            deadline.checked_sub(reserve).unwrap_or_else(Instant::now)
        }),
        Lane::Realtime | Lane::Flex => Some(Instant::now()),
    };
    Ok(Some(Arc::new(BatchLane {
        provider,
        records: Arc::clone(backend) as Arc<dyn BatchRecords>,
        folder: files.directory().join("batches"),
        poll_min: settings.batch.poll_min.0,
        poll_max: settings.batch.poll_max.0,
        max_rows: settings.batch.max_rows.min(limits.rows),
        max_bytes: settings.batch.max_bytes.min(limits.bytes),
        delete_files: settings.batch.delete_files,
        falls_back: lane != Lane::Batch,
        until,
    })))
}
