//! The end of a run: report, files, exit code.

use crate::{
    args::BaselineFlags,
    exit::{AppError, Exit},
    terminal,
};
use juror_analysis::{format::counted, gate::GateDecision, run_report::Report};
use juror_app::{
    attachments::DatasetAttachments, reporting::Reporting, run::local_run::EndedRun,
    settings::Settings,
};
use juror_journal::journal::RunFiles;
use juror_report::{render_paused, render_terminal, summary_sentence, write_output};
use juror_types::{outcome::ErrorKind, usage::Money};
use std::path::PathBuf;

/// Prints the report of an ended run of this machine; returns its exit code.
pub fn finish(run: &EndedRun, outputs: &[PathBuf]) -> Result<Exit, AppError> {
    let (files, paused) = (run.journal.files(), run.paused.as_deref());
    let report = print_report(run.report()?, files, &run.reporting(), outputs, paused)?;
    if !terminal::is_quiet() {
        print_next_steps(run, &report);
    }
    Ok(Exit::from_run(&report, run.paused.is_some()))
}

/// Prints a report and writes the requested files beside `report.json`; `paused` is the reason of a paused run. Returns
/// the report as it is printed.
pub fn print_report(
    mut report: Report,
    files: &RunFiles,
    reporting: &Reporting<'_>,
    outputs: &[PathBuf],
    paused: Option<&str>,
) -> Result<Report, AppError> {
    if terminal::is_json() {
        let text =
            std::fs::read_to_string(files.path_of("report.json")).map_err(AppError::internal)?;
        terminal::print(&text)?;
    } else {
        let path = &mut report.run.dataset.path;
        *path = terminal::relative_path(path);
        let options = terminal::options();
        terminal::print(&match paused {
            Some(reason) => render_paused(&report, reason, options),
            None => render_terminal(&report, options),
        })?;
    }
    let (record, Reporting { rubric, settings, .. }) = (files.record(), reporting);
    let attachments = DatasetAttachments { record, rubric, settings, cache: None };
    for output in outputs {
        write_output(output, &report, files, &attachments).map_err(AppError::internal)?;
    }
    if !terminal::is_quiet() {
        print_if_undecided(&report);
    }
    Ok(report)
}

/// Prints the command to resume an inactive run of this machine.
pub fn print_interrupted(files: &RunFiles, report: &Report) {
    let pending = report.coverage.pending;
    if pending > 0 && files.record().fleet.is_none() && !files.is_held() {
        terminal::print_notice(&format!(
            "without a result: {}\n  resume with: juror run --resume {}",
            counted(pending, "job"),
            report.run.id,
        ));
    }
}

/// Prints the run's result in one sentence, with the path of its report.
pub fn print_result(files: &RunFiles, report: &Report) {
    let path = files.path_of("report.json");
    terminal::print_notice(&format!("{}; report: {}", summary_sentence(report), path.display()));
}

/// Refuses flags of a comparison without a baseline, as flags, settings or the run's record name one.
pub fn check_baseline_flags(flags: &BaselineFlags, settings: &Settings) -> Result<(), AppError> {
    let comparing = &flags.comparing;
    let given = [
        ("--strict", comparing.strict),
        ("--margin", comparing.margin.is_some()),
        ("--max-lost", comparing.max_lost.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given && settings.run.baseline().is_none()) {
        Some((flag, _)) => Err(AppError::invalid(format!(
            "{flag} needs a comparison: add --baseline RUN, or omit {flag}"
        ))),
        None => Ok(()),
    }
}

/// Prints that an undecided gate does not fail the command.
fn print_if_undecided(report: &Report) {
    if let Some(gate) = report.gate.as_ref().filter(|gate| gate.decision == GateDecision::Undecided)
    {
        terminal::print_notice(&format!(
            "gate {} is undecided: too few jobs ran to decide it; the exit code does not change",
            gate.gate
        ));
    }
}

fn print_next_steps(ended: &EndedRun, report: &Report) {
    let run = &report.run.id;
    if ended.paused.is_some() {
        terminal::print_notice(&format!(
            "the run is paused and keeps its jobs; fix the cause, then\n  resume with: juror \
             retry {run}"
        ));
    } else if report.coverage.errors.contains_key(&ErrorKind::Budget)
        && report.cost.overrun_usd == Money::ZERO
    {
        let (scored, planned) = (report.coverage.scored, report.coverage.planned);
        let judged = match scored {
            0 => "no job was judged".to_owned(),
            _ => format!("{scored} of {planned} jobs judged"),
        };
        let budget_error = first_budget_error(ended.journal.files(), report);
        terminal::print_notice(&format!(
            "budget exhausted, the next call would exceed it: {judged}{}\n  raise it and resume \
             with: juror run --resume {run} (--budget-usd AMOUNT raises the run's own budget)",
            budget_error.map(|message| format!("\n  {message}")).unwrap_or_default()
        ));
    } else if let Some(skipped) = report.coverage.errors.get(&ErrorKind::Deadline) {
        // Without a deadline of the run, it is the provider's.
        let (what, hint) = match ended.journal.record().deadline {
            Some(_) => {
                ("the deadline has passed", "\n  (with --deadline TIME to set a new deadline)")
            }
            None => ("the 24 hours of a batch ended", ""),
        };
        terminal::print_notice(&format!(
            "{what}: {} skipped\n  resume with: juror run --resume {run}{hint}",
            counted(*skipped, "job")
        ));
    } else if ended.stopped && may_grow(report) || !report.coverage.is_complete() {
        let unscored = report.coverage.planned.saturating_sub(report.coverage.scored);
        let only_failed = unscored > 0 && report.coverage.failed == unscored;
        let first = if only_failed { "correct what failed, then " } else { "" };
        terminal::print_notice(&format!(
            "not scored: {}\n  {first}resume with: juror run --resume {run}",
            counted(unscored, "job")
        ));
    }
    print_result(ended.journal.files(), report);
}

/// True for a run that takes further items until its score is certain.
fn may_grow(report: &Report) -> bool {
    report.run.dataset.sample.is_some_and(|sample| sample.until_width.is_some())
}

/// Message of the first job that a budget refused: it names the budget and its remedy.
fn first_budget_error(files: &RunFiles, report: &Report) -> Option<String> {
    let errors = report.items.read(files).ok()?.filter_map(|result| result.ok()?.error);
    let mut of_budgets = errors.filter(|error| error.kind == ErrorKind::Budget);
    of_budgets.next().map(|error| error.message)
}
