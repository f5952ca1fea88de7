//! Figures of a calibration in writing.

use juror_analysis::run_report::Report;
use juror_analysis::{
    calibration::{
        Figure,
        stored_calibration::{CalibratedCriterion, RunCalibration},
    },
    comparison::change,
    metrics::Unit,
};

const NONE: &str = "–";

/// Cells of a criterion: kappa, the judge's mean deviation, and its bias.
pub(super) fn cells(report: &Report, criterion: &CalibratedCriterion) -> [String; 3] {
    let is_criterion = report.rubric.criteria.iter().any(|own| own.key == criterion.key);
    let unit = match is_criterion {
        true => Unit::Points { least: 0.0, most: 1.0 },
        false => Unit::Share,
    };
    let off = criterion.mean_absolute_error.value;
    let off = off.map_or_else(|| NONE.to_owned(), |value| size(value, unit));
    [coefficient(&criterion.weighted_kappa), off, difference(&criterion.bias, unit)]
}

/// Title of a calibration that is of another judge.
pub(super) const OF_ANOTHER_JUDGE: &str = "How far this judge agrees with people is not known: \
    that calibration is of another one. Calibrate this one with juror calibrate.";

/// The day on which it was made.
pub(super) fn day(known: &RunCalibration) -> &str {
    known.created_at.split('T').next().unwrap_or_default()
}

/// `0.71 [0.55, 0.82]`.
pub(super) fn coefficient(all: &Figure) -> String {
    with_interval(all, |value| {
        let text = format!("{value:.2}").replace('-', "−");
        if text == "−0.00" { "0.00".to_owned() } else { text }
    })
}

/// `−3.2 [−5.0, −1.4]`, in percentage points or in points.
pub(super) fn difference(all: &Figure, unit: Unit) -> String {
    with_interval(all, |value| change(value, unit))
}

/// `4.1`, in the same units.
pub(super) fn size(value: f64, unit: Unit) -> String {
    change(value, unit).trim_start_matches('+').to_owned()
}

fn with_interval(all: &Figure, shown: impl Fn(f64) -> String) -> String {
    match (all.value, all.low, all.high) {
        (None, ..) => NONE.to_owned(),
        (Some(value), Some(low), Some(high)) => {
            format!("{} [{}, {}]", shown(value), shown(low), shown(high))
        }
        (Some(value), ..) => shown(value),
    }
}
