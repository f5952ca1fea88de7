//! `juror aggregate`: commits the fleet's results to journals and writes reports.

use crate::{
    args::{AggregateArguments, GlobalFlags},
    exit::{Exit, Failure},
    health_server::HealthServer,
    interactive, settings_sources, terminal,
};
use juror_aggregator::fleet::{
    self, AggregatorError, CompletedRun, FleetBackend, FleetOptions, FleetResources, LockRole,
    ReportOptions, RunsLock,
};
use juror_analysis::format::dollars;
use juror_app::{
    budgets::alerts::{AlertWatch, RETRY_PAUSES},
    error::AppError,
    fleet::Fleet,
    reporting::{calibrations, fleet_baselines::FleetBaselines},
    settings::Settings,
};
use juror_ledger::error::LedgerError;
use juror_queue::Queue as _;
use juror_report::phrasing::coverage_text;
use juror_telemetry::{Condition, Metrics};
use juror_types::{
    event::{Event, Events},
    shutdown::Shutdown,
};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{mpsc, watch},
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

const EVENT_CAPACITY: usize = 1_000;
/// Interval at which a standby tries to acquire the lock.
const LOCK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which queues and budgets are measured.
const MEASURE_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of unacknowledged dead letters; there are few.
const DEAD_LETTER_PREFETCH: usize = 16;

pub async fn run(arguments: &AggregateArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let flags = [arguments.fleet.layers(), arguments.serving.layers()].concat();
    let settings = settings_sources::settle(global, flags)?;
    let (completed, complete) = mpsc::channel(EVENT_CAPACITY);
    let (role, role_changes) = watch::channel(LockRole::default());
    let output = AggregateOutput {
        fleet: settings.fleet.namespace.clone(),
        runs_dir: settings.run.runs_dir.display().to_string(),
        json: global.json,
        quiet: global.quiet,
    };
    let (outcome, _) = interactive::run(
        |events| output.follow(events, complete, role_changes),
        async |events, shutdown: &Shutdown| {
            let channels = AggregateChannels { events, completed, role };
            aggregate(&settings, arguments.take_over, channels, shutdown).await
        },
    )
    .await;
    outcome.map(|()| Exit::Done)
}

/// Senders of the aggregator's events, completed runs and lock role.
struct AggregateChannels {
    events: Events,
    completed: mpsc::Sender<CompletedRun>,
    role: watch::Sender<LockRole>,
}

async fn aggregate(
    settings: &Settings,
    take_over: bool,
    channels: AggregateChannels,
    shutdown: &Shutdown,
) -> Result<(), Failure> {
    let health_server = HealthServer::open(settings).await?;
    // The connection may wait for the broker until a timeout.
    let opening = Fleet::open(settings, channels.events.clone());
    let Some(opened) = shutdown.drain.run_until_cancelled(opening).await else { return Ok(()) };
    let fleet = opened?;
    let outcome = serve(&fleet, settings, take_over, channels, health_server, shutdown).await;
    fleet.close().await;
    outcome
}

/// Runs the aggregator, active or standby, together with the HTTP listener.
async fn serve(
    fleet: &Fleet,
    settings: &Settings,
    take_over: bool,
    channels: AggregateChannels,
    health_server: Option<HealthServer>,
    shutdown: &Shutdown,
) -> Result<(), Failure> {
    let metrics =
        Arc::new(health_server.as_ref().map_or_else(Metrics::silent, |_| Metrics::recording()));
    let lock = health_server.as_ref().map(|health_server| health_server.require("lock"));
    let role = channels.role.subscribe();
    let ended = CancellationToken::new();
    let working = async {
        let outcome = work(fleet, settings, take_over, channels, &metrics, shutdown).await;
        ended.cancel();
        outcome
    };
    let (outcome, ..) = tokio::join!(
        working,
        HealthServer::serve(health_server, fleet, &metrics, &ended),
        ended.run_until_cancelled(follow_lock(lock, role)),
    );
    outcome
}

/// Sets the readiness condition `lock` once the aggregator is active or standby.
async fn follow_lock(lock: Option<Condition>, mut role: watch::Receiver<LockRole>) {
    let Some(lock) = lock else { return };
    let is_known = role.wait_for(|role| *role != LockRole::Starting).await.is_ok();
    lock.set(is_known);
    // The condition is met until it is dropped.
    std::future::pending::<()>().await;
}

async fn work(
    fleet: &Fleet,
    settings: &Settings,
    take_over: bool,
    channels: AggregateChannels,
    metrics: &Arc<Metrics>,
    shutdown: &Shutdown,
) -> Result<(), Failure> {
    let AggregateChannels { events, completed, role } = channels;
    let calibration = calibrations::named(settings)?;
    let runs_dir = &settings.run.runs_dir;
    let waiting = RunsLock::wait(runs_dir, LOCK_INTERVAL, shutdown, &role);
    let Some(lock) = waiting.await.map_err(Failure::error)? else { return Ok(()) };
    // Before the first delivery: the results may belong to another directory.
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let directory = fleet::identify(&lock, host).map_err(Failure::error)?;
    fleet::claim(fleet.backend.as_ref(), &directory, take_over).await.map_err(role_failure)?;
    let reports = ReportOptions {
        averaging: settings.run.averaging_policy(),
        gate: settings.run.gate.clone(),
        calibration,
        comparer: Some(Arc::new(FleetBaselines::new(settings.clone()))),
    };
    let options = FleetOptions { reports, ..FleetOptions::default() };
    let results = fleet.queues.results().subscribe(options.prefetch()).await;
    let resources = FleetResources {
        lock,
        directory,
        results: results.map_err(AppError::from)?,
        dead: fleet.queues.poison(DEAD_LETTER_PREFETCH).await.map_err(AppError::from)?,
        jobs: Arc::new(fleet.queues.jobs()),
        dead_letters: Arc::new(fleet.queues.jobs()),
        held: Arc::new(fleet.queues.jobs()),
        backend: Arc::clone(&fleet.backend) as Arc<dyn FleetBackend>,
        events: events.clone(),
        completed,
        metrics: Arc::clone(metrics),
        options,
    };
    let measured = settings.fleet.listen.is_some();
    tokio::select! {
        ended = fleet::run(resources, shutdown.clone()) => ended.map(drop).map_err(role_failure),
        () = measure(fleet, metrics), if measured => Ok(()),
        () = alert(fleet, settings, events), if !settings.budget.alerts.is_empty() => Ok(()),
    }
}

/// Failure of the role; one that the user must fix exits with 2.
fn role_failure(error: AggregatorError) -> Failure {
    match error {
        AggregatorError::Elsewhere { .. } | AggregatorError::Backend(LedgerError::Broken(_)) => {
            Failure::usage(error)
        }
        error => Failure::error(error),
    }
}

/// Sends the alerts of the settings when the fleet's runs, days and months reach them.
async fn alert(fleet: &Fleet, settings: &Settings, events: Events) {
    let (records, alerts) = (fleet.backend.as_ref(), settings.budget.alerts.as_slice());
    let watch = AlertWatch { records, alerts, retry_pauses: &RETRY_PAUSES, events };
    let mut ticks = interval(MEASURE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let checked = async { watch.check(&fleet.backend.announced_runs().await?).await };
        if let Err(error) = checked.await {
            tracing::debug!(%error, "budget alerts were not checked");
        }
    }
}

/// Records the lengths of the queues and the remainders of budgets at an interval.
async fn measure(fleet: &Fleet, metrics: &Metrics) {
    let mut ticks = interval(MEASURE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The readiness conditions report an unavailable server.
        let _ = tokio::join!(fleet.queues.measure(metrics), fleet.backend.measure(metrics));
    }
}

/// Prints the aggregator's state on standard error, and completed runs on standard output.
struct AggregateOutput {
    fleet: String,
    runs_dir: String,
    json: bool,
    quiet: bool,
}

impl AggregateOutput {
    async fn follow(
        self,
        mut events: mpsc::Receiver<Event>,
        mut complete: mpsc::Receiver<CompletedRun>,
        mut role: watch::Receiver<LockRole>,
    ) {
        loop {
            tokio::select! {
                Some(event) = events.recv() => self.print_event(event),
                Some(run) = complete.recv() => self.print_run(&run),
                Ok(()) = role.changed() => {
                    let role = *role.borrow_and_update();
                    self.print_role(role);
                }
                else => return,
            }
        }
    }

    fn print_role(&self, role: LockRole) {
        let Self { fleet, runs_dir, .. } = self;
        match role {
            LockRole::Starting => {}
            LockRole::Active => self
                .notice(&format!("active: writing the results of fleet {fleet} into {runs_dir}")),
            LockRole::Standby => {
                self.notice(&format!("standby: another aggregator is active in {runs_dir}"))
            }
        }
    }

    fn print_event(&self, event: Event) {
        match event {
            Event::Warning(warning) => self.notice(&format!("warning: {warning}")),
            Event::Stopping => self.notice(
            "stopping: committing received results and writing reports; press Ctrl-C again to exit \
            immediately",
            ),
            Event::Planned { .. }
            | Event::Finished(_)
            | Event::Paused { .. }
            | Event::Waiting { .. }
            | Event::BatchProgress { .. } => {}
        }
    }

    fn print_run(&self, completed: &CompletedRun) {
        let CompletedRun { run, coverage, cost_usd, report } = completed;
        let printed = if self.json {
            let line = serde_json::json!({
            "run_id": run, "coverage": coverage, "cost_usd": cost_usd, "report": report,
            });
            terminal::print(&line.to_string())
        } else {
            let (cost, report) = (dollars(*cost_usd), report.display());
            terminal::print(&format!("run {run}: {}; {cost}; {report}", coverage_text(coverage)))
        };
        if let Err(failure) = printed {
            self.notice(&failure.to_string());
        }
    }

    fn notice(&self, line: &str) {
        if !self.quiet {
            terminal::print_notice(line);
        }
    }
}
