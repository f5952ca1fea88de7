//! Metrics as text for a terminal.

use super::page::{INDENT, Page, Style, broken, padded};
use crate::{
    document::ShownMetric,
    phrasing::{SIMULATED, legend, provenance_text},
    sanitize::sanitize,
};
use juror_analysis::metrics::Provenance;
use unicode_width::UnicodeWidthStr as _;

/// Columns of labels.
const LABEL: usize = 26;
/// Columns of figures.
const FIGURE: usize = 9;

/// Lines of the metrics, and a legend of their marks.
pub(super) fn metrics(page: &mut Page, metrics: &[ShownMetric]) {
    metrics.iter().for_each(|metric| line(page, metric));
    page.wrapped(&legend_of(metrics.iter().map(|metric| metric.origin)), 0, Style::Faint);
}

/// `(m)`, `(j)` or `(m+j)`: the origin of a metric's figure.
pub(super) fn mark(origin: Provenance) -> &'static str {
    match origin {
        Provenance::Measured => "(m)",
        Provenance::Judged => "(j)",
        Provenance::Both => "(m+j)",
    }
}

/// Meaning of those marks.
pub(super) fn legend_of(origins: impl Iterator<Item = Provenance> + Clone) -> String {
    legend(origins, |origin| format!("{} {}", mark(origin), provenance_text(origin)))
}

fn line(page: &mut Page, metric: &ShownMetric) {
    let label = format!("{} {}:", sanitize(&metric.title), mark(metric.origin));
    let label = padded(&label, LABEL + 1);
    let indent = " ".repeat(INDENT);
    let Some(value) = &metric.value else {
        let none = "no data";
        return page.line(&[(&indent, Style::Plain), (&label, Style::Plain), (none, Style::Faint)]);
    };
    let margin = INDENT + LABEL + 1 + FIGURE;
    let simulated = if metric.simulated { format!("  {SIMULATED}") } else { String::new() };
    let figure = padded(value, FIGURE);
    let room = page.width.saturating_sub(margin + simulated.len());
    let details = details(metric, room);
    for (number, detail) in details.iter().enumerate() {
        let detail = &detail.replace('\u{2007}', " ");
        if number == 0 {
            page.line(&[
                (&indent, Style::Plain),
                (&label, Style::Plain),
                (&figure, Style::Heading),
                (detail, Style::Plain),
                (&simulated, Style::Doubtful),
            ]);
        } else {
            page.line(&[(&" ".repeat(margin), Style::Plain), (detail, Style::Plain)]);
        }
    }
}

/// Spread and interval, in lines of this width.
fn details(metric: &ShownMetric, room: usize) -> Vec<String> {
    let interval = &metric.interval;
    // A spread breaks behind its first comma only.
    let spread = metric.spread.replace(' ', "\u{2007}").replacen(",\u{2007}", ", ", 1);
    let mut details = if spread.is_empty() { Vec::new() } else { broken(&spread, room, room) };
    let fits = |before: usize| before + interval.width() <= room;
    match details.as_mut_slice() {
        [only] if fits(only.width() + 2) => only.push_str(&format!("  {interval}")),
        [] if !fits(0) => details.extend([String::new(), interval.clone()]),
        _ => details.push(interval.clone()),
    }
    details
}
