//! `juror cancel`: cancels a run of the fleet, or the batches of a run of this machine.

use crate::{
    args::CancelArguments,
    exit::{AppError, Exit},
    location_flags,
    run_argument::locate,
    terminal,
};
use juror_app::{
    cancel::{CancelSummary, cancel_local_batches, local_summary},
    fleet::{self, cancel::cancel},
    recorded_settings::shared_layer,
    run::preflight::known_run,
    settings::BaseLayers,
};
use juror_journal::journal::RunFiles;

pub async fn run(arguments: &CancelArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let (run, base) = &locate(&arguments.run, base)?;
    let flags = arguments.fleet.layer();
    let settings = base.resolve(flags.clone())?;
    let local_record = known_run(&settings.run.runs_dir, run)?;
    if let Some(record) = local_record.as_ref().filter(|record| record.fleet.is_none()) {
        let files = RunFiles::open(&settings.run.runs_dir, run)?;
        let summary = local_summary(&files)?;
        let flags = shared_layer(record)
            .overlaid_with(flags)
            .with("judge.base_url", record.base_url.clone());
        let settings = base.resolve(flags)?;
        let batches = cancel_local_batches(record, &settings, &base.environment).await?;
        return print_summary(&CancelSummary { batches, ..summary });
    }
    let requested = arguments.fleet.namespace.as_deref();
    let namespace = fleet::namespace_of(local_record.as_ref(), requested)?;
    let settings = base.resolve(flags.overlaid_with(namespace))?;
    let backend = fleet::open_backend(&settings).await?;
    let cancelled = cancel(&backend, run, &settings).await;
    backend.close().await;
    print_summary(&cancelled?)
}

fn print_summary(summary: &CancelSummary) -> Result<Exit, AppError> {
    let text = || location_flags::add_to_commands(&text(summary)).into_owned();
    terminal::print_result(summary, text)?;
    Ok(Exit::Done)
}

fn text(summary: &CancelSummary) -> String {
    let CancelSummary { run_id, cancelled, complete, planned, published, results, scored, batches } =
        summary;
    if *batches > 0 {
        let these = if *batches == 1 { "1 batch is" } else { &format!("{batches} batches are") };
        return format!(
            "{these} cancelled at the provider, or had ended there; finished rows are billed\n  \
             collect their results with: juror run --resume {run_id}"
        );
    }
    match (cancelled, complete) {
        (false, true) => format!(
            "run {run_id} is complete, nothing to cancel; {results} of {planned} jobs have a \
             result, {scored} of them scored"
        ),
        (false, false) => format!(
            "run {run_id} is not running, nothing to cancel; {results} of {planned} jobs have a \
             result, {scored} of them scored\n  resume with: juror run --resume {run_id}"
        ),
        (true, true) => format!(
            "run {run_id} is cancelled and complete: {published} of {planned} planned jobs were \
             published, {results} have a result, {scored} of them scored"
        ),
        (true, false) => format!(
            "run {run_id} is cancelled: {published} of {planned} planned jobs were published, \
             {results} have a result; calls in flight are finished, the other jobs are skipped"
        ),
    }
}
