//! Calibration of a judge against people.

use crate::{error::AppError, settings::Settings};
use juror_analysis::calibration::known::KnownCalibration;

/// The calibration that the settings name; ask before anything is spent. Without one, reports look
/// for it beside their run.
pub fn named(settings: &Settings) -> Result<Option<KnownCalibration>, AppError> {
    let named = settings.run.calibration.as_deref().map(KnownCalibration::read);
    named.transpose().map_err(AppError::from)
}
