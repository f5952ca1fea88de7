//! The worker's role in a fleet: its queues, its ledger and its runs wired together, with what goes
//! on beside its jobs.

use super::{
    Fleet, batch_folder::BatchFolder, context_factory::ContextFactory, run_contexts::SeenRuns,
};
use crate::{
    batch_lane::BatchResources,
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
    run::{BatchKeeper, KeeperSettings, Worker, WorkerError},
};
use std::{path::Path, sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// Time that a job waits for its next call before it is put back: a delivery is never held for more
/// than five minutes, of which the call itself may need one.
const MAX_WAIT: Duration = Duration::from_secs(4 * 60);
/// Interval at which a process renews its presence.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A worker of a fleet, about to take jobs of any run.
pub struct WorkerRole<'fleet> {
    fleet: &'fleet Fleet,
    worker: Worker,
    runs: Arc<SeenRuns>,
    stop: Shutdown,
    drain_timeout: Duration,
    /// Removed with the role.
    _batch_folder: BatchFolder,
}

/// Resources of a process that are a worker's role.
pub struct RoleResources<'process> {
    /// Settings of the process.
    pub settings: &'process Settings,
    /// Its environment.
    pub environment: &'process Environment,
    /// Listeners.
    pub events: Events,
    /// Counters.
    pub metrics: Arc<Metrics>,
    /// True if it has a renderer. Jobs whose code has to be drawn are left to others otherwise.
    pub draws: bool,
}

impl<'fleet> WorkerRole<'fleet> {
    /// A worker that stops at `shutdown`.
    ///
    /// # Errors
    /// [`AppError::Invalid`] where the settings cannot be used.
    pub fn new(
        fleet: &'fleet Fleet,
        process: RoleResources<'_>,
        shutdown: &Shutdown,
    ) -> Result<Self, AppError> {
        let settings = process.settings;
        let drain_timeout = Duration::from_secs(settings.fleet.drain_timeout_seconds);
        // The worker stops itself where it cannot go on.
        let stop = Shutdown { drain: shutdown.drain.child_token(), now: shutdown.now.clone() };
        let owner = OwnerId::random();
        let batch_folder = BatchFolder::open(settings, &owner);
        let (worker, runs) = wire(fleet, process, owner, batch_folder.path(), &stop)?;
        Ok(Self { fleet, worker, runs, stop, drain_timeout, _batch_folder: batch_folder })
    }

    /// Works until it is stopped, or until it cannot go on.
    ///
    /// # Errors
    /// [`AppError::Invalid`] where a queue refuses what a person must mend.
    pub fn run(self) -> BoxFuture<'fleet, Result<(), AppError>> {
        Box::pin(async move {
            let Self { fleet, worker, runs, stop, drain_timeout, _batch_folder } = self;
            let over = CancellationToken::new();
            let working = async {
                let ended = juror_worker::run::run(worker, stop.clone()).await;
                over.cancel();
                ended
            };
            let (ended, ..) = tokio::join!(
                working,
                over.run_until_cancelled(renew_presence(&fleet.backend)),
                over.run_until_cancelled(end_in_time(&stop, drain_timeout)),
                runs.watch(&over),
            );
            ended.map_err(|error| match error {
                WorkerError::Queue(error) => error.into(),
                error => AppError::internal(error),
            })
        })
    }
}

fn wire(
    fleet: &Fleet,
    process: RoleResources<'_>,
    owner: OwnerId,
    batch_folder: &Path,
    stop: &Shutdown,
) -> Result<(Worker, Arc<SeenRuns>), AppError> {
    let RoleResources { settings, environment, events, metrics, draws } = process;
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
    let jobs = Arc::new(if draws { queues.jobs() } else { queues.jobs_without_drawing() });
    let results = Arc::new(queues.results());
    let keeper = KeeperSettings {
        seal_after: settings.batch.seal_after.0,
        owner_ttl: settings.batch.owner_timeout.0,
    };
    let keeper =
        BatchKeeper::for_fleet(keeper, (jobs.clone(), results.clone()), records, owner.clone());
    let (settings, environment) = (settings.clone(), environment.clone());
    let contexts = ContextFactory::new(settings, environment, resources, batches, stop.clone())?;
    let runs = Arc::new(SeenRuns::new(contexts));
    let worker = Worker {
        jobs,
        results,
        run_states: runs.clone(),
        store: retrying,
        owner,
        batches: Some(keeper),
        draws,
        concurrency,
        events,
        metrics,
    };
    Ok((worker, runs))
}

/// Says again and again that this process lives, and what of others that do not is spent.
async fn renew_presence(backend: &RedisLedger) {
    let mut ticks = interval(HEARTBEAT);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = backend.sweep().await {
            tracing::debug!(%error, "no heartbeat");
        }
    }
}

/// Once the worker stops, ends it at once after this time.
async fn end_in_time(stop: &Shutdown, drain_timeout: Duration) {
    stop.drain.cancelled().await;
    sleep(drain_timeout).await;
    tracing::warn!("not everything could be finished in time: the rest is given back");
    stop.now.cancel();
}

/// Refuses settings without a folder, host or bucket that files may be read from: every job would
/// fail.
///
/// # Errors
/// [`AppError::Invalid`], with the remedy.
pub fn check_roots(settings: &Settings) -> Result<(), AppError> {
    let files = &settings.files;
    if files.data_roots.is_empty() && files.hosts.is_empty() && files.buckets.is_empty() {
        return Err(AppError::invalid(
            "a worker opens only files of folders, hosts and buckets that it was given: name the \
             folders that the datasets lie in with --data-root DIR, or in files.data_roots, or \
             allow files.hosts or files.buckets",
        ));
    }
    let unusable =
        |root: &Path| std::fs::read_dir(root).err().map(|error| (root.to_owned(), error));
    match files.data_roots.iter().find_map(|root| unusable(root)) {
        None => Ok(()),
        Some((root, error)) => Err(AppError::invalid(format!(
            "folder {} (--data-root) cannot be read: {error}; mount it, or name another one",
            root.display()
        ))),
    }
}
