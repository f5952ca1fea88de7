//! The worker's role in a fleet: queues, ledger, runs and background tasks.

use super::{
    Fleet, batch_folder::BatchFolder, context_factory::ContextFactory,
    run_state_cache::RunStateCache,
};
use crate::{
    batch_resources::BatchResources,
    environment::Environment,
    error::AppError,
    settings::Settings,
    worker_resources::{self as resources, WorkerResources},
};
use futures_util::future::BoxFuture;
use juror_ledger::{
    admission::{Admission as _, AdmissionQueue},
    batches::BatchRecords,
    redis::RedisLedger,
};
use juror_telemetry::Metrics;
use juror_types::{event::Events, id::OwnerId, shutdown::Shutdown};
use juror_worker::{
    concurrency::Concurrency,
    retrying_ledger::RetryingLedger,
    worker_role::{BatchKeeper, KeeperSettings, Worker, WorkerError},
};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// Time for which a job may wait for its next call before it is requeued: a delivery is held for at
/// most five minutes, of which the call itself may need one.
const MAX_WAIT: Duration = Duration::from_secs(4 * 60);
/// Interval of the heartbeat.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// A worker of a fleet that is ready to run.
pub struct WorkerRole<'fleet> {
    fleet: &'fleet Fleet,
    worker: Worker,
    runs: Arc<RunStateCache>,
    stop: Shutdown,
    drain_timeout: Duration,
    /// Removed with the role.
    _batch_folder: BatchFolder,
}

/// Resources of the process for a worker's role.
pub struct RoleResources<'process> {
    /// Settings of the process.
    pub settings: &'process Settings,
    /// Environment of the process.
    pub environment: &'process Environment,
    /// Receiver of warnings.
    pub events: Events,
    /// Metrics of the process.
    pub metrics: Arc<Metrics>,
    /// True if there is a renderer; without one, jobs that need it are left to other workers.
    pub renders: bool,
}

impl<'fleet> WorkerRole<'fleet> {
    /// A worker that stops at `shutdown`.
    ///
    /// # Errors
    /// [`AppError::Invalid`] for settings that cannot be used.
    pub fn new(
        fleet: &'fleet Fleet,
        process: RoleResources<'_>,
        shutdown: &Shutdown,
    ) -> Result<Self, AppError> {
        let settings = process.settings;
        let drain_timeout = Duration::from_secs(settings.fleet.drain_timeout_seconds);
        // The worker also stops itself after a fatal error.
        let stop = shutdown.child();
        let owner = OwnerId::random();
        let batch_folder = BatchFolder::open(settings, &owner);
        let (worker, runs) = wire(fleet, process, owner, batch_folder.path(), &stop)?;
        Ok(Self { fleet, worker, runs, stop, drain_timeout, _batch_folder: batch_folder })
    }

    /// Judges jobs until it is stopped or a fatal error.
    ///
    /// # Errors
    /// [`AppError::Invalid`] for a queue's refusal that the user must fix.
    pub fn run(self) -> BoxFuture<'fleet, Result<(), AppError>> {
        Box::pin(async move {
            let Self { fleet, worker, runs, stop, drain_timeout, _batch_folder } = self;
            let done = CancellationToken::new();
            let working = async {
                let ended = juror_worker::worker_role::run(worker, stop.clone()).await;
                done.cancel();
                ended
            };
            let (ended, ..) = tokio::join!(
                working,
                done.run_until_cancelled(send_heartbeats(&fleet.backend)),
                done.run_until_cancelled(stop_after_timeout(&stop, drain_timeout)),
                runs.watch(&done),
            );
            ended.map_err(|error| match error {
                WorkerError::Queue(error) => error.into(),
                error => AppError::internal(error),
            })
        })
    }
}

/// Refuses settings without a folder, host or bucket to read files from: every job would fail.
///
/// # Errors
/// [`AppError::Invalid`], with the remedy.
pub fn check_roots(settings: &Settings) -> Result<(), AppError> {
    let files = &settings.files;
    if files.data_roots.is_empty() && files.hosts.is_empty() && files.buckets.is_empty() {
        return Err(AppError::invalid(
            "a worker opens only files of configured folders, hosts and buckets: add the folders of \
             the datasets with --data-root DIR or files.data_roots, or set files.hosts or \
             files.buckets",
        ));
    }
    let unusable =
        |root: &Path| std::fs::read_dir(root).err().map(|error| (root.to_owned(), error));
    match files.data_roots.iter().find_map(|root| unusable(root)) {
        None => Ok(()),
        Some((root, error)) => Err(AppError::invalid(format!(
            "folder {} (--data-root) cannot be read: {error}; mount it, or use another one",
            root.display()
        ))),
    }
}

fn wire(
    fleet: &Fleet,
    process: RoleResources<'_>,
    owner: OwnerId,
    batch_folder: &Path,
    stop: &Shutdown,
) -> Result<(Worker, Arc<RunStateCache>), AppError> {
    let RoleResources { settings, environment, events, metrics, renders } = process;
    let retrying = Arc::new(RetryingLedger::new(Arc::clone(&fleet.backend), stop.clone()));
    let limit = settings.limits.max_concurrency;
    let concurrency = limit.map_or_else(Concurrency::adaptive, Concurrency::fixed);
    let resources = WorkerResources {
        backend: Arc::clone(&retrying),
        waiting: Arc::new(AdmissionQueue::measured(Arc::clone(&metrics))),
        max_wait: Some(MAX_WAIT),
        evidence: resources::evidence(settings),
        sources: resources::sources(settings, environment, settings.files.data_roots.clone())?,
        concurrency: concurrency.clone(),
        isolation: Arc::default(),
        owner: owner.clone(),
        events: events.clone(),
        metrics: Arc::clone(&metrics),
    };
    let records = Arc::clone(&retrying) as Arc<dyn BatchRecords>;
    let batches = BatchResources {
        records: Arc::clone(&records),
        owner: owner.clone(),
        folder: batch_folder.to_owned(),
    };
    let queues = &fleet.queues;
    let jobs = Arc::new(if renders { queues.jobs() } else { queues.jobs_without_rendering() });
    let results = Arc::new(queues.results());
    let keeper = KeeperSettings {
        seal_after: settings.batch.seal_after.0,
        owner_ttl: settings.batch.owner_timeout.0,
    };
    let keeper =
        BatchKeeper::for_fleet(keeper, (jobs.clone(), results.clone()), records, owner.clone());
    let (settings, environment) = (settings.clone(), environment.clone());
    let contexts = ContextFactory::new(settings, environment, resources, batches, stop.clone())?;
    let runs = Arc::new(RunStateCache::new(contexts));
    let worker = Worker {
        jobs,
        results,
        run_states: runs.clone(),
        store: retrying,
        owner,
        batches: Some(keeper),
        renders,
        concurrency,
        events,
        metrics,
    };
    Ok((worker, runs))
}

/// Sends heartbeats, and presumes the leases of dead processes spent.
async fn send_heartbeats(backend: &RedisLedger) {
    let mut ticks = interval(HEARTBEAT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = backend.sweep().await {
            tracing::debug!(%error, "heartbeat failed");
        }
    }
}

/// Stops the worker immediately if its drain exceeds the timeout.
async fn stop_after_timeout(stop: &Shutdown, drain_timeout: Duration) {
    stop.drain.cancelled().await;
    sleep(drain_timeout).await;
    tracing::warn!("drain timeout reached; unfinished jobs are requeued");
    stop.now.cancel();
}
