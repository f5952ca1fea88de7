//! `juror cancel`: ends a run of the fleet before its end.

use crate::{
    args::{CancelArguments, GlobalFlags},
    commands::run::known_run,
    exit::{Exit, Failure},
    fleet::{self, home_failure},
    layers, screen,
};
use juror_common::{
    id::RunId,
    redis::RedisHome,
    settings::Settings,
    store::{RunProgress, RunStatus},
};

/// Runs `juror cancel`.
pub async fn run(arguments: &CancelArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let mut layers = arguments.fleet.layers();
    let settings = layers::settle(global, layers.clone())?;
    let run = RunId::parse(&arguments.run).map_err(Failure::usage)?;
    let here = known_run(&settings.run.runs_dir, &run)?;
    if here.as_ref().is_some_and(|record| record.fleet.is_none()) {
        return Err(Failure::usage(format!(
            "run {run} is one of this machine: press Ctrl-C where it runs, and it stops"
        )));
    }
    layers.extend(fleet::namespace_of(here.as_ref(), &arguments.fleet)?);
    let settings = layers::settle(global, layers)?;
    let home = fleet::open_home(&settings).await?;
    let cancelled = cancel(&home, &run, &settings).await;
    home.close().await;
    tell(&cancelled?, &run, global)?;
    Ok(Exit::Done)
}

/// Cancels the run unless it is at its end; answers how it stood.
pub async fn cancel(
    home: &RedisHome,
    run: &RunId,
    settings: &Settings,
) -> Result<RunStatus, Failure> {
    let unknown = || {
        Failure::usage(format!(
            "the fleet {} knows no run {run}; `juror runs` lists those that have a report",
            settings.fleet.namespace
        ))
    };
    let status = home.run_status(run).await.map_err(home_failure)?.ok_or_else(unknown)?;
    if status.is_reported() {
        return Ok(status);
    }
    home.cancel_run(run).await.map_err(home_failure)?;
    home.run_status(run).await.map_err(home_failure)?.ok_or_else(unknown)
}

fn tell(status: &RunStatus, run: &RunId, global: &GlobalFlags) -> Result<(), Failure> {
    let published = status.jobs();
    let results = status.progress.as_ref().map_or(0, RunProgress::jobs);
    if global.json {
        return screen::print_json(&serde_json::json!({
            "run_id": run, "cancelled": status.cancelled, "planned": status.record.planned,
            "published": published, "results": results,
        }));
    }
    if !status.cancelled {
        return screen::print(&format!("run {run} is complete: there is nothing to cancel"));
    }
    screen::print(&format!(
        "run {run} is cancelled: {published} of {} planned jobs were published, {results} results \
         were in; calls in flight are finished, and the rest is skipped",
        status.record.planned
    ))
}
