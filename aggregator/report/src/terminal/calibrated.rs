//! What is known, from an earlier run, of how far a run's judge agrees with people.

use super::{
    super::agreement::{self, OF_ANOTHER_JUDGE},
    page::{INDENT, Page, Style, fit, padded, right_aligned},
};
use crate::sanitize::harmless;
use juror_analysis::format::{counted, grouped};
use juror_analysis::{
    calibration::known::{CalibrationStatus, RunCalibration},
    run_report::Report,
};

/// So many criteria are shown.
const MAX: usize = 8;
const WIDTHS: [usize; 3] = [20, 8, 21];

pub(super) fn section(page: &mut Page, report: &Report) {
    let Some(known) = &report.calibration else { return };
    let mark = if known.simulated { "  SIMULATED" } else { "" };
    let (word, style) = match known.status {
        CalibrationStatus::Calibrated => ("CALIBRATED", Style::Good),
        CalibrationStatus::NotEnough => ("NOT ENOUGH", Style::Doubtful),
        CalibrationStatus::Uncalibrated => ("UNCALIBRATED", Style::Bad),
    };
    page.blank();
    page.heading(&format!("JUDGE AND PEOPLE{mark}"), &[(word, style)]);
    let facts = format!(
        "{} · run {} · {} · {}",
        counted(known.n, "labelled item"),
        harmless(known.run.as_str()),
        harmless(agreement::day(known)),
        harmless(&known.file)
    );
    page.wrapped(&facts, 0, Style::Faint);
    for change in &known.changed {
        page.wrapped(&format!("CHANGED: {}", harmless(change)), 2, Style::Bad);
    }
    if known.status == CalibrationStatus::Uncalibrated {
        page.wrapped(OF_ANOTHER_JUDGE, 0, Style::Plain);
    } else {
        figures(page, known, report);
    }
    if let Some(reason) = &known.shortfall {
        let text =
            format!("!\u{2007}not enough to call the judge calibrated: {}", harmless(reason));
        page.wrapped(&text, 2, Style::Doubtful);
    }
    for note in &known.notes {
        page.wrapped(&format!("!\u{2007}{}", harmless(note)), 2, Style::Doubtful);
    }
}

fn figures(page: &mut Page, known: &RunCalibration, report: &Report) {
    let room = page.width.saturating_sub(INDENT + WIDTHS.iter().sum::<usize>());
    let line = |page: &mut Page, title: &str, cells: [String; 3], style: Style| {
        let title = padded(&fit(&harmless(title), room.saturating_sub(1)), room);
        let cells = cells.iter().zip(WIDTHS);
        let cells: String = cells.map(|(cell, width)| right_aligned(cell, width)).collect();
        let indent = " ".repeat(INDENT);
        page.line(&[(&indent, style), (&title, style), (&cells, style)]);
    };
    line(page, "", ["Kappa", "Off by", "Bias"].map(str::to_owned), Style::Faint);
    for each in known.figures.iter().take(MAX) {
        line(page, &each.title, agreement::cells(report, each), Style::Plain);
    }
    let more = known.figures.len().saturating_sub(MAX) as u64;
    if more > 0 {
        let text = format!("… {} more in report.json", grouped(more));
        page.wrapped(&text, 0, Style::Faint);
    }
}
