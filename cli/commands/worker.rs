//! `juror worker`: takes jobs of any run of its fleet, and judges them.

use crate::{
    args::{GlobalFlags, JudgingFlags, WorkerArguments},
    exit::{Exit, Failure},
    health_server::HealthServer,
    interactive,
    progress::{self, ProgressDisplay, RunTally},
    settings_sources as layers, terminal as screen,
};
use juror_app::{
    batch_lane::BatchResources,
    environment::Environment,
    fleet::{
        Fleet, batch_folder::BatchFolder, context_factory::ContextFactory, run_contexts::SeenRuns,
    },
    rendering::find_renderer,
    settings::{Layer, Settings},
    worker_resources::{self as resources, WorkerResources},
};
use juror_ledger::{
    admission::{Admission as _, AdmissionQueue},
    batches::BatchRecords,
    redis::RedisLedger,
};
use juror_queue::QueueError;
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

/// Runs `juror worker` until it is stopped.
pub async fn run(arguments: &WorkerArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let base = layers::read(global)?;
    let settings = base.settle(arguments.layers())?;
    check_roots(&settings)?;
    let display = ProgressDisplay::of_a_role(global.quiet);
    let (ended, _) = interactive::run(
        |events| progress::follow(events, display, RunTally::default()),
        async |events: Events, shutdown: &Shutdown| {
            let opening = Fleet::open(&settings, events.clone());
            let Some(opened) = shutdown.drain.run_until_cancelled(opening).await else {
                return Ok(());
            };
            let fleet = opened?;
            let settings = (&settings, base.environment());
            let ended = serve(&fleet, settings, events, shutdown, global.quiet).await;
            fleet.close().await;
            ended
        },
    )
    .await;
    ended.map(|()| Exit::Done)
}

/// Works until a signal, or until it cannot go on.
async fn serve(
    fleet: &Fleet,
    (settings, environment): (&Settings, &Environment),
    events: Events,
    shutdown: &Shutdown,
    quiet: bool,
) -> Result<(), Failure> {
    let health_server = HealthServer::open(settings).await?;
    let metrics =
        Arc::new(health_server.as_ref().map_or_else(Metrics::silent, |_| Metrics::recording()));
    // The worker stops itself where it cannot go on.
    let stop = Shutdown { drain: shutdown.drain.child_token(), now: shutdown.now.clone() };
    let owner = OwnerId::random();
    let batch_folder = BatchFolder::open(settings, &owner);
    let process = Process { owner, batch_folder: batch_folder.path(), events, metrics: &metrics };
    let renderer = find_renderer(settings).await;
    let (worker, runs) = worker(fleet, (settings, environment), process, renderer.is_ok(), &stop)?;
    if !quiet {
        let drawing = match renderer {
            Ok(renderer) => format!("draws with {renderer}"),
            Err(reason) => format!("draws nothing ({reason})"),
        };
        screen::tell(&format!("ready: {}, {drawing}", describe(fleet, settings)));
    }
    let over = CancellationToken::new();
    let working = async {
        let ended = juror_worker::run::run(worker, stop.clone()).await;
        over.cancel();
        ended
    };
    let beside = async {
        let drain_timeout = Duration::from_secs(settings.fleet.drain_timeout_seconds);
        tokio::join!(
            over.run_until_cancelled(beat(&fleet.backend)),
            over.run_until_cancelled(end_in_time(&stop, drain_timeout)),
            runs.watch(&over),
            HealthServer::serve(health_server, fleet, &metrics, &over),
        )
    };
    let (ended, _) = tokio::join!(working, beside);
    ended.map_err(|error| match error {
        WorkerError::Queue(QueueError::Refused(_)) => Failure::usage(error),
        _ => Failure::error(error),
    })
}

/// Identity and listeners of the process.
struct Process<'a> {
    owner: OwnerId,
    batch_folder: &'a Path,
    events: Events,
    metrics: &'a Arc<Metrics>,
}

fn worker(
    fleet: &Fleet,
    (settings, environment): (&Settings, &Environment),
    Process { owner, batch_folder, events, metrics }: Process<'_>,
    draws: bool,
    stop: &Shutdown,
) -> Result<(Worker, Arc<SeenRuns>), Failure> {
    let retrying = Arc::new(RetryingLedger::new(Arc::clone(&fleet.backend), stop.clone()));
    let waiting = AdmissionQueue::measured(Arc::clone(metrics));
    let limit = settings.limits.max_concurrency;
    let concurrency = limit.map_or_else(Concurrency::adaptive, Concurrency::fixed);
    let resources = WorkerResources {
        backend: Arc::clone(&retrying),
        waiting: Arc::new(waiting),
        max_wait: Some(MAX_WAIT),
        evidence: resources::evidence(settings),
        sources: resources::sources(settings, environment, settings.files.data_roots.clone())?,
        concurrency: concurrency.clone(),
        isolation: Arc::default(),
        owner: owner.clone(),
        events: events.clone(),
        metrics: Arc::clone(metrics),
    };
    let batches = BatchResources {
        records: Arc::clone(&retrying) as Arc<dyn BatchRecords>,
        owner: owner.clone(),
        folder: batch_folder.to_owned(),
    };
    let queues = &fleet.queues;
    let jobs = if draws { queues.jobs() } else { queues.jobs_without_drawing() };
    let (jobs, results) = (Arc::new(jobs), Arc::new(queues.results()));
    let keeper = BatchKeeper::new(
        KeeperSettings {
            seal_after: settings.batch.seal_after.0,
            owner_ttl: settings.batch.owner_timeout.0,
        },
        (jobs.clone(), results.clone()),
        Arc::clone(&batches.records),
        owner.clone(),
    );
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
        metrics: Arc::clone(metrics),
    };
    Ok((worker, runs))
}

/// Says again and again that this process lives, and what of others that do not is spent.
async fn beat(backend: &RedisLedger) {
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

/// A worker reads files from its folders, hosts and buckets only, so one without any would fail
/// every job.
fn check_roots(settings: &Settings) -> Result<(), Failure> {
    let files = &settings.files;
    if files.data_roots.is_empty() && files.hosts.is_empty() && files.buckets.is_empty() {
        return Err(Failure::usage(
            "a worker opens only files of folders, hosts and buckets that it was given: name the \
             folders that the datasets lie in with --data-root DIR, or in files.data_roots, or \
             allow files.hosts or files.buckets",
        ));
    }
    let unusable =
        |root: &Path| std::fs::read_dir(root).err().map(|error| (root.to_owned(), error));
    match settings.files.data_roots.iter().find_map(|root| unusable(root)) {
        None => Ok(()),
        Some((root, error)) => Err(Failure::usage(format!(
            "folder {} (--data-root) cannot be read: {error}; mount it, or name another one",
            root.display()
        ))),
    }
}

fn describe(fleet: &Fleet, settings: &Settings) -> String {
    let calls = match settings.limits.max_concurrency {
        Some(limit) => format!("{limit} calls at once"),
        None => "16 calls at once at first, then as many as the judge bears".to_owned(),
    };
    format!(
        "{}, Redis at {}, namespace {}, {calls}",
        fleet.queues.address(),
        fleet.backend.address(),
        settings.fleet.namespace
    )
}

impl WorkerArguments {
    fn layers(&self) -> Vec<Layer> {
        let data_root = self.data_root.clone();
        let judging = JudgingFlags { data_root, ..JudgingFlags::default() };
        let mut layers =
            [judging.layers(), self.calling.layers(), self.fleet.layers(), self.serving.layers()]
                .concat();
        layers.extend(self.drain_timeout.map(|seconds| {
            let seconds = i64::from(seconds);
            Layer::of("fleet", "drain_timeout_seconds", seconds)
        }));
        layers
    }
}
