//! `juror aggregate`: commits the fleet's results to journals and writes reports.

use crate::{
    args::AggregateArguments,
    exit::{AppError, Exit},
    interactive,
    role_health::RoleHealth,
    terminal,
};
use juror_aggregator::aggregator_role::{CompletedRun, LockRole};
use juror_analysis::format::dollars;
use juror_app::{
    fleet::{Fleet, aggregator_role::AggregatorRole},
    reporting::fleet_reports::FleetReports,
    settings::{BaseLayers, Settings},
};
use juror_report::phrasing::coverage_text;
use juror_telemetry::Condition;
use juror_types::{
    event::{Event, Events},
    shutdown::Shutdown,
};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

const EVENT_CAPACITY: usize = 1_000;

pub async fn run(arguments: &AggregateArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let flags = arguments.fleet.layer().overlaid_with(arguments.serving.layer());
    let settings = base.resolve(flags.clone())?;
    let reports = FleetReports::new(base.clone(), flags)?;
    let (completed, complete) = mpsc::channel(EVENT_CAPACITY);
    let (role, role_changes) = watch::channel(LockRole::default());
    let output = AggregateOutput {
        fleet: settings.fleet.namespace.clone(),
        runs_dir: settings.run.runs_dir.display().to_string(),
    };
    let (outcome, _) = interactive::run(
        |events| output.follow(events, complete, role_changes),
        async |events, shutdown: &Shutdown| {
            let take_over = arguments.take_over;
            let task = AggregateTask { reports, take_over, events, completed, role };
            let role = async |health| aggregate(&settings, task, health, shutdown).await;
            RoleHealth::serve(&settings, role).await
        },
    )
    .await;
    outcome.map(|()| Exit::Done)
}

/// An aggregator to run.
struct AggregateTask {
    reports: FleetReports,
    take_over: bool,
    events: Events,
    completed: mpsc::Sender<CompletedRun>,
    role: watch::Sender<LockRole>,
}

/// Prints the aggregator's state on standard error, and completed runs on standard output.
struct AggregateOutput {
    fleet: String,
    runs_dir: String,
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
                Some(event) = events.recv() => print_event(event),
                Some(run) = complete.recv() => print_run(&run),
                Ok(()) = role.changed() => {
                    let role = *role.borrow_and_update();
                    self.print_role(role);
                }
                else => return,
            }
        }
    }

    fn print_role(&self, role: LockRole) {
        let Self { fleet, runs_dir } = self;
        match role {
            LockRole::Starting => {}
            LockRole::Active => terminal::print_hint(&format!(
                "active: writing the results of fleet {fleet} into {runs_dir}"
            )),
            LockRole::Standby => terminal::print_hint(&format!(
                "standby: another aggregator is active in {runs_dir}"
            )),
        }
    }
}

async fn aggregate(
    settings: &Settings,
    task: AggregateTask,
    health: RoleHealth,
    shutdown: &Shutdown,
) -> Result<(), AppError> {
    let lock = health.require("lock");
    // The connection may wait for the broker until a timeout.
    let opening = Fleet::open(settings, task.events.clone());
    let Some(opened) = shutdown.drain.run_until_cancelled(opening).await else { return Ok(()) };
    let fleet = opened?;
    let health = (&health, lock);
    let outcome = work(&fleet, settings, task, health, shutdown).await;
    fleet.close().await;
    outcome
}

/// Runs the aggregator, active or standby.
async fn work(
    fleet: &Fleet,
    settings: &Settings,
    task: AggregateTask,
    (health, lock): (&RoleHealth, Option<Condition>),
    shutdown: &Shutdown,
) -> Result<(), AppError> {
    let AggregateTask { reports, take_over, events, completed, role } = task;
    let role_changes = role.subscribe();
    let aggregator = AggregatorRole {
        fleet,
        settings,
        reports,
        take_over,
        events,
        completed,
        role,
        metrics: Arc::clone(&health.metrics),
    };
    let ended = CancellationToken::new();
    let working = async {
        let outcome = aggregator.run(shutdown).await;
        ended.cancel();
        outcome
    };
    let (outcome, ..) = tokio::join!(
        working,
        health.watch(fleet, &ended),
        ended.run_until_cancelled(follow_lock(lock, role_changes)),
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

fn print_event(event: Event) {
    match event {
        Event::Warning(warning) => terminal::print_hint(&format!("warning: {warning}")),
        Event::Stopping => terminal::print_hint(
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

fn print_run(completed: &CompletedRun) {
    let CompletedRun { run, coverage, cost_usd, report } = completed;
    let printed = if terminal::is_json() {
        let line = serde_json::json!({
        "run_id": run, "coverage": coverage, "cost_usd": cost_usd, "report": report,
        });
        terminal::print(&line.to_string())
    } else {
        let (cost, report) = (dollars(*cost_usd), report.display());
        terminal::print(&format!("run {run}: {}; {cost}; {report}", coverage_text(coverage)))
    };
    if let Err(failure) = printed {
        terminal::print_hint(&failure.to_string());
    }
}
