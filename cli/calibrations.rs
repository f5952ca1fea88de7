//! What is known of a judge's agreement with people.

use crate::exit::Failure;
use juror_analysis::calibration::known::{CalibrationFileError, KnownCalibration};
use juror_app::settings::Settings;

/// The calibration that the settings name; ask before anything is spent. Without one, reports look
/// for it beside their run.
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
