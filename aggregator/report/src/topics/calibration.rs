//! Topic of the agreement of the judge with people.

use crate::document::{Block, FigureCell, FigureColumn, FigureTable, Level, Topic};
use juror_analysis::{
    calibration::{
        Figure,
        stored_calibration::{CalibratedCriterion, CalibrationStatus, RunCalibration},
    },
    comparison::change,
    format::counted,
    metrics::Unit,
    run_report::Report,
};

/// Title of a calibration that is of another judge.
const OF_ANOTHER_JUDGE: &str = "How far this judge agrees with people is not known: \
    that calibration is of another one. Calibrate this one with juror calibrate.";

/// The topic; `None` without a calibration.
pub fn topic(report: &Report) -> Option<Topic> {
    let known = report.calibration.as_ref()?;
    let mut blocks = vec![Block::Facts(vec![
        counted(known.n, "labeled item"),
        format!("run {}", known.run),
        known.created_at.split('T').next().unwrap_or_default().to_owned(),
        known.file.clone(),
    ])];
    let changed = known.changed.iter();
    blocks.extend(changed.map(|text| Block::Sentence(Level::Bad, "Changed", text.clone())));
    blocks.push(match known.status {
        CalibrationStatus::Uncalibrated => {
            Block::Sentence(Level::Plain, "", OF_ANOTHER_JUDGE.to_owned())
        }
        CalibrationStatus::Calibrated | CalibrationStatus::NotEnough => {
            Block::Table(figures(report, known))
        }
    });
    let shortfall = known.shortfall.iter();
    let shortfall =
        shortfall.map(|reason| format!("not enough to call the judge calibrated: {reason}"));
    let notes = shortfall.chain(known.notes.iter().cloned());
    blocks.extend(notes.map(|text| Block::Sentence(Level::Doubtful, "", text)));
    let (word, level) = match known.status {
        CalibrationStatus::Calibrated => ("calibrated", Level::Good),
        CalibrationStatus::NotEnough => ("not enough", Level::Doubtful),
        CalibrationStatus::Uncalibrated => ("uncalibrated", Level::Bad),
    };
    let topic = Topic::new("calibration", "Judge and people", known.simulated, blocks);
    Some(Topic { status: Some((word.to_owned(), level)), ..topic })
}

/// `0.71 [0.55, 0.82]`.
pub(super) fn coefficient(figure: &Figure) -> String {
    with_interval(figure, |value| {
        let text = format!("{value:.2}").replace('-', "−");
        if text == "−0.00" { "0.00".to_owned() } else { text }
    })
}

/// `−3.2 [−5.0, −1.4]`, in percentage points or in points.
pub(super) fn difference(figure: &Figure, unit: Unit) -> String {
    with_interval(figure, |value| change(value, unit))
}

/// `4.1`, in the same units.
pub(super) fn size(value: f64, unit: Unit) -> String {
    change(value, unit).trim_start_matches('+').to_owned()
}

/// A value, or a dash where there is none.
pub(super) fn optional(value: Option<f64>, shown: impl FnOnce(f64) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), shown)
}

fn figures(report: &Report, known: &RunCalibration) -> FigureTable {
    let rows = known.figures.iter().map(|each| {
        let cells = cells(report, each).map(FigureCell::Figure).into();
        (each.title.clone(), Level::Plain, cells)
    });
    let columns = ["Kappa", "Off by", "Bias"].map(FigureColumn::new);
    FigureTable {
        note: "Kappa is Cohen's with quadratic weights: 1 where both are at the same step \
               everywhere, 0 where they agree by chance. Bias is the judge less the people.",
        ..FigureTable::new("Score", columns, rows)
    }
}

/// Cells of a criterion: kappa, the judge's mean deviation, and its bias.
fn cells(report: &Report, criterion: &CalibratedCriterion) -> [String; 3] {
    let is_criterion = report.rubric.criteria.iter().any(|own| own.key == criterion.key);
    let unit = match is_criterion {
        true => Unit::Points { least: 0.0, most: 1.0 },
        false => Unit::Share,
    };
    [
        coefficient(&criterion.weighted_kappa),
        optional(criterion.mean_absolute_error.value, |value| size(value, unit)),
        difference(&criterion.bias, unit),
    ]
}

fn with_interval(figure: &Figure, shown: impl Fn(f64) -> String) -> String {
    optional(figure.value, |value| match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!("{} [{}, {}]", shown(value), shown(low), shown(high)),
        _ => shown(value),
    })
}
