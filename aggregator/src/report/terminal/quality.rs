//! The metrics, and how much of the dataset they rest on.

use super::{
    SIMULATED,
    figures::{figure, grouped, interval},
    page::{INDENT, Page, Style, padded},
};
use crate::{
    metrics::{Metric, Perfection, Unit},
    report::{Report, row::word},
};

/// Columns of labels and of figures.
const LABEL: usize = 24;
const FIGURE: usize = 9;

/// The judge's metrics; for grading rubrics also how many verdicts earned which grade.
pub(super) fn semantic(page: &mut Page, report: &Report) {
    for metric in report.metrics.iter().filter(|metric| metric.definition.is_semantic()) {
        metric_line(page, metric, report.run.simulated);
    }
    let grades = report.overall.semantic.as_ref().and_then(|semantic| semantic.grades.as_ref());
    if let Some(grades) = grades {
        let counts: Vec<String> = grades
            .iter()
            .map(|(grade, count)| format!("{grade}\u{2007}{}", grouped(*count)))
            .collect();
        let simulated = if report.run.simulated { "   SIMULATED" } else { "" };
        page.labelled("Grades", LABEL, &format!("{}{simulated}", counts.join("   ")));
    }
}

/// Whether any deterministic stage has data.
pub(super) fn has_stages(report: &Report) -> bool {
    report.metrics.iter().any(|metric| is_stage(metric) && metric.value.is_some())
}

/// The deterministic stages that have data.
pub(super) fn stages(page: &mut Page, report: &Report) {
    let with_data = |metric: &&Metric| is_stage(metric) && metric.value.is_some();
    for metric in report.metrics.iter().filter(with_data) {
        metric_line(page, metric, false);
    }
    if !has_stages(report) {
        page.wrapped("no stage has any data", 0, Style::Faint);
    }
}

/// How many jobs the metrics rest on, and why the others are missing.
pub(super) fn coverage(page: &mut Page, report: &Report) {
    let coverage = &report.coverage;
    let mut text = format!("{} of {} scored", grouped(coverage.scored), grouped(coverage.planned));
    if coverage.planned > 0 && !coverage.is_complete() {
        let share = coverage.scored as f64 / coverage.planned as f64;
        text.push_str(&format!(" ({})", figure(share, Unit::Share)));
    }
    let others = [
        (coverage.unscorable, "unscorable"),
        (coverage.failed, "failed"),
        (coverage.skipped, "skipped"),
        (coverage.pending, "pending"),
    ];
    for (count, outcome) in others.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {} {outcome}", grouped(count)));
    }
    page.labelled("Coverage", LABEL, &text);
    if !coverage.errors.is_empty() {
        let kinds: Vec<String> = coverage
            .errors
            .iter()
            .map(|(kind, count)| format!("{}\u{2007}{}", word(kind), grouped(*count)))
            .collect();
        page.labelled("Errors", LABEL, &kinds.join(", "));
    }
}

fn is_stage(metric: &Metric) -> bool {
    !metric.definition.is_semantic() && metric.definition.unit != Unit::Milliseconds
}

fn metric_line(page: &mut Page, metric: &Metric, simulated: bool) {
    let definition = &metric.definition;
    let label = padded(&format!("{}:", definition.title), LABEL + 1);
    let indent = " ".repeat(INDENT);
    let Some(value) = metric.value else {
        let none = "no data";
        return page.line(&[(&indent, Style::Plain), (&label, Style::Plain), (none, Style::Faint)]);
    };
    let figure = padded(&figure(value, definition.unit), FIGURE);
    let detail = metric.perfection.as_ref().map(perfection);
    let sure = interval(&metric.interval, definition.unit);
    let mark = if simulated { format!("  {SIMULATED}") } else { String::new() };
    let mut pieces = vec![
        (indent.as_str(), Style::Plain),
        (label.as_str(), Style::Plain),
        (figure.as_str(), Style::Heading),
    ];
    match &detail {
        None => pieces.push((&sure, Style::Faint)),
        Some(detail) => pieces.push((detail, Style::Plain)),
    }
    pieces.push((&mark, Style::Doubtful));
    page.line(&pieces);
    if detail.is_some() {
        let margin = " ".repeat(INDENT + LABEL + 1 + FIGURE);
        page.line(&[(&margin, Style::Plain), (&sure, Style::Faint)]);
    }
}

/// `(15/18 perfect, 3 with minor issues)`.
fn perfection(spread: &Perfection) -> String {
    let all = spread.perfect + spread.minor + spread.major;
    let mut text = format!("({}/{} perfect", grouped(spread.perfect), grouped(all));
    for (count, kind) in [(spread.minor, "minor"), (spread.major, "major")] {
        if count > 0 {
            text.push_str(&format!(", {} with {kind} issues", grouped(count)));
        }
    }
    text.push(')');
    text
}
