//! `juror cancel`: ends a run of the fleet before its end.

use crate::{
    args::{CancelArguments, GlobalFlags},
    commands::run::known_run,
    exit::{Exit, Failure},
    finish::journal_failure,
    fleet::{self, backend_failure},
    run_argument::locate,
    settings_sources as layers, terminal as screen,
};
use juror_analysis::fold::{Fold, Rounds};
use juror_app::settings::Settings;
use juror_journal::journal::RunFiles;
use juror_ledger::redis::{RedisLedger, RunStatus};
use juror_types::id::RunId;
use serde::Serialize;

/// How a run stands once it was to be cancelled.
#[derive(Debug, Serialize)]
pub struct CancelSummary {
    run_id: RunId,
    /// Whether it is cancelled, now or before.
    pub cancelled: bool,
    /// Whether each of its jobs has its result.
    pub complete: bool,
    planned: u64,
    published: u64,
    /// Jobs that have a result.
    results: u64,
    scored: u64,
}

/// Runs `juror cancel`.
pub async fn run(arguments: &CancelArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let (run, global) = &locate(&arguments.run, global)?;
    let mut layers = arguments.fleet.layers();
    let settings = layers::settle(global, layers.clone())?;
    let here = known_run(&settings.run.runs_dir, run)?;
    if here.as_ref().is_some_and(|record| record.fleet.is_none()) {
        let files = RunFiles::open(&settings.run.runs_dir, run).map_err(journal_failure)?;
        return tell(&local_summary(&files)?, global);
    }
    layers.extend(fleet::namespace_of(here.as_ref(), &arguments.fleet)?);
    let settings = layers::settle(global, layers)?;
    let backend = fleet::open_backend(&settings).await?;
    let cancelled = cancel(&backend, run, &settings).await;
    backend.close().await;
    tell(&cancelled?, global)
}

/// Cancels the run unless each of its jobs has its result; answers how it stands.
pub async fn cancel(
    backend: &RedisLedger,
    run: &RunId,
    settings: &Settings,
) -> Result<CancelSummary, Failure> {
    let unknown = || {
        Failure::usage(format!(
            "the fleet {} knows no run {run}; `juror runs` lists those that have a report",
            settings.fleet.namespace
        ))
    };
    let status = backend.run_status(run).await.map_err(backend_failure)?.ok_or_else(unknown)?;
    let rounds = rounds(backend, run, settings).await?;
    let complete = status.is_reported()
        || status.expected.is_some_and(|expected| rounds.results() >= expected);
    if complete {
        return Ok(tally(&status, &rounds, complete));
    }
    backend.cancel_run(run).await.map_err(backend_failure)?;
    let status = backend.run_status(run).await.map_err(backend_failure)?.ok_or_else(unknown)?;
    Ok(tally(&status, &rounds, complete))
}

/// What is known of the run's results by the journal, where it is here, and by Redis: what the
/// aggregator told last may be less, or be forgotten. A run whose journal cannot be read is
/// cancelled as one whose journal is elsewhere.
async fn rounds(
    backend: &RedisLedger,
    run: &RunId,
    settings: &Settings,
) -> Result<Rounds, Failure> {
    let files = RunFiles::open(&settings.run.runs_dir, run);
    let fold = files.and_then(|files| Fold::of_journal(&files));
    let mut rounds = fold.map(|fold| fold.rounds()).unwrap_or_default();
    let noting = |job, round, outcome| rounds.note(&job, round, outcome);
    backend.for_each_outcome(run, noting).await.map_err(backend_failure)?;
    Ok(rounds)
}

fn tally(status: &RunStatus, rounds: &Rounds, complete: bool) -> CancelSummary {
    let told = status.progress.clone().unwrap_or_default();
    CancelSummary {
        run_id: status.record.run_id.clone(),
        cancelled: status.cancelled,
        complete,
        planned: status.record.planned,
        published: status.jobs(),
        results: told.jobs().max(rounds.jobs()),
        scored: told.scored.max(rounds.scored()),
    }
}

/// How a run of this machine stands; one that goes on cannot be cancelled from here.
fn local_summary(files: &RunFiles) -> Result<CancelSummary, Failure> {
    let (run_id, planned) = (files.record().run_id.clone(), files.record().planned);
    let counts = Fold::of_journal(files).map_err(journal_failure)?;
    if files.is_held() {
        return Err(Failure::usage(format!(
            "run {run_id} is one of this machine: press Ctrl-C where it runs, and it stops; one \
             that `juror serve` began is cancelled in its pages"
        )));
    }
    Ok(CancelSummary {
        run_id,
        cancelled: false,
        complete: counts.len() >= planned,
        planned,
        published: planned,
        results: counts.len(),
        scored: counts.counts().scored,
    })
}

fn tell(tally: &CancelSummary, global: &GlobalFlags) -> Result<Exit, Failure> {
    if global.json {
        screen::print_json(tally)?;
    } else {
        screen::print(&words(tally))?;
    }
    Ok(Exit::Done)
}

fn words(tally: &CancelSummary) -> String {
    let CancelSummary { run_id, cancelled, complete, planned, published, results, scored } = tally;
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
