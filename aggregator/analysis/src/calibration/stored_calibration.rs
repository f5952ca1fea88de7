//! Existing calibrations, and the selection of one for a run.

use super::{Calibration, CalibrationScope, Figure};
use juror_journal::replace_file::replace_json;
use juror_types::{SCHEMA, id::RunId};
use serde::Serialize;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Name of the file in a run directory.
pub const FILE_NAME: &str = "calibration.json";

/// A calibration with its file.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownCalibration {
    /// Path as given.
    pub path: PathBuf,
    /// Content of the file.
    pub calibration: Calibration,
}

/// Agreement of a run's judge with people, in its report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunCalibration {
    /// Status of the calibration for this judge.
    pub status: CalibrationStatus,
    /// Name of the calibration file.
    pub file: String,
    /// The run that was calibrated.
    pub run: RunId,
    /// Time of its creation, RFC 3339 in UTC.
    pub created_at: String,
    /// Number of labeled items.
    pub n: u64,
    /// True for the simulator.
    pub simulated: bool,
    /// Changes of the judge since; empty for the same one.
    pub changed: Vec<String>,
    /// Reason why the labels do not suffice to call the same judge calibrated; absent if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Total score and rated criteria; empty for another judge.
    pub figures: Vec<CalibratedCriterion>,
}

/// Status of a calibration for a run's judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationStatus {
    /// The same judge, whose agreement with people is at least moderate.
    Calibrated,
    /// The same judge, with too few items or a kappa that may be less than moderate.
    NotEnough,
    /// Another judge.
    Uncalibrated,
}

/// Figures of a criterion in a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibratedCriterion {
    /// Key of the criterion in its rubric.
    pub key: String,
    /// Title in reports.
    pub title: String,
    /// Number of items.
    pub n: u64,
    /// Cohen's kappa with quadratic weights.
    pub weighted_kappa: Figure,
    /// Spearman's rank correlation.
    pub spearman: Figure,
    /// Mean deviation of the judge; a share for the total score, points for a criterion.
    pub mean_absolute_error: Figure,
    /// Mean of judge minus people, in the same unit.
    pub bias: Figure,
}

/// The error of reading or writing a calibration's file.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum CalibrationFileError {
    /// The file cannot be read, is no calibration, or has another extension than that of JSON.
    #[error("{0}")]
    Invalid(String),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl KnownCalibration {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, CalibrationFileError> {
        let shown = path.display();
        let invalid = |reason: String| {
            CalibrationFileError::Invalid(format!(
                "{shown} is not a calibration: {reason}; create it again with juror calibrate"
            ))
        };
        let bytes = fs::read(path).map_err(|error| {
            CalibrationFileError::Invalid(format!(
                "the calibration {shown} cannot be read: {error}"
            ))
        })?;
        let json: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?;
        let schema = json.get("schema").and_then(serde_json::Value::as_u64);
        if let Some(found) = schema.filter(|found| *found != u64::from(SCHEMA)) {
            return Err(CalibrationFileError::Invalid(format!(
                "the calibration {shown} has schema {found}, but this program reads schema {SCHEMA}"
            )));
        }
        let calibration: Calibration =
            serde_json::from_value(json).map_err(|error| invalid(error.to_string()))?;
        if !calibration.scope.is_sound() {
            return Err(invalid("its digest does not match its judge".to_owned()));
        }
        Ok(Self { path: path.to_owned(), calibration })
    }

    /// The newest calibration of a run in this directory for the same judge, with enough items if
    /// there is one; without one, the newest by the same rubric for another judge. Judges and the
    /// simulator are kept apart. Unreadable files are skipped and returned as errors.
    pub fn newest_in(
        runs_dir: &Path,
        now: &CalibrationScope,
    ) -> (Option<Self>, Vec<CalibrationFileError>) {
        let mut unreadable = Vec::new();
        let mut found: Vec<Self> = Vec::new();
        for entry in fs::read_dir(runs_dir).into_iter().flatten().flatten() {
            let path = entry.path().join(FILE_NAME);
            if !path.is_file() {
                continue;
            }
            match Self::read(&path) {
                Ok(known) => found.push(known),
                Err(error) => unreadable.push(error),
            }
        }
        let of_kind = |known: &Self| {
            let scope = &known.calibration.scope;
            scope.simulated == now.simulated && scope.rubric.id == now.rubric.id
        };
        let newest = found.into_iter().filter(of_kind).max_by_key(|known| {
            let created: Option<jiff::Timestamp> = known.calibration.created_at.parse().ok();
            let is_same = known.calibration.scope.digest == now.digest;
            (is_same, known.calibration.has_enough_items(), created)
        });
        (newest, unreadable)
    }

    /// Agreement of a run's judge at this base URL.
    pub fn for_run(&self, now: &CalibrationScope, base_url: Option<&str>) -> RunCalibration {
        let calibration = &self.calibration;
        let changed = calibration.scope.changes(now);
        let is_same = calibration.scope.digest == now.digest;
        let shortfall = calibration.shortfall().filter(|_| is_same);
        let elsewhere = calibration.base_url.as_deref() != base_url && !now.simulated;
        let note = match (&calibration.base_url, base_url) {
            (Some(then), Some(now)) if is_same && elsewhere => Some(format!(
                "the judge's endpoint changed from {then} to {now}: the same model name may mean \
                 another model"
            )),
            _ => None,
        };
        let rated = calibration.all().filter(|each| is_same && each.agreement.n > 0);
        RunCalibration {
            status: match (is_same, &shortfall) {
                (true, None) => CalibrationStatus::Calibrated,
                (true, Some(_)) => CalibrationStatus::NotEnough,
                (false, _) => CalibrationStatus::Uncalibrated,
            },
            file: self.path.display().to_string(),
            run: calibration.run.clone(),
            created_at: calibration.created_at.clone(),
            n: calibration.coverage.paired_items,
            simulated: calibration.scope.simulated,
            changed,
            shortfall,
            notes: note.into_iter().collect(),
            figures: rated
                .map(|each| CalibratedCriterion {
                    key: each.key.clone(),
                    title: each.title.clone(),
                    n: each.agreement.n,
                    weighted_kappa: each.agreement.weighted_kappa.clone(),
                    spearman: each.agreement.spearman.clone(),
                    mean_absolute_error: each.agreement.mean_absolute_error.clone(),
                    bias: each.agreement.bias.clone(),
                })
                .collect(),
        }
    }
}

/// Checks the name of an output file, before the work.
pub fn check_output(path: &Path) -> Result<(), CalibrationFileError> {
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let wrong = || format!("{}: a calibration is written as .json", path.display());
    if is_json { Ok(()) } else { Err(CalibrationFileError::Invalid(wrong())) }
}

/// Writes a calibration to a file, atomically.
pub fn write(path: &Path, calibration: &Calibration) -> Result<(), CalibrationFileError> {
    check_output(path)?;
    replace_json(path, calibration)
        .map_err(|source| CalibrationFileError::Write { path: path.to_owned(), source })
}
