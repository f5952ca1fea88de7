//! Calibration of a run's judge by people's ratings.

use super::baseline;
use crate::error::AppError;
use juror_analysis::{
    calibration::{
        Calibration, CalibrationInput, CalibrationScope, HumanLabels, calibrate,
        stored_calibration::KnownCalibration,
    },
    format::counted,
    metrics::AveragingPolicy,
    run_report::Report,
};
use juror_journal::journal::RunFiles;
use juror_types::rubric::Rubric;
use std::path::Path;

/// The calibration of a run by the ratings of a file, else by those of its items.
///
/// # Errors
/// The run is active or has no judge, or no item has both a rating and a score; unreadable files.
pub fn calibrate_run(files: &RunFiles, file: Option<&Path>) -> Result<Calibration, AppError> {
    if files.is_held() {
        let run = &files.record().run_id;
        return Err(AppError::conflict(format!(
            "run {run} is active, and the items that ended first are not like the others: \
             calibrate it when it has ended"
        )));
    }
    let report = baseline::report_of(files, None, AveragingPolicy::default())?;
    let record = files.record();
    let Some(scope) = CalibrationScope::for_run(record, report.run.simulated) else {
        return Err(AppError::invalid(format!(
            "run {} has no judge to calibrate: it ran without --enable-llm-judge",
            record.run_id
        )));
    };
    let labels = match file {
        Some(file) => read_labels(file, &report.rubric)?,
        None => labels_of_items(files, &report)?,
    };
    let name = file.map(|file| file.display().to_string());
    let created_at = jiff::Timestamp::now().to_string();
    let input = CalibrationInput {
        record,
        scope: &scope,
        base_url: report.run.base_url.as_deref(),
        rubric: &report.rubric,
        labels: &labels,
        file: name.as_deref(),
        created_at: &created_at,
    };
    let results = report.items.read(files)?;
    let calibration = calibrate(input, results)?;
    require_pairs(&calibration)?;
    Ok(calibration)
}

/// Refuses to replace a calibration of enough items by one of too few for the same judge. An
/// unreadable file is replaced.
///
/// # Errors
/// The file at this path is better founded.
pub fn check_replacement(own: &Path, calibration: &Calibration) -> Result<(), AppError> {
    let Ok(known) = KnownCalibration::read(own) else { return Ok(()) };
    let is_same = known.calibration.scope.digest == calibration.scope.digest;
    if !is_same || !known.calibration.has_enough_items() || calibration.has_enough_items() {
        return Ok(());
    }
    Err(AppError::invalid(format!(
        "{} rests on {} and is not replaced by a calibration of {}: label more items, or remove \
         that file first",
        own.display(),
        counted(known.calibration.coverage.paired_items, "labeled item"),
        counted(calibration.coverage.paired_items, "labeled item")
    )))
}

fn read_labels(file: &Path, rubric: &Rubric) -> Result<HumanLabels, AppError> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file)
        .map_err(|error| AppError::invalid(format!("the labels {name} cannot be read: {error}")))?;
    HumanLabels::read(&name, &bytes, rubric).map_err(AppError::invalid)
}

fn labels_of_items(files: &RunFiles, report: &Report) -> Result<HumanLabels, AppError> {
    let results = report.items.read(files)?;
    let results = results.map(|result| result.map_err(AppError::from));
    let labels = HumanLabels::from_items(&report.rubric, results)?;
    if labels.is_empty() {
        return Err(AppError::invalid(format!(
            "no item of run {} has a label for a criterion: pass --labels FILE, or add `labels` to \
             the items of the dataset",
            report.run.id
        )));
    }
    Ok(labels)
}

/// Refuses labels without a rated and scored item: a calibration from nothing would be applied to
/// later runs.
fn require_pairs(calibration: &Calibration) -> Result<(), AppError> {
    let coverage = &calibration.coverage;
    if coverage.paired_items > 0 {
        return Ok(());
    }
    let (unknown, not_scored) = (coverage.unknown.len() as u64, coverage.not_scored.len() as u64);
    let without_rating = coverage.labelled_items.saturating_sub(unknown + not_scored);
    let ids: Vec<String> = coverage.unknown.iter().take(3).map(|id| format!("{id:?}")).collect();
    let reasons = [
        (unknown, format!("not in the run ({}, …)", ids.join(", "))),
        (not_scored, "without a score in it".to_owned()),
        (without_rating, "without a rating".to_owned()),
    ];
    let reasons = reasons.into_iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons.map(|(count, what)| format!("{count} {what}")).collect();
    Err(AppError::invalid(format!(
        "no item has both a rating and a score in run {}: of {}, {}; label items by their ids in \
         the dataset, with a number for a criterion",
        calibration.run,
        counted(coverage.labelled_items, "labeled item"),
        reasons.join(", ")
    )))
}
