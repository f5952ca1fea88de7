//! `juror report`: a run's report again, from its journal.

use crate::{
    args::{GlobalFlags, ReportArguments},
    commands::{rubric, run::run_files},
    execute,
    exit::{Exit, Failure},
    finish::{self, Finishing},
    layers,
};
use juror_aggregator::fold::Fold;
use juror_common::{admission::Admission as _, id::RunId, settings::Layer};

/// Runs `juror report`.
pub async fn run(arguments: &ReportArguments, global: &GlobalFlags) -> Result<Exit, Failure> {
    let gate = arguments.gate.clone().map(|gate| Layer::of("run", "gate", gate));
    let settings = layers::settle(global, gate.into_iter().collect())?;
    let run = RunId::parse(&arguments.run).map_err(Failure::usage)?;
    finish::check_outputs(&arguments.output)?;
    let files = run_files(&settings.run.runs_dir, &run)?;
    let (rubric, _) = rubric::recorded(files.record())?;
    let gate = finish::gate(settings.run.gate.as_deref(), &rubric)?;
    let fold = Fold::of_journal(&files).map_err(finish::journal_failure)?;
    let home = execute::open_home(&settings)?;
    let ledger = home.ledger(&run).await;
    home.close().await;
    let finishing = Finishing {
        rubric: &rubric,
        gate: gate.as_ref(),
        failures: settings.run.failures,
        outputs: &arguments.output,
        global,
    };
    let report = finish::report(&files, &fold, ledger.map_err(Failure::error)?, &finishing)?;
    Ok(finish::exit_of(&report))
}
