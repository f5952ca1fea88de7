//! The report of a run.

pub mod baseline;
pub mod baseline_warnings;
pub mod calibrate_run;
pub mod fleet_reports;
pub(crate) mod recorded_gate;
pub mod run_lookup;

use crate::{error::AppError, settings::Settings};
use baseline::{Baseline, rules, stability};
use juror_analysis::{
    calibration::stored_calibration::KnownCalibration,
    compute_report::{ReportInput, compute_report},
    fold::Counted,
    gate::Gate,
    history::runs_of_one_kind,
    run_report::Report,
    stability::ItemStability,
};
use juror_journal::journal::RunFiles;
use juror_ledger::admission::RunAccount;
use juror_report::{NoAttachments, write_output};
use juror_types::{rubric::Rubric, run::RunRecord};

/// Inputs of a report.
#[derive(Clone, Copy)]
pub struct Reporting<'run> {
    /// Rubric of the run.
    pub rubric: &'run Rubric,
    /// Gate that the run must meet.
    pub gate: Option<&'run Gate>,
    /// Baseline of the comparison.
    pub baseline: Option<&'run Baseline>,
    /// Settings: treatment of failed jobs in averages, and folders of files.
    pub settings: &'run Settings,
    /// Calibration of the judge, if a file is given.
    pub calibration: Option<&'run KnownCalibration>,
}

/// Computes a run's report and writes `report.json`.
pub fn write_report(
    files: &RunFiles,
    counted: Option<&Counted>,
    ledger: Option<RunAccount>,
    reporting: &Reporting<'_>,
) -> Result<Report, AppError> {
    let (mut report, stability) = without_comparison(files, counted, ledger, reporting)?;
    add_comparison(&mut report, files, reporting, &stability)?;
    save(&report, files)?;
    Ok(report)
}

/// The calibration in the settings; call it before anything is spent. Without one, reports search
/// the runs directory.
pub fn calibration(settings: &Settings) -> Result<Option<KnownCalibration>, AppError> {
    let named = settings.run.calibration.as_deref().map(KnownCalibration::read);
    named.transpose().map_err(AppError::from)
}

/// The gate of the settings, anchored at the blessed run, if there is one. `known` is the record of
/// a run that exists, which may name the gate.
///
/// # Errors
/// An unreadable gate, or one on changes since a baseline without a baseline.
pub fn gate(
    settings: &Settings,
    rubric: &Rubric,
    known: Option<&RunRecord>,
) -> Result<Option<Gate>, AppError> {
    let run = &settings.run;
    let load = |name| {
        Gate::load(name, rubric).map_err(|error| recorded_gate::load_error(error, name, known))
    };
    let gate = run.gate().map(load).transpose()?;
    if let Some(rule) = gate.as_ref().and_then(|gate| gate.changes.first())
        && run.baseline().is_none()
    {
        return Err(AppError::invalid(format!(
            "the gate bounds {}, which are changes since a baseline: add --baseline RUN",
            rule.list.name()
        )));
    }
    Ok(gate.map(|gate| gate.anchored_at_blessed(&run.runs_dir)))
}

/// The report without a comparison, and the stability of the run's items.
fn without_comparison(
    files: &RunFiles,
    counted: Option<&Counted>,
    ledger: Option<RunAccount>,
    reporting: &Reporting<'_>,
) -> Result<(Report, ItemStability), AppError> {
    let rules = rules(reporting.settings);
    let excludes_flaky = reporting.gate.is_some() && rules.leave_out_flaky;
    let stability = match reporting.baseline.is_some() || excludes_flaky {
        true => stability(files, rules)?,
        false => ItemStability::default(),
    };
    let watches = reporting.gate.is_some_and(Gate::watches_declines);
    let earlier = if watches { runs_of_one_kind(files) } else { Vec::new() };
    let averaging = reporting.settings.run.averaging_policy();
    let input = ReportInput::new(reporting.rubric, averaging);
    let flaky = if excludes_flaky { &stability } else { input.flaky };
    let gate = reporting.gate;
    let input = ReportInput { counted, ledger, gate, earlier: &earlier, flaky, ..input };
    let mut report = compute_report(files, &input)?;
    report.warnings.extend(recorded_gate::change_warning(files.record(), reporting.settings));
    report.add_calibration(files, reporting.calibration);
    Ok((report, stability))
}

/// Compares with the baseline, if there is one, and decides the gate's rules on changes.
fn add_comparison(
    report: &mut Report,
    files: &RunFiles,
    reporting: &Reporting<'_>,
    stability: &ItemStability,
) -> Result<(), AppError> {
    let Some(baseline) = reporting.baseline else { return Ok(()) };
    let comparison = baseline.compared(files, report, stability)?;
    if let (Some(gate), Some(decided)) = (reporting.gate, &mut report.gate) {
        gate.decide_changes(decided, &comparison);
    }
    report.comparison = Some(comparison);
    Ok(())
}

fn save(report: &Report, files: &RunFiles) -> Result<(), AppError> {
    write_output(&files.path_of("report.json"), report, files, &NoAttachments)
        .map_err(AppError::internal)
}
