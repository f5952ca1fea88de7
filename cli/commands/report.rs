//! `juror report`: a run's report again, from its journal.

use crate::{
    args::{GlobalFlags, ReportArguments},
    commands::{rubric, run::run_files},
    exit::{Exit, Failure},
    finish::{self, Finishing},
    layers,
    ledgers::Ledgers,
};
use juror_aggregator::{fold::Fold, journal::RunFiles};
use juror_common::{
    id::RunId,
    settings::{Layer, Settings},
};
use std::path::PathBuf;

/// Runs `juror report`.
pub async fn run(arguments: &ReportArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let mut flags = arguments.fleet.layers();
    flags.extend(arguments.gate.clone().map(|gate| Layer::of("run", "gate", gate)));
    let settings = layers::settle(global, flags)?;
    let run = RunId::parse(&arguments.run).map_err(Failure::usage)?;
    finish::check_outputs(&arguments.output)?;
    let files = run_files(&settings.run.runs_dir, &run)?;
    report(&files, &settings, &arguments.output, global).await
}

/// Reports a run from its files, and exits by it.
pub async fn report(
    files: &RunFiles,
    settings: &Settings,
    outputs: &[PathBuf],
    global: &GlobalFlags,
) -> Result<Exit, Failure> {
    let (rubric, _) = rubric::recorded(files.record())?;
    let gate = finish::gate(settings.run.gate.as_deref(), &rubric)?;
    let counted = Fold::of_journal(files).map_err(finish::journal_failure)?.counted();
    let mut ledgers = Ledgers::new(settings);
    let ledger = ledgers.of(files.record()).await;
    ledgers.close().await;
    let finishing = Finishing { rubric: &rubric, gate: gate.as_ref(), settings, outputs, global };
    let report = finish::report(files, &counted, ledger?, &finishing)?;
    Ok(finish::exit_of(&report))
}
