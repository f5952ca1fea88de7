//! The end of a run: report, files, exit code.

use crate::{
    args::{BaselineFlags, GlobalFlags},
    exit::{Exit, Failure},
    location_flags, terminal,
};
use juror_analysis::{
    comparison::{Comparison, Decision},
    fold::Counted,
    format::counted,
    gate::GateDecision,
    run_report::Report,
};
use juror_app::{
    attachments::DatasetAttachments,
    error::AppError,
    reporting::{Reporting, write_report},
    run::execute::Executed,
    settings::Settings,
};
use juror_journal::journal::RunFiles;
use juror_ledger::admission::Ledger;
use juror_report::{
    TerminalOptions, render_paused, render_terminal, summary_sentence, write_output,
};
use juror_types::{outcome::ErrorKind, usage::Money};
use std::path::PathBuf;

/// Uses of a report.
pub struct Finishing<'run> {
    /// Its inputs.
    pub reporting: Reporting<'run>,
    /// Files to write, beside `report.json`.
    pub outputs: &'run [PathBuf],
    /// Flags of results, hints and the runs directory.
    pub global: &'run GlobalFlags,
}

/// Reports an executed run.
pub fn finish(executed: Executed, finishing: &Finishing<'_>) -> Result<Exit, Failure> {
    let files = executed.journal.files();
    let (counted, paused) = (executed.journal.fold().counted(), executed.paused.as_deref());
    let report = report(files, &counted, executed.ledger, finishing, paused)?;
    if !finishing.global.quiet {
        print_next_steps(&executed, &report, finishing.global);
    }
    let exit = exit_of(&report);
    Ok(if executed.paused.is_some() { exit.and(Exit::Error) } else { exit })
}

/// Says that an undecided gate does not fail the command.
fn say_if_undecided(report: &Report) {
    if let Some(gate) =
        report.targets.as_ref().filter(|gate| gate.decision == GateDecision::Undecided)
    {
        terminal::print_notice(&format!(
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
        terminal::print(&text)?;
    } else {
        let path = &mut report.run.dataset.path;
        *path = terminal::as_seen_from_here(path);
        let (width, color) = terminal::width_and_color();
        let options = TerminalOptions { width, color };
        terminal::print(&match paused {
            Some(reason) => render_paused(&report, reason, options),
            None => render_terminal(&report, options),
        })?;
    }
    let (record, Reporting { rubric, settings, .. }) = (files.record(), reporting);
    let exhibits = DatasetAttachments { record, rubric, settings, cache: None };
    for output in *outputs {
        write_output(output, &report, files, &exhibits).map_err(Failure::error)?;
    }
    if !global.quiet {
        say_if_undecided(&report);
    }
    Ok(report)
}

/// The exit code that a report asks for.
pub fn exit_of(report: &Report) -> Exit {
    let complete = if report.coverage.is_complete() { Exit::Done } else { Exit::Incomplete };
    let gate = match &report.targets {
        Some(gate) if gate.decision == GateDecision::Missed => Exit::Gate,
        _ => Exit::Done,
    };
    let comparison = report.comparison.as_ref().map_or(Exit::Done, exit_of_comparison);
    complete.and(gate).and(comparison)
}

fn print_next_steps(executed: &Executed, report: &Report, global: &GlobalFlags) {
    let run = format!("{}{}", report.run.id, location_flags::of_this_machine(global));
    if executed.paused.is_some() {
        terminal::print_notice(&format!(
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
        let obstacle = budget_in_the_way(executed.journal.files(), report);
        terminal::print_notice(&format!(
            "the budget leaves no room for another call: {judged}{}\n  raise it and resume with: \
             juror run --resume {run} (--budget-usd AMOUNT raises the run's own budget)",
            obstacle.map(|message| format!("\n  {message}")).unwrap_or_default()
        ));
    } else if report.coverage.errors.contains_key(&ErrorKind::Deadline) {
        let skipped = report.coverage.errors.get(&ErrorKind::Deadline).copied().unwrap_or_default();
        terminal::print_notice(&format!(
            "the deadline has passed: {} skipped\n  resume with: juror run --resume {run}\n  \
             (with --deadline TIME to set a new deadline)",
            counted(skipped, "job")
        ));
    } else if executed.stopped || !report.coverage.is_complete() {
        let unscored = report.coverage.planned.saturating_sub(report.coverage.scored);
        terminal::print_notice(&format!(
            "not scored: {}\n  resume with: juror run --resume {run}",
            counted(unscored, "job")
        ));
    }
    tell_result(executed.journal.files(), report);
}

/// Message of the first job that a budget had no room for: which budget, and what raises it.
fn budget_in_the_way(files: &RunFiles, report: &Report) -> Option<String> {
    let errors = report.items.read(files).ok()?.filter_map(|result| result.ok()?.error);
    let mut of_budgets = errors.filter(|error| error.kind == ErrorKind::Budget);
    of_budgets.next().map(|error| error.message)
}

/// Prints the run's result in one sentence, with the place of its report.
pub fn tell_result(files: &RunFiles, report: &Report) {
    let path = files.path_of("report.json");
    terminal::print_notice(&format!("{}; report: {}", summary_sentence(report), path.display()));
}

/// The exit code that a comparison asks for.
pub fn exit_of_comparison(comparison: &Comparison) -> Exit {
    match comparison.decision {
        Decision::Worse => Exit::Gate,
        Decision::Inconclusive if comparison.strict => Exit::Inconclusive,
        Decision::Inconclusive | Decision::Same | Decision::Better => Exit::Done,
    }
}

/// Refuses flags of a comparison where no comparison is asked for.
pub fn check_baseline_flags(flags: &BaselineFlags, settings: &Settings) -> Result<(), AppError> {
    let comparing = &flags.comparing;
    let given = [
        ("--strict", comparing.strict),
        ("--margin", comparing.margin.is_some()),
        ("--max-lost", comparing.max_lost.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given && settings.run.baseline().is_none()) {
        Some((flag, _)) => Err(AppError::invalid(format!(
            "{flag} decides a comparison, and none is asked for: add --baseline RUN, or leave out \
             {flag}"
        ))),
        None => Ok(()),
    }
}
