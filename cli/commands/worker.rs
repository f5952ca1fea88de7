//! `juror worker`: judges jobs of its fleet's runs.

use crate::{
    args::WorkerArguments,
    exit::{AppError, Exit},
    interactive,
    progress::{self, ProgressDisplay, RunTally},
    role_health::RoleHealth,
    terminal,
};
use juror_app::{
    environment::Environment,
    fleet::{
        Fleet,
        worker_role::{RoleResources, WorkerRole, check_roots},
    },
    rendering::find_renderer,
    settings::{BaseLayers, Settings},
};
use juror_types::{event::Events, shutdown::Shutdown};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Runs `juror worker` until it is stopped.
pub async fn run(arguments: &WorkerArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let settings = base.resolve(arguments.layer())?;
    check_roots(&settings)?;
    let display = ProgressDisplay::for_role();
    let (outcome, _) = interactive::run(
        |events| progress::follow(events, display, RunTally::default()),
        async |events: Events, shutdown: &Shutdown| {
            let role = async |health: RoleHealth| {
                // The connection may wait for the servers until a timeout.
                let opening = Fleet::open(&settings, events.clone());
                let Some(opened) = shutdown.drain.run_until_cancelled(opening).await else {
                    return Ok(());
                };
                let fleet = opened?;
                let settings = (&settings, &base.environment);
                let outcome = work(&fleet, settings, events.clone(), &health, shutdown).await;
                fleet.close().await;
                outcome
            };
            RoleHealth::serve(&settings, role).await
        },
    )
    .await;
    outcome.map(|()| Exit::Done)
}

/// Runs the worker until a signal or an error.
async fn work(
    fleet: &Fleet,
    (settings, environment): (&Settings, &Environment),
    events: Events,
    health: &RoleHealth,
    shutdown: &Shutdown,
) -> Result<(), AppError> {
    let renderer = find_renderer(settings).await;
    let resources = RoleResources {
        settings,
        environment,
        events,
        metrics: Arc::clone(&health.metrics),
        renders: renderer.is_ok(),
    };
    let worker = WorkerRole::new(fleet, resources, shutdown)?;
    let rendering = match renderer {
        Ok(renderer) => format!("renders with {renderer}"),
        Err(reason) => format!("cannot render ({reason})"),
    };
    terminal::print_hint(&format!("ready: {}, {rendering}", describe(fleet, settings)));
    let ended = CancellationToken::new();
    let working = async {
        let outcome = worker.run().await;
        ended.cancel();
        outcome
    };
    let (outcome, ()) = tokio::join!(working, health.watch(fleet, &ended));
    outcome
}

fn describe(fleet: &Fleet, settings: &Settings) -> String {
    let calls = match settings.limits.max_concurrency {
        Some(limit) => format!("{limit} calls at once"),
        None => "16 calls at once at first, then adapting".to_owned(),
    };
    format!(
        "{}, Redis at {}, namespace {}, {calls}",
        fleet.queues.address(),
        fleet.backend.address(),
        settings.fleet.namespace
    )
}
