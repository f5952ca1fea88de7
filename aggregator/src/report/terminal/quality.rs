//! The metrics, and how much of the dataset they rest on.

use super::{
    SIMULATED,
    figures::{figure, grouped, interval},
    page::{INDENT, Page, Style, broken, harmless, padded},
};
use crate::{
    metrics::{Metric, Perfection, Unit},
    report::{Report, row::word},
};
use unicode_width::UnicodeWidthStr as _;

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
        // Whether an item passed depends on its verdict too.
        let judged = metric.definition.path == "pipeline_success_rate";
        metric_line(page, metric, report.run.simulated && judged);
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
    for (number, (kind, count)) in coverage.errors.iter().enumerate() {
        let label = if number == 0 { "Errors:" } else { "" };
        let example = report.worst.iter().filter_map(|row| row.error.as_ref());
        let example =
            example.filter(|error| error.kind == *kind).map(|error| &error.message).next();
        let message = example.map(|message| format!(": {}", harmless(message))).unwrap_or_default();
        let text = format!("{} {}{message}", word(kind), grouped(*count));
        let label = padded(label, LABEL).replace(' ', "\u{2007}");
        page.wrapped(&format!("{label}\u{2007}{text}"), LABEL + 1, Style::Plain);
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
    let margin = INDENT + LABEL + 1 + FIGURE;
    let mark = if simulated { format!("  {SIMULATED}") } else { String::new() };
    let figure = padded(&figure(value, definition.unit), FIGURE);
    let sure = interval(&metric.interval, definition.unit);
    let room = page.width.saturating_sub(margin + mark.len());
    let mut details = match &metric.perfection {
        Some(spread) => broken(&perfection(spread), room, room),
        None => Vec::new(),
    };
    let fits = |before: usize| before + sure.width() <= room;
    match details.as_mut_slice() {
        [only] if fits(only.width() + 2) => only.push_str(&format!("  {sure}")),
        [] if !fits(0) => details.extend([String::new(), sure]),
        _ => details.push(sure),
    }
    for (number, detail) in details.iter().enumerate() {
        let detail = &detail.replace('\u{2007}', " ");
        if number == 0 {
            page.line(&[
                (&indent, Style::Plain),
                (&label, Style::Plain),
                (&figure, Style::Heading),
                (detail, Style::Plain),
                (&mark, Style::Doubtful),
            ]);
        } else {
            page.line(&[(&" ".repeat(margin), Style::Plain), (detail, Style::Plain)]);
        }
    }
}

/// `(15/18 perfect, 3 with minor issues)`, `(11/16 perfect, 3 minor and 2 major issues)`.
fn perfection(spread: &Perfection) -> String {
    let Perfection { perfect, minor, major } = *spread;
    let others = match (minor, major) {
        (0, 0) => String::new(),
        (minor, 0) => format!(", {} with minor issues", grouped(minor)),
        (0, major) => format!(", {} with major issues", grouped(major)),
        (minor, major) => format!(", {} minor and {} major issues", grouped(minor), grouped(major)),
    };
    // A figure space stands where a line must not break: it breaks behind the comma only.
    let others = others.replace(' ', "\u{2007}").replacen('\u{2007}', " ", 1);
    format!("({}/{} perfect{others})", grouped(perfect), grouped(perfect + minor + major))
}
