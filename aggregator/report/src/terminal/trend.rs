//! Trend of metrics over runs, as text for a terminal.

use super::{
    TerminalOptions,
    page::{Page, Style, fit, padded, right_aligned},
};
use crate::{
    phrasing::{LEGEND, decline_text, provenance_mark},
    sanitize::harmless,
};
use juror_analysis::format::{dollars, figure, grouped, interval};
use juror_analysis::{
    history::{DeclineReport, DeclineState, PastMetric, PastRun, fingerprint_changes},
    metrics::{Interval, MetricDefinition},
};
use std::collections::BTreeMap;

/// Columns of a run's name; longer ones are cut.
const RUN: usize = 32;
/// Columns of a figure.
const FIGURE: usize = 9;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The runs, oldest first, with what each cost, and then metric by metric what it was in each
/// and whether it declines. Metrics that no run has are left out.
pub fn render_trend(
    runs: &[PastRun],
    metrics: &[MetricDefinition],
    declines: &BTreeMap<String, DeclineReport>,
    options: TerminalOptions,
) -> String {
    let mut page = Page::new(options.width, options.color);
    let Some(newest) = runs.last() else { return page.finish() };
    let badge: &[_] = match runs.iter().any(|run| run.figures.simulated) {
        true => &[(" SIMULATED ", Style::Badge)],
        false => &[],
    };
    let record = &newest.record;
    page.heading(
        &format!(
            "TREND of {}@{} over {}",
            harmless(&record.rubric.id),
            record.rubric.version,
            harmless(&record.dataset.path)
        ),
        badge,
    );
    costs(&mut page, runs);
    for (_, change) in fingerprint_changes(runs.iter().map(|run| (&run.id, &run.figures))) {
        page.wrapped(&format!("!\u{2007}{}", harmless(&change)), 2, Style::Doubtful);
    }
    for metric in metrics {
        let decline = declines.get(&metric.path);
        section(&mut page, runs, metric, decline);
    }
    page.blank();
    page.wrapped(LEGEND, 0, Style::Faint);
    page.finish()
}

fn costs(page: &mut Page, runs: &[PastRun]) {
    for run in runs {
        let figures = &run.figures;
        let scored = format!("{}/{} scored", grouped(figures.scored), grouped(figures.planned));
        let mark = if figures.simulated { "  SIMULATED" } else { "" };
        let line = format!(
            "   {}  {}{}{mark}",
            named(run),
            padded(&scored, 22),
            right_aligned(&dollars(figures.cost_usd), FIGURE),
        );
        page.line(&[(&line, Style::Plain)]);
    }
}

fn section(
    page: &mut Page,
    runs: &[PastRun],
    definition: &MetricDefinition,
    decline: Option<&DeclineReport>,
) {
    let judged = runs.last().is_some_and(|newest| newest.record.judge.is_some());
    let of = |run: &PastRun| run.figures.metrics.get(&definition.path).copied();
    let values: Vec<Option<f64>> =
        runs.iter().map(|run| of(run).map(|metric| metric.value)).collect();
    if values.iter().all(Option::is_none) {
        return;
    }
    page.blank();
    page.line(&[
        (&definition.title, Style::Heading),
        (" ", Style::Plain),
        (provenance_mark(definition, judged), Style::Faint),
        ("  ", Style::Plain),
        (&line_of(&values), Style::Plain),
        ("  ", Style::Plain),
        (&definition.path, Style::Faint),
    ]);
    if let Some(decline) = decline {
        let style = match decline.state {
            DeclineState::Steady => Style::Good,
            DeclineState::Declining => Style::Bad,
            _ => Style::Faint,
        };
        page.wrapped(&harmless(&decline_text(decline, definition.unit)), 2, style);
    }
    for run in runs {
        let text = match of(run) {
            None => right_aligned("–", FIGURE),
            Some(PastMetric { value, n, low, high }) => format!(
                "{}  {}",
                right_aligned(&figure(value, definition.unit), FIGURE),
                interval(&Interval { n, low, high }, definition.unit)
            ),
        };
        page.line(&[(&format!("   {}  {text}", named(run)), Style::Plain)]);
    }
}

fn named(run: &PastRun) -> String {
    let day: String = run.record.created_at.chars().take(10).collect();
    format!("{day}  {}", padded(&fit(&harmless(run.id.as_str()), RUN), RUN))
}

/// A small picture of values between the least and the greatest of them; a space where there is none.
fn line_of(values: &[Option<f64>]) -> String {
    let known = || values.iter().flatten().copied();
    let (least, most) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let level = |value: f64| {
        let share = if most > least { (value - least) / (most - least) } else { 0.5 };
        // A share lies between 0 and 1, so this is one of the levels.
        LEVELS.get((share * 7.0).round() as usize).copied().unwrap_or(' ')
    };
    values.iter().map(|value| value.map_or(' ', level)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_rises_with_its_values() {
        assert_eq!(line_of(&[Some(0.0), None, Some(0.5), Some(1.0)]), "▁ ▅█");
        assert_eq!(line_of(&[Some(3.0)]), "▅");
        assert_eq!(line_of(&[]), "");
    }
}
