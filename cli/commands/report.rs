//! `juror report`: renders a run's report from its journal.

use crate::{
    args::ReportArguments,
    end_of_run,
    exit::{AppError, Exit},
    run_argument::{self, LocatedRun},
    terminal,
};
use juror_app::{
    ledger_pool::LedgerPool,
    protected_files::{self, ProtectedFiles},
    reporting::{self, Reporting, baseline::Baseline, write_report},
    rubrics,
    settings::{BaseLayers, Settings},
};
use juror_journal::journal::RunFiles;
use std::path::PathBuf;

pub async fn run(arguments: &ReportArguments, base: &BaseLayers) -> Result<Exit, AppError> {
    let flags = arguments
        .fleet
        .layer()
        .overlaid_with(arguments.baseline.layer())
        .overlaid_with(arguments.calibration.layer())
        .with("run.gate", arguments.gate.clone());
    let LocatedRun { files, settings } = &run_argument::open(&arguments.run, base, flags)?;
    end_of_run::check_baseline_flags(&arguments.baseline, settings)?;
    ProtectedFiles::from_settings(settings, &base.settings_file)
        .in_run(files.directory().to_owned(), "report")
        .check_reports(&arguments.output)?;
    protected_files::check_dataset(&arguments.output, files, settings)?;
    report(files, settings, &arguments.output).await
}

/// Reports a run from its files, and returns the exit code of the report.
pub async fn report(
    files: &RunFiles,
    settings: &Settings,
    outputs: &[PathBuf],
) -> Result<Exit, AppError> {
    let (rubric, _) = rubrics::recorded(files.record())?;
    let gate = reporting::gate(settings, &rubric, Some(files.record()))?;
    let baseline = Baseline::from_settings(settings)?;
    let calibration = reporting::calibration(settings)?;
    let mut ledgers = LedgerPool::new(settings);
    let ledger = ledgers.ledger_for(files.record()).await;
    ledgers.close().await.iter().for_each(|warning| terminal::print_notice(warning));
    let reporting = Reporting {
        rubric: &rubric,
        gate: gate.as_ref(),
        baseline: baseline.as_ref(),
        settings,
        calibration: calibration.as_ref(),
    };
    let report = write_report(files, None, ledger?, &reporting)?;
    let report = end_of_run::print_report(report, files, &reporting, outputs, None)?;
    if !terminal::is_quiet() && !terminal::is_json() {
        end_of_run::print_interrupted(files, &report);
        end_of_run::print_result(files, &report);
    }
    Ok(Exit::from_report(&report))
}
