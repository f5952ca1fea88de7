//! How far the judge agrees with itself, where items were judged several times.

use super::page::{INDENT, Page, Style, fit, padded, right_aligned};
use crate::sanitize::harmless;
use juror_analysis::format::{counted, decimals, figure};
use juror_analysis::{
    metrics::Unit,
    repeats::{CriterionAgreement, Repeats},
    run_report::Report,
};

/// So many items are shown; report.json has them all.
const MAX: usize = 5;
const COLUMN: usize = 14;

pub(super) fn section(page: &mut Page, report: &Report) {
    let Some(repeats) = &report.repeats else { return };
    page.blank();
    let mark = if report.run.simulated { "  SIMULATED" } else { "" };
    let heads = ["Alpha", "Noise's share", "Deviation"].map(|head| right_aligned(head, COLUMN));
    page.heading(&format!("REPEATS{mark}"), &[(&heads.concat(), Style::Faint)]);
    let points = report.rubric.scale;
    let scale = Unit::Points { least: points.min.into(), most: points.max.into() };
    line(page, &repeats.score, Unit::Share);
    for criterion in &repeats.criteria {
        line(page, criterion, scale);
    }
    page.wrapped(
        "Krippendorff's alpha (1: the judge repeats itself); the share of a single verdict's \
         variance that is the judge's own noise; its standard deviation around an item's mean",
        0,
        Style::Faint,
    );
    items(page, repeats);
}

fn line(page: &mut Page, criterion: &CriterionAgreement, unit: Unit) {
    let none = || "–".to_owned();
    let found = &criterion.agreement;
    let deviation = |value: f64| match unit {
        Unit::Share => figure(value, unit),
        _ => decimals(value, 2),
    };
    let cells = [
        found.alpha.map_or_else(none, |alpha| format!("{alpha:.2}")),
        found.noise_share.map_or_else(none, |share| figure(share, Unit::Share)),
        found.noise_deviation.map_or_else(none, deviation),
    ];
    let cells = cells.map(|cell| right_aligned(&cell, COLUMN)).concat();
    let room = page.width.saturating_sub(INDENT + 3 * COLUMN);
    let title = padded(&fit(&harmless(&criterion.title), room.saturating_sub(1)), room);
    page.line(&[
        (&" ".repeat(INDENT), Style::Plain),
        (&title, Style::Plain),
        (&cells, Style::Plain),
    ]);
}

fn items(page: &mut Page, repeats: &Repeats) {
    let unsteady = repeats.items.iter().filter(|item| item.deviation > 0.0);
    let count = unsteady.clone().count();
    if count == 0 {
        return;
    }
    let told = counted(repeats.items.len() as u64, "item");
    page.wrapped(&format!("Verdicts differ on {count} of {told}:"), 0, Style::Heading);
    for item in unsteady.take(MAX) {
        let share = |value: f64| figure(value, Unit::Share);
        let text = format!(
            "-\u{2007}{}: {} ± {}, from {} to {}",
            harmless(&item.id),
            share(item.mean),
            share(item.deviation),
            share(item.low),
            share(item.high)
        );
        page.wrapped(&text, 2, Style::Plain);
    }
    if count > MAX {
        page.wrapped(&format!("… {} more", count - MAX), 2, Style::Faint);
    }
}
