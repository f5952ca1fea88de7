//! The calibration in the settings.

use crate::{error::AppError, settings::Settings};
use juror_analysis::calibration::stored_calibration::KnownCalibration;

/// The calibration in the settings; call it before anything is spent. Without one, reports search
/// the runs directory.
pub fn named(settings: &Settings) -> Result<Option<KnownCalibration>, AppError> {
    let named = settings.run.calibration.as_deref().map(KnownCalibration::read);
    named.transpose().map_err(AppError::from)
}
