//! `juror aggregate`: the fleet's results into journals and reports.

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
use juror_analysis::{format::dollars, run_facts::Coverage};
use juror_app::{
    budgets::alerts::{AlertWatch, RETRY_PAUSES},
    error::AppError,
    fleet::Fleet,
    reporting::{calibrations, fleet_baselines::FleetBaselines},
    settings::Settings,
};
use juror_ledger::error::LedgerError;
use juror_queue::Queue as _;
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
/// Interval at which a spare looks whether it is its turn.
const LOCK_INTERVAL: Duration = Duration::from_secs(1);
/// Interval at which queues and budgets are measured.
const MEASURING: Duration = Duration::from_secs(5);
/// Dead jobs that may be in hand at once; there are few.
const DEAD_PREFETCH: usize = 16;

/// Runs `juror aggregate`.
pub async fn run(arguments: &AggregateArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let flags = [arguments.fleet.layers(), arguments.serving.layers()].concat();
    let settings = settings_sources::settle(global, flags)?;
    let (completed, complete) = mpsc::channel(EVENT_CAPACITY);
    let (tally, stands) = watch::channel(LockRole::default());
    let teller = AggregateOutput {
        fleet: settings.fleet.namespace.clone(),
        runs_dir: settings.run.runs_dir.display().to_string(),
        json: global.json,
        quiet: global.quiet,
    };
    let (outcome, _) = interactive::run(
        |events| teller.tell(events, complete, stands),
        async |events, shutdown: &Shutdown| {
            let speaking = Speaking { events, completed, tally };
            aggregate(&settings, arguments.take_over, speaking, shutdown).await
        },
    )
    .await;
    outcome.map(|()| Exit::Done)
}

/// Printer of the role's events.
struct Speaking {
    events: Events,
    completed: mpsc::Sender<CompletedRun>,
    tally: watch::Sender<LockRole>,
}

async fn aggregate(
    settings: &Settings,
    take_over: bool,
    speaking: Speaking,
    shutdown: &Shutdown,
) -> Result<(), Failure> {
    let health_server = HealthServer::open(settings).await?;
    // A broker that is away may be waited for.
    let opening = Fleet::open(settings, speaking.events.clone());
    let Some(opened) = shutdown.drain.run_until_cancelled(opening).await else { return Ok(()) };
    let fleet = opened?;
    let outcome = serve(&fleet, settings, take_over, speaking, health_server, shutdown).await;
    fleet.close().await;
    outcome
}

/// Works, or stands by, with the HTTP listener open beside.
async fn serve(
    fleet: &Fleet,
    settings: &Settings,
    take_over: bool,
    speaking: Speaking,
    health_server: Option<HealthServer>,
    shutdown: &Shutdown,
) -> Result<(), Failure> {
    let metrics =
        Arc::new(health_server.as_ref().map_or_else(Metrics::silent, |_| Metrics::recording()));
    let lock = health_server.as_ref().map(|health_server| health_server.require("lock"));
    let tally = speaking.tally.subscribe();
    let over = CancellationToken::new();
    let working = async {
        let outcome = work(fleet, settings, take_over, speaking, &metrics, shutdown).await;
        over.cancel();
        outcome
    };
    let (outcome, ..) = tokio::join!(
        working,
        HealthServer::serve(health_server, fleet, &metrics, &over),
        over.run_until_cancelled(follow_lock(lock, tally)),
    );
    outcome
}

/// An aggregator has what it needs while it holds the lock, and while it waits for its turn.
async fn follow_lock(lock: Option<Condition>, mut tally: watch::Receiver<LockRole>) {
    let Some(lock) = lock else { return };
    let stands = tally.wait_for(|tally| *tally != LockRole::Starting).await.is_ok();
    lock.set(stands);
    // Met for as long as this is not dropped.
    std::future::pending::<()>().await;
}

async fn work(
    fleet: &Fleet,
    settings: &Settings,
    take_over: bool,
    speaking: Speaking,
    metrics: &Arc<Metrics>,
    shutdown: &Shutdown,
) -> Result<(), Failure> {
    let Speaking { events, completed, tally } = speaking;
    let calibration = calibrations::named(settings)?;
    let runs_dir = &settings.run.runs_dir;
    let waiting = RunsLock::wait(runs_dir, LOCK_INTERVAL, shutdown, &tally);
    let Some(lock) = waiting.await.map_err(Failure::error)? else { return Ok(()) };
    // Before anything is received: results for another directory are not ours.
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
        dead: fleet.queues.poison(DEAD_PREFETCH).await.map_err(AppError::from)?,
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

/// Failure of a role. What only a person can mend exits with 2.
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
    let mut ticks = interval(MEASURING);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let looked = async { watch.look(&fleet.backend.announced_runs().await?).await };
        if let Err(error) = looked.await {
            tracing::debug!(%error, "budgets were not looked at for alerts");
        }
    }
}

/// Takes down again and again how long the queues are, and what budgets still allow.
async fn measure(fleet: &Fleet, metrics: &Metrics) {
    let mut ticks = interval(MEASURING);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The health server tells whether the servers are there.
        let _ = tokio::join!(fleet.queues.measure(metrics), fleet.backend.measure(metrics));
    }
}

/// Says on standard error how things stand, and on standard output which runs are complete.
struct AggregateOutput {
    fleet: String,
    runs_dir: String,
    json: bool,
    quiet: bool,
}

impl AggregateOutput {
    async fn tell(
        self,
        mut heard: mpsc::Receiver<Event>,
        mut complete: mpsc::Receiver<CompletedRun>,
        mut stands: watch::Receiver<LockRole>,
    ) {
        loop {
            tokio::select! {
                Some(event) = heard.recv() => self.tell_event(event),
                Some(run) = complete.recv() => self.tell_run(&run),
                Ok(()) = stands.changed() => {
                    let tally = *stands.borrow_and_update();
                    self.print_role(tally);
                }
                else => return,
            }
        }
    }

    fn print_role(&self, tally: LockRole) {
        let Self { fleet, runs_dir, .. } = self;
        match tally {
            LockRole::Starting => {}
            LockRole::Active => {
                self.say(&format!("works: results of fleet {fleet} into {runs_dir}"))
            }
            LockRole::Standby => {
                self.say(&format!("stands by: another aggregator works in {runs_dir}"));
            }
        }
    }

    fn tell_event(&self, event: Event) {
        match event {
            Event::Warning(warning) => self.say(&format!("warning: {warning}")),
            Event::Stopping => self.say(
                "stopping: what is in hand is committed and runs are reported; a second signal ends at once",
            ),
            Event::Planned { .. }
            | Event::Finished(_)
            | Event::Paused { .. }
            | Event::Waiting { .. }
            | Event::BatchProgress { .. } => {}
        }
    }

    fn tell_run(&self, completed: &CompletedRun) {
        let CompletedRun { run, coverage, cost_usd, report } = completed;
        let printed = if self.json {
            terminal::print(&format!(
                "{}",
                serde_json::json!({
                    "run_id": run, "coverage": coverage, "cost_usd": cost_usd, "report": report,
                })
            ))
        } else {
            let (cost, report) = (dollars(*cost_usd), report.display());
            terminal::print(&format!("run {run}: {}; {cost}; {report}", in_words(coverage)))
        };
        if let Err(failure) = printed {
            self.say(&failure.to_string());
        }
    }

    fn say(&self, line: &str) {
        if !self.quiet {
            terminal::print_notice(line);
        }
    }
}

fn in_words(coverage: &Coverage) -> String {
    let Coverage { planned, scored, no_output, unscorable, failed, skipped, pending, .. } =
        coverage;
    let others = [
        (no_output, "without output"),
        (unscorable, "unscorable"),
        (failed, "failed"),
        (skipped, "skipped"),
        (pending, "without a result"),
    ];
    let others = others.iter().filter(|(count, _)| **count > 0);
    let others: String = others.map(|(count, word)| format!(", {count} {word}")).collect();
    format!("{scored} of {planned} scored{others}")
}
