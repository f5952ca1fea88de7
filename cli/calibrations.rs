//! What is known of a judge's agreement with people.

use crate::{exit::Failure, screen};
use juror_aggregator::{
    calibration::{
        Binding,
        known::{CalibrationFileError, KnownCalibration, RunCalibration},
    },
    journal::RunFiles,
    report::Report,
};
use juror_common::settings::Settings;
use std::path::PathBuf;

/// The calibration that the settings name, or else those of the runs directory.
pub struct Calibrations {
    named: Option<KnownCalibration>,
    runs_dir: PathBuf,
}

impl Calibrations {
    /// Refuses a named file that is none; ask before anything is spent.
    pub fn of(settings: &Settings) -> Result<Self, Failure> {
        Ok(Self { named: named(settings)?, runs_dir: settings.run.runs_dir.clone() })
    }

    /// What they say of a run's judge; none if nobody has calibrated one.
    pub fn of_run(&self, files: &RunFiles, report: &Report) -> Option<RunCalibration> {
        let now = Binding::of(files.record(), report.run.simulated)?;
        let known = self.named.clone().or_else(|| {
            let (newest, unreadable) = KnownCalibration::newest_in(&self.runs_dir, &now);
            for error in unreadable {
                screen::warn(&error.to_string());
            }
            newest
        })?;
        Some(known.of_run(&now, report.run.base_url.as_deref()))
    }
}

/// The calibration that the settings name.
pub fn named(settings: &Settings) -> Result<Option<KnownCalibration>, Failure> {
    let named = settings.run.calibration.as_deref().map(KnownCalibration::read);
    named.transpose().map_err(calibration_failure)
}

/// What the user can mend on the command line exits with 2, the rest with 1.
pub fn calibration_failure(error: CalibrationFileError) -> Failure {
    match error {
        CalibrationFileError::Write { .. } => Failure::error(error),
        _ => Failure::usage(error),
    }
}
