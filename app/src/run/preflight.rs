//! Checks before a run is begun or continued.

use super::run_setup::RunSetup;
use crate::{
    error::AppError,
    judge,
    reporting::{self, Reporting, baseline::Baseline, recorded_gate::with_known_digest},
};
use juror_analysis::{calibration::stored_calibration::KnownCalibration, gate::Gate};
use juror_journal::{
    blessed::BlessedRuns,
    journal::{JournalError, RunFiles, check_vacant},
};
use juror_types::{id::RunId, run::RunRecord};
use juror_worker::run_context::JudgeSetup;
use std::{path::Path, sync::Arc};

/// Needs of a run beside its setup.
pub(super) struct RunDependencies {
    /// Gate that it must meet.
    pub(super) gate: Option<Gate>,
    /// Baseline that it is compared against.
    pub(super) baseline: Option<Baseline>,
    /// Calibration of its judge, if a file is named.
    pub(super) calibration: Option<KnownCalibration>,
    /// Setup of the judge; `None` with the judge off.
    pub(super) judge: Option<Arc<JudgeSetup>>,
}

impl RunDependencies {
    /// Inputs of the run's report.
    pub(super) fn reporting<'run>(&'run self, setup: &'run RunSetup) -> Reporting<'run> {
        Reporting {
            rubric: &setup.rubric,
            gate: self.gate.as_ref(),
            baseline: self.baseline.as_ref(),
            settings: &setup.settings,
            calibration: self.calibration.as_ref(),
        }
    }
}

/// The record of a setup's run; one that is known keeps its age, its labels, its sessions and the
/// digest of its gate.
pub(super) fn record(setup: &RunSetup, run: &RunId, known: Option<&RunRecord>) -> RunRecord {
    let record = setup.record(run.clone());
    let created_at = known.map_or(record.created_at, |known| known.created_at.clone());
    let judging = known.and_then(|known| known.judging.clone());
    let budget_labels = known.map_or(record.budget_labels, |known| known.budget_labels.clone());
    let simulated = known.is_some_and(|known| known.simulated);
    let decision = record.decision.map(|terms| with_known_digest(terms, known));
    RunRecord { created_at, judging, budget_labels, decision, simulated, ..record }
}

/// Performs the remaining checks before anything is written or spent. `known` is the record of a
/// continued run.
pub(super) fn dependencies(
    setup: &RunSetup,
    run: &RunId,
    known: Option<&RunRecord>,
) -> Result<RunDependencies, AppError> {
    let RunSetup { settings, environment, rubric, priced_judge, .. } = setup;
    let gate = reporting::gate(settings, rubric, known)?;
    let baseline = Baseline::from_settings(settings)?;
    if let Some(baseline) = &baseline {
        baseline.check(run, &rubric.reference())?;
    }
    let calibration = reporting::calibration(settings)?;
    let Some(priced_judge) = priced_judge else {
        return Ok(RunDependencies { gate, baseline, calibration, judge: None });
    };
    let judge = judge::setup_with_key(settings, environment, rubric, priced_judge)?;
    Ok(RunDependencies { gate, baseline, calibration, judge: Some(Arc::new(judge)) })
}

/// Refuses a run of a fleet: such a run is not continued on this machine alone.
pub fn refuse_fleet_run(known: Option<&RunRecord>) -> Result<(), AppError> {
    let Some((record, fleet)) = known.and_then(|known| Some((known, known.fleet.as_ref()?))) else {
        return Ok(());
    };
    Err(AppError::conflict(format!(
        "run {0} is the fleet's (namespace {fleet}), and this process would judge it twice; \
         continue it with: juror retry {0}",
        record.run_id
    )))
}

/// Refuses a new run with the name by which another run is blessed: the name would mean two runs.
pub fn refuse_blessed_name(runs_dir: &Path, run: &RunId) -> Result<(), AppError> {
    // Without a folder nothing is blessed; what cannot be one is refused where it is created.
    if !runs_dir.is_dir() {
        return Ok(());
    }
    match BlessedRuns::new(runs_dir).get(run.as_str())? {
        Some(blessed) if blessed.run_id != *run => Err(AppError::conflict(format!(
            "run {0} is blessed as {run:?} in {1}, so a run {run} would give that name two meanings: \
             use another run id, or remove the name with: juror bless --remove {run}",
            blessed.run_id,
            runs_dir.display(),
            run = run.as_str()
        ))),
        _ => Ok(()),
    }
}

/// Error for continuing a run that does not exist.
pub fn no_such_run(run: &str, runs_dir: &Path, remedy: &str) -> AppError {
    let other = RunId::parse(run).ok().and_then(|run| nearest(runs_dir, &run));
    let meant = other.map_or_else(String::new, |other| format!("did you mean {other}? "));
    AppError::not_found(format!(
        "there is no run {run:?} in {}; {meant}`juror runs` lists them; {remedy}",
        runs_dir.display()
    ))
}

/// Record of a run that has a directory here; `None` if its name is free. The name of a foreign
/// file or folder is refused.
pub fn known_run(runs_dir: &Path, run: &RunId) -> Result<Option<RunRecord>, AppError> {
    match RunFiles::open(runs_dir, run) {
        Ok(files) => Ok(Some(files.record().clone())),
        Err(JournalError::Missing(directory)) => {
            check_vacant(&directory)?;
            Ok(None)
        }
        Err(error) => Err(AppError::from(error)),
    }
}

/// The run in the runs directory of which this name is probably a misspelling. Names that differ
/// only in digits, as dates and counters do, are names of different runs.
pub fn nearest(runs_dir: &Path, run: &RunId) -> Option<String> {
    let entries = std::fs::read_dir(runs_dir).ok()?;
    let names = entries.flatten().filter(|entry| entry.path().join("run.json").exists());
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names
        .map(|name| (strsim::osa_distance(&name, run.as_str()), name))
        .filter(|(distance, name)| is_mistyped(*distance, name, run.as_str()))
        .min()
        .map(|(_, name)| name)
}

fn is_mistyped(distance: usize, name: &str, typed: &str) -> bool {
    let letters = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
    let max_distance = match name.chars().count().min(typed.chars().count()) {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    distance <= max_distance && letters(name) != letters(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typo_is_a_near_miss_and_another_date_is_not() {
        for (name, typed, expected) in [
            ("nightly-2026-11-22", "nigthly-2026-11-22", true),
            ("nightly-2026-11-22", "nightly-2026-11-23", false),
            ("baseline", "baselin", true),
            ("baseline", "candidate", false),
            ("run-1", "run-2", false),
            ("base", "bas", false),
            ("base", "bass", true),
            ("a", "b", false),
        ] {
            let distance = strsim::osa_distance(name, typed);
            assert_eq!(is_mistyped(distance, name, typed), expected, "{name} {typed}");
        }
    }
}
