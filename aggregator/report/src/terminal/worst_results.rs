//! Worst results, which deserve a look first.

use super::page::{INDENT, Page, Style, fit, padded, right_aligned};
use crate::{
    sanitize::sanitize,
    topics::results::{ResultColumn, ResultColumnKind, item_name, shown_columns},
};
use juror_analysis::{format::grouped, run_report::Report};
use juror_types::{
    outcome::{ErrorKind, JobResult},
    verdict::Verdict,
};
use std::collections::HashSet;

/// Widest and narrowest column of figures, and narrowest of an id.
const WIDEST: usize = 9;
const NARROWEST: usize = 7;
const MIN_ID: usize = 18;

/// The results to look at first, with how many more there are.
pub(super) fn table(page: &mut Page, report: &Report) {
    use ResultColumnKind::{Criterion, Grade, Group, Issue, Item, Outcome, Total};
    if report.worst.is_empty() {
        return;
    }
    let mut columns = shown_columns(report);
    columns.retain(|column| !matches!(column.kind, Item | Outcome | Issue));
    shorten(&mut columns);
    let is_score =
        |column: &&ResultColumn| matches!(column.kind, Total | Grade | Criterion | Group);
    let scores = columns.iter().filter(is_score).count();
    let room = page.width.saturating_sub(INDENT + MIN_ID);
    let width = (room / scores.max(1)).clamp(NARROWEST, WIDEST);
    columns.truncate(room / width);
    let layout = Layout { id: page.width - INDENT - columns.len() * width, column: width };
    page.blank();
    let heads: String = columns
        .iter()
        .map(|column| right_aligned(&fit(&sanitize(&column.head), width - 1), width))
        .collect();
    let title = if report.run.simulated { "SCREENSHOTS  SIMULATED" } else { "SCREENSHOTS" };
    page.heading(title, &[(&heads, Style::Faint)]);
    for row in &report.worst {
        line(page, row, &columns, layout, &sanitize(&item_name(report, row)));
    }
    if report.worst.iter().any(contradicts_evidence) {
        page.wrapped("! the verdict contradicts the measured evidence", 2, Style::Doubtful);
    }
    let shown = report.worst.len();
    let more = report.items.results().saturating_sub(shown) as u64;
    if more > 0 {
        let text = format!("… {} more: these are the {shown} to look at first", grouped(more));
        page.wrapped(&text, 0, Style::Faint);
    }
}

/// Widths of the id's column and of each figure's.
#[derive(Clone, Copy)]
struct Layout {
    id: usize,
    column: usize,
}

fn line(page: &mut Page, row: &JobResult, columns: &[ResultColumn], layout: Layout, name: &str) {
    let indent = match contradicts_evidence(row) {
        true => padded(" !", INDENT),
        false => " ".repeat(INDENT),
    };
    let id = padded(&fit(name, layout.id - 1), layout.id);
    if let Some(error) = &row.error {
        let kind = match error.kind {
            ErrorKind::Output => String::new(),
            kind => format!(" ({})", kind.name()),
        };
        let text = format!("{}{kind}: {}", row.outcome.label(), sanitize(&error.message));
        let text = format!(" {}", fit(&text, (columns.len() * layout.column).saturating_sub(1)));
        return page.line(&[(&indent, Style::Plain), (&id, Style::Plain), (&text, Style::Bad)]);
    }
    let cells: Vec<String> = columns
        .iter()
        .map(|column| right_aligned(&sanitize(&column.text(row)), layout.column))
        .collect();
    let passed = match row.pipeline_success {
        Some(false) => Style::Doubtful,
        None | Some(true) => Style::Plain,
    };
    let (first, others) = cells
        .split_first()
        .map_or(("", String::new()), |(first, others)| (first.as_str(), others.concat()));
    let pieces = [
        (indent.as_str(), Style::Doubtful),
        (&id, Style::Plain),
        (first, passed),
        (&others, Style::Plain),
    ];
    page.line(&pieces);
}

fn contradicts_evidence(row: &JobResult) -> bool {
    row.verdict().is_some_and(Verdict::contradicts_evidence)
}

/// Groups that differ in their first letter go by it, as in ACRUE.
fn shorten(columns: &mut [ResultColumn]) {
    let initial = |column: &ResultColumn| column.head.chars().next();
    let is_group = |column: &&ResultColumn| column.kind == ResultColumnKind::Group;
    let groups = || columns.iter().filter(is_group);
    let initials: HashSet<_> = groups().map(initial).collect();
    if initials.len() < groups().count() {
        return;
    }
    for column in columns.iter_mut().filter(|column| is_group(&&**column)) {
        column.head = initial(column).map(String::from).unwrap_or_default();
    }
}
