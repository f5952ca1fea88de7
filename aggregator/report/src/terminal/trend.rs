//! Trend of metrics over runs, as text for a terminal.

use super::{
    TerminalOptions, blocks,
    metrics::{legend_of, mark},
    page::{Page, Style},
};
use crate::topics::trend;
use juror_analysis::{
    history::{DeclineReport, PastRun},
    metrics::MetricDefinition,
};
use std::collections::BTreeMap;

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Runs, oldest first, with their costs, followed by each metric with its values and decline.
/// Metrics without data are left out.
pub fn render_trend(
    runs: &[PastRun],
    metrics: &[MetricDefinition],
    declines: &BTreeMap<String, DeclineReport>,
    options: TerminalOptions,
) -> String {
    let mut page = Page::new(options.width, options.color);
    let Some(newest) = runs.last() else { return page.finish() };
    blocks::topic(&mut page, &trend::topic(runs, &newest.record));
    let judged = newest.record.judge.is_some();
    for metric in metrics {
        let Some(mut topic) = trend::metric(runs, metric, declines.get(&metric.path)) else {
            continue;
        };
        let of = |run: &PastRun| Some(run.figures.metrics.get(&metric.path)?.value);
        let line = line_of(&runs.iter().map(of).collect::<Vec<_>>());
        topic.name = format!("{}  {line}", mark(metric.provenance(judged)));
        blocks::section(&mut page, &topic);
    }
    page.blank();
    let origins = metrics.iter().map(|metric| metric.provenance(judged));
    page.wrapped(&legend_of(origins), 0, Style::Faint);
    page.finish()
}

/// Sparkline of values between their minimum and maximum; a space for a missing value.
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
    fn sparkline_rises_with_its_values() {
        assert_eq!(line_of(&[Some(0.0), None, Some(0.5), Some(1.0)]), "▁ ▅█");
        assert_eq!(line_of(&[Some(3.0)]), "▅");
        assert_eq!(line_of(&[]), "");
    }
}
