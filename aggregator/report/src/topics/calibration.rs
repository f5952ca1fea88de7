//! Topic of the agreement of the judge with people.

use crate::{
    calibration_figures::{self, OF_ANOTHER_JUDGE},
    document::{Block, FigureCell, FigureColumn, FigureTable, Level, Topic},
};
use juror_analysis::{
    calibration::stored_calibration::{CalibrationStatus, RunCalibration},
    format::counted,
    run_report::Report,
};

/// The topic; none without a calibration.
pub fn topic(report: &Report) -> Option<Topic> {
    let known = report.calibration.as_ref()?;
    let mut blocks = vec![Block::Facts(vec![
        counted(known.n, "labeled item"),
        format!("run {}", known.run),
        calibration_figures::day(known).to_owned(),
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

fn figures(report: &Report, known: &RunCalibration) -> FigureTable {
    let rows = known.figures.iter().map(|each| {
        let cells = calibration_figures::cells(report, each).map(FigureCell::Figure).into();
        (each.title.clone(), Level::Plain, cells)
    });
    let columns = ["Kappa", "Off by", "Bias"].map(FigureColumn::new).into();
    FigureTable {
        note: "Kappa is Cohen's with quadratic weights: 1 where both are at the same step \
               everywhere, 0 where they agree by chance. Bias is the judge less the people.",
        ..FigureTable::new("Score", columns, rows.collect())
    }
}
