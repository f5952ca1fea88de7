//! The metrics, and how much of the dataset they rest on.

use super::page::{INDENT, Page, Style, broken, padded};
use crate::{
    phrasing::{
        LEGEND, SIMULATED, coverage_text, error_example, has_stages, is_stage, perfection,
        provenance_mark,
    },
    sanitize::harmless,
};
use juror_analysis::{
    format::{figure, grouped, interval},
    item_row::word,
    metrics::Metric,
    run_report::Report,
};
use unicode_width::UnicodeWidthStr as _;

/// Columns of labels.
pub(super) const LABEL: usize = 26;
/// Columns of figures.
const FIGURE: usize = 9;

/// The judge's metrics; for grading rubrics also how many verdicts earned which grade.
pub(super) fn semantic(page: &mut Page, report: &Report) {
    for metric in report.metrics.iter().filter(|metric| metric.definition.is_semantic()) {
        metric_line(page, metric, report.run.judge.is_some(), report.run.simulated);
    }
    let grades = report.overall.semantic.as_ref().and_then(|semantic| semantic.grades.as_ref());
    if let Some(grades) = grades {
        let counts: Vec<String> = grades
            .iter()
            .map(|(grade, count)| format!("{grade}\u{2007}{}", grouped(*count)))
            .collect();
        let simulated = if report.run.simulated { "   SIMULATED" } else { "" };
        page.labeled("Grades", LABEL, &format!("{}{simulated}", counts.join("   ")));
    }
}

/// The deterministic stages that have data.
pub(super) fn stages(page: &mut Page, report: &Report) {
    let with_data = |metric: &&Metric| is_stage(metric) && metric.value.is_some();
    for metric in report.metrics.iter().filter(with_data) {
        // Whether an item passed depends on its verdict too.
        let judged = metric.definition.path == "pipeline_success_rate";
        let with_judge = report.run.judge.is_some();
        metric_line(page, metric, with_judge, report.run.simulated && judged);
    }
    if !has_stages(report) {
        page.wrapped("no stage has any data", 0, Style::Faint);
    }
}

/// Number of jobs that the metrics rest on, with the reasons why others are missing.
pub(super) fn coverage(page: &mut Page, report: &Report) {
    let coverage = &report.coverage;
    page.labeled("Coverage", LABEL, &coverage_text(coverage));
    for (number, (kind, count)) in coverage.errors.iter().enumerate() {
        let label = if number == 0 { "Errors:" } else { "" };
        let message = error_example(report, *kind)
            .map(|message| format!(": {}", harmless(message)))
            .unwrap_or_default();
        let text = format!("{} {}{message}", word(kind), grouped(*count));
        let label = padded(label, LABEL).replace(' ', "\u{2007}");
        page.wrapped(&format!("{label}\u{2007}{text}"), LABEL + 1, Style::Plain);
    }
}

/// Meaning of the marks behind the names of the metrics.
pub(super) fn legend(page: &mut Page) {
    page.wrapped(LEGEND, 0, Style::Faint);
}

fn metric_line(page: &mut Page, metric: &Metric, with_judge: bool, simulated: bool) {
    let definition = &metric.definition;
    let origin = provenance_mark(definition, with_judge);
    let label = padded(&format!("{} {origin}:", definition.title), LABEL + 1);
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
