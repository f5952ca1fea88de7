//! The end of a run: report, files, exit code.

use crate::{
    args::GlobalFlags,
    attachments::DatasetAttachments,
    baseline::{self, Baseline},
    execute::Executed,
    exit::{Exit, Failure},
    terminal as screen,
};
use juror_analysis::{
    calibration::known::KnownCalibration,
    fold::Counted,
    format::counted,
    gate::{Gate, GateDecision},
    history::runs_of_one_kind,
    run_report::Report,
    summary::{SummaryInput, summarize},
};
use juror_app::settings::Settings;
use juror_journal::journal::{JournalError, RunFiles};
use juror_ledger::admission::Ledger;
use juror_report::{
    NoAttachments, TerminalOptions, render_paused, render_terminal, summary_sentence, write_output,
};
use juror_types::{outcome::ErrorKind, rubric::Rubric, usage::Money};
use std::path::PathBuf;

/// What a report is made by.
#[derive(Clone, Copy)]
pub struct Reporting<'run> {
    /// The run's rubric.
    pub rubric: &'run Rubric,
    /// What the run must meet.
    pub gate: Option<&'run Gate>,
    /// What it is compared against.
    pub baseline: Option<&'run Baseline>,
    /// How failed jobs enter averages, and where files may be read from.
    pub settings: &'run Settings,
    /// What is known of its judge, if a file is named.
    pub calibration: Option<&'run KnownCalibration>,
}

/// What is done with a report.
pub struct Finishing<'run> {
    /// What it is made by.
    pub reporting: Reporting<'run>,
    /// Files to write, beside `report.json`.
    pub outputs: &'run [PathBuf],
    /// How results and hints are shown, and where runs are.
    pub global: &'run GlobalFlags,
}

/// Reports an executed run.
pub fn finish(executed: Executed, finishing: &Finishing<'_>) -> Result<Exit, Failure> {
    let files = executed.directory.files();
    let (counted, paused) = (executed.fold.counted(), executed.paused.as_deref());
    let report = report(files, &counted, executed.ledger, finishing, paused)?;
    if !finishing.global.quiet {
        tell_what_next(&executed, &report, finishing.global);
    }
    let exit = exit_of(&report);
    Ok(if executed.paused.is_some() { exit.and(Exit::Error) } else { exit })
}

/// Says that an undecided gate does not fail the command.
fn say_if_undecided(report: &Report) {
    if let Some(gate) =
        report.targets.as_ref().filter(|gate| gate.decision == GateDecision::Undecided)
    {
        screen::tell(&format!(
            "gate {} is undecided: too little was run to call it met or missed, which does not \
             change the exit code",
            gate.gate
        ));
    }
}

/// Writes `report.json` and the files that were asked for, and prints the report; `paused` is why
/// the run is paused, if it is.
pub fn report(
    files: &RunFiles,
    counted: &Counted,
    ledger: Option<Ledger>,
    finishing: &Finishing<'_>,
    paused: Option<&str>,
) -> Result<Report, Failure> {
    let Finishing { reporting, outputs, global } = finishing;
    let mut report = write_report(files, counted, ledger, reporting)?;
    if global.json {
        let text = std::fs::read_to_string(files.path_of("report.json")).map_err(Failure::error)?;
        screen::print(&text)?;
    } else {
        let path = &mut report.run.dataset.path;
        *path = screen::as_seen_from_here(path);
        let (width, color) = screen::width_and_color();
        let options = TerminalOptions { width, color };
        screen::print(&match paused {
            Some(reason) => render_paused(&report, reason, options),
            None => render_terminal(&report, options),
        })?;
    }
    let (record, Reporting { rubric, settings, .. }) = (files.record(), reporting);
    let exhibits = DatasetAttachments { record, rubric, settings, shelf: None };
    for output in *outputs {
        write_output(output, &report, files, &exhibits).map_err(Failure::error)?;
    }
    if !global.quiet {
        say_if_undecided(&report);
    }
    Ok(report)
}

/// Makes a run's report and writes `report.json`.
pub fn write_report(
    files: &RunFiles,
    counted: &Counted,
    ledger: Option<Ledger>,
    reporting: &Reporting<'_>,
) -> Result<Report, Failure> {
    let watches = reporting.gate.is_some_and(Gate::watches_declines);
    let earlier = if watches { runs_of_one_kind(files) } else { Vec::new() };
    let input = SummaryInput {
        earlier: &earlier,
        counted,
        rubric: reporting.rubric,
        ledger,
        gate: reporting.gate,
        averaging: reporting.settings.run.averaging_policy(),
        finished_at: jiff::Timestamp::now().to_string(),
    };
    let mut report = summarize(files, &input).map_err(journal_failure)?;
    report.add_calibration(files, reporting.calibration);
    if let Some(baseline) = reporting.baseline {
        report.comparison = Some(baseline.compared(files, &report)?);
    }
    write_output(&files.path_of("report.json"), &report, files, &NoAttachments)
        .map_err(Failure::error)?;
    Ok(report)
}

/// The exit code that a report asks for.
pub fn exit_of(report: &Report) -> Exit {
    let complete = if report.coverage.is_complete() { Exit::Done } else { Exit::Incomplete };
    let gate = match &report.targets {
        Some(gate) if gate.decision == GateDecision::Missed => Exit::Gate,
        _ => Exit::Done,
    };
    let comparison = report.comparison.as_ref().map_or(Exit::Done, baseline::exit_of);
    complete.and(gate).and(comparison)
}

/// The gate of this name or in this file.
pub fn gate(name: Option<&str>, rubric: &Rubric) -> Result<Option<Gate>, Failure> {
    name.map(|name| Gate::load(name, rubric)).transpose().map_err(Failure::usage)
}

/// What the user can mend on the command line exits with 2, the rest with 1.
pub fn journal_failure(error: JournalError) -> Failure {
    match error {
        JournalError::Missing { .. }
        | JournalError::Exists { .. }
        | JournalError::Occupied { .. } => Failure::usage(error),
        _ => Failure::error(error),
    }
}

fn tell_what_next(executed: &Executed, report: &Report, global: &GlobalFlags) {
    let run = format!("{}{}", report.run.id, location_flags(global));
    if executed.paused.is_some() {
        screen::tell(&format!(
            "the run is paused and keeps its jobs; mend what paused it, then\n  resume with: juror \
             retry {run}"
        ));
    } else if report.coverage.errors.contains_key(&ErrorKind::Budget)
        && report.cost.overrun_usd == Money::ZERO
    {
        let judged = match report.coverage.scored {
            0 => "no job was judged",
            _ => "only the first jobs in the dataset's order were judged",
        };
        screen::tell(&format!(
            "the budget leaves no room for another call: {judged}\n  raise it and resume with: juror run --resume {run} --budget-usd AMOUNT\n  \
             if the cap of the day or the month is reached, raise budget.day_usd or budget.month_usd"
        ));
    } else if report.coverage.errors.contains_key(&ErrorKind::Deadline) {
        let skipped = report.coverage.errors.get(&ErrorKind::Deadline).copied().unwrap_or_default();
        screen::tell(&format!(
            "the deadline has passed: {} skipped\n  resume with: juror run --resume {run}\n  \
             (with --deadline TIME to set a new deadline)",
            counted(skipped, "job")
        ));
    } else if executed.stopped || !report.coverage.is_complete() {
        let unscored = report.coverage.planned.saturating_sub(report.coverage.scored);
        screen::tell(&format!(
            "not scored: {}\n  resume with: juror run --resume {run}",
            counted(unscored, "job")
        ));
    }
    tell_result(executed.directory.files(), report);
}

/// Prints the run's result in one sentence, with the place of its report.
pub fn tell_result(files: &RunFiles, report: &Report) {
    let path = files.path_of("report.json");
    screen::tell(&format!("{}; report: {}", summary_sentence(report), path.display()));
}

/// The flags by which the next command finds the same run.
pub fn location_flags(global: &GlobalFlags) -> String {
    let flags = [
        ("--config", &global.config),
        ("--runs-dir", &global.runs_dir),
        ("--state", &global.state),
    ];
    flags
        .iter()
        .filter_map(|(flag, path)| Some(format!(" {flag} {}", path.as_ref()?.display())))
        .collect()
}
