//! `juror cancel`: ends a run of the fleet before its end, and the batches of a run of this
//! machine.

use crate::{
    args::{CancelArguments, GlobalFlags},
    exit::{Exit, Failure},
    run_argument::locate,
    settings_sources, terminal,
};
use juror_app::{
    fleet::{
        self,
        cancel::{CancelSummary, cancel, cancel_local_batches, local_summary},
    },
    run::ready::{known_run, run_files},
    settings::Layer,
};

/// Runs `juror cancel`.
pub async fn run(arguments: &CancelArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let (run, global) = &locate(&arguments.run, global)?;
    let mut layers = arguments.fleet.layers();
    let settings = settings_sources::settle(global, layers.clone())?;
    let here = known_run(&settings.run.runs_dir, run)?;
    if let Some(record) = here.as_ref().filter(|record| record.fleet.is_none()) {
        let files = run_files(&settings.run.runs_dir, run)?;
        let summary = local_summary(&files)?;
        let base_url = record.base_url.clone().map(|url| Layer::of("judge", "base_url", url));
        layers.extend(base_url);
        let base = settings_sources::read(global)?;
        let settings = base.settle(layers)?;
        let batches = cancel_local_batches(record, &settings, base.environment()).await?;
        return tell(&CancelSummary { batches, ..summary }, global);
    }
    layers.extend(fleet::namespace_of(here.as_ref(), arguments.fleet.namespace.as_deref())?);
    let settings = settings_sources::settle(global, layers)?;
    let backend = fleet::open_backend(&settings).await?;
    let cancelled = cancel(&backend, run, &settings).await;
    backend.close().await;
    tell(&cancelled?, global)
}

fn tell(tally: &CancelSummary, global: &GlobalFlags) -> Result<Exit, Failure> {
    if global.json {
        terminal::print_json(tally)?;
    } else {
        terminal::print(&words(tally))?;
    }
    Ok(Exit::Done)
}

fn words(tally: &CancelSummary) -> String {
    let CancelSummary { run_id, cancelled, complete, planned, published, results, scored, batches } =
        tally;
    if *batches > 0 {
        let these = if *batches == 1 { "1 batch is" } else { &format!("{batches} batches are") };
        return format!(
            "{these} cancelled at the provider; what was done by then is paid for\n  collect it \
             by: juror run --resume {run_id}"
        );
    }
    match (cancelled, complete) {
        (false, true) => format!(
            "run {run_id} is complete: there is nothing to cancel; {results} of {planned} jobs \
             have their result, {scored} of them scored"
        ),
        (false, false) => format!(
            "run {run_id} does not go on: there is nothing to cancel; {results} of {planned} jobs \
             have their result, {scored} of them scored\n  resume with: juror run --resume {run_id}"
        ),
        (true, true) => format!(
            "run {run_id} is cancelled, and at its end: {published} of {planned} planned jobs \
             were published, {results} have their result, {scored} of them scored"
        ),
        (true, false) => format!(
            "run {run_id} is cancelled: {published} of {planned} planned jobs were published, \
             {results} results were in; calls in flight are finished, and the rest is skipped"
        ),
    }
}
