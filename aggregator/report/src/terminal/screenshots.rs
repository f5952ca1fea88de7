//! Score by score: what to look at first.

use super::page::{INDENT, Page, Style, fit, padded, right_aligned};
use crate::sanitize::harmless;
use juror_analysis::{
    format::{decimals, figure, grouped},
    item_row::ItemRow,
    metrics::{Unit, score_of, title_of},
    run_report::Report,
};
use juror_types::{outcome::ErrorKind, rubric::Formula, verdict::Score};
use std::collections::HashSet;

/// Widest and narrowest column of figures, and narrowest of an id.
const WIDEST: usize = 9;
const NARROWEST: usize = 7;
const MIN_ID: usize = 18;

/// Widths of the id's column and of each figure's.
#[derive(Clone, Copy)]
struct Layout {
    id: usize,
    column: usize,
}

type CellText = fn(&ItemRow, &str) -> String;

struct ScreenshotColumn {
    head: String,
    key: String,
    cell: CellText,
}

/// The results to look at first, with how many more there are.
pub(super) fn table(page: &mut Page, report: &Report) {
    if report.worst.is_empty() {
        return;
    }
    let mut columns = columns(report);
    let room = page.width.saturating_sub(INDENT + MIN_ID);
    let width = (room / columns.len().max(1)).clamp(NARROWEST, WIDEST);
    columns.truncate(room / width);
    let layout = Layout { id: page.width - INDENT - columns.len() * width, column: width };
    page.blank();
    let heads: String =
        columns.iter().map(|column| right_aligned(&fit(&column.head, width - 1), width)).collect();
    let title = if report.run.simulated { "SCREENSHOTS  SIMULATED" } else { "SCREENSHOTS" };
    page.heading(title, &[(&heads, Style::Faint)]);
    for row in &report.worst {
        line(page, row, &columns, layout, report.run.repeat > 1);
    }
    let shown = report.worst.len();
    let more = report.items.results().saturating_sub(shown) as u64;
    if more > 0 {
        let text = format!("… {} more: these are the {shown} to look at first", grouped(more));
        page.wrapped(&text, 0, Style::Faint);
    }
}

fn line(
    page: &mut Page,
    row: &ItemRow,
    columns: &[ScreenshotColumn],
    layout: Layout,
    repeated: bool,
) {
    let indent = " ".repeat(INDENT);
    let mut id = harmless(&row.screenshot_id);
    if repeated {
        id.push_str(&format!(" ·{}", row.repeat + 1));
    }
    let id = padded(&fit(&id, layout.id - 1), layout.id);
    if let Some(error) = &row.error {
        let kind = match error.kind {
            ErrorKind::Output => String::new(),
            kind => format!(" ({})", kind.name()),
        };
        let text = format!("{}{kind}: {}", row.outcome.label(), harmless(&error.message));
        let text = format!(" {}", fit(&text, (columns.len() * layout.column).saturating_sub(1)));
        return page.line(&[(&indent, Style::Plain), (&id, Style::Plain), (&text, Style::Bad)]);
    }
    let cells: Vec<String> = columns
        .iter()
        .map(|column| right_aligned(&(column.cell)(row, &column.key), layout.column))
        .collect();
    let passed = match row.pipeline_success {
        Some(false) => Style::Doubtful,
        None | Some(true) => Style::Plain,
    };
    let (first, others) = cells
        .split_first()
        .map_or(("", String::new()), |(first, others)| (first.as_str(), others.concat()));
    let pieces = [
        (indent.as_str(), Style::Plain),
        (&id, Style::Plain),
        (first, passed),
        (&others, Style::Plain),
    ];
    page.line(&pieces);
}

fn columns(report: &Report) -> Vec<ScreenshotColumn> {
    let column = |head: &str, key: &str, cell: CellText| ScreenshotColumn {
        head: head.to_owned(),
        key: key.to_owned(),
        cell,
    };
    let rubric = &report.rubric;
    if report.run.judge.is_none() {
        return vec![
            column("Passed", "", |row, _| yes_or_no(row.pipeline_success)),
            column("Tokens", "", |row, _| {
                share(row.token_extraction.as_ref().map(|stage| stage.accuracy))
            }),
            column("Pattern", "", |row, _| {
                yes_or_no(row.retrieval.as_ref().map(|stage| stage.correct))
            }),
            column("Compiles", "", |row, _| {
                yes_or_no(row.generation.as_ref().and_then(|stage| stage.code_compiles))
            }),
            column("Quality", "", |row, _| {
                let quality = row.generation.as_ref().and_then(|stage| stage.quality_score);
                quality.map_or_else(none, |score| figure(score, Unit::Score))
            }),
        ];
    }
    let mut columns = vec![column("Score", "", |row, _| share(row.score()))];
    match rubric.formula {
        Formula::SumOverMax => {
            columns.extend(rubric.criteria.iter().map(|criterion| {
                column(first_word(&criterion.key), &criterion.key, criterion_cell)
            }))
        }
        Formula::WeightedGroups => {
            columns.push(column("Grade", "", grade_cell));
            // Groups that differ in their first letter go by it, as in ACRUE.
            let initial = |key: &str| key.chars().next();
            let keys = || rubric.groups.iter().map(|group| group.key.as_str());
            let initials: HashSet<_> = keys().map(initial).collect();
            let short = initials.len() == rubric.groups.len();
            columns.extend(keys().map(|key| {
                let length = initial(key).map_or(0, char::len_utf8);
                let head = if short { key.get(..length).unwrap_or(key) } else { first_word(key) };
                column(head, key, group_cell)
            }));
        }
    }
    for column in &mut columns {
        column.head = title_of(&column.head);
    }
    columns
}

fn criterion_cell(row: &ItemRow, key: &str) -> String {
    let score = row.semantic.as_ref().and_then(|verdict| score_of(verdict, key));
    score.map_or_else(none, |score| score.to_string())
}

fn grade_cell(row: &ItemRow, _: &str) -> String {
    match row.semantic.as_ref().map(|verdict| &verdict.score) {
        Some(Score::Groups { grade, .. }) => harmless(grade),
        _ => none(),
    }
}

fn group_cell(row: &ItemRow, key: &str) -> String {
    match row.semantic.as_ref().map(|verdict| &verdict.score) {
        Some(Score::Groups { dimensions, .. }) => {
            dimensions.get(key).map_or_else(none, |group| decimals(group.score, 2))
        }
        _ => none(),
    }
}

fn first_word(key: &str) -> &str {
    key.split('_').next().unwrap_or(key)
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(none, |value| figure(value, Unit::Share))
}

fn yes_or_no(value: Option<bool>) -> String {
    match value {
        Some(true) => "yes".into(),
        Some(false) => "no".into(),
        None => none(),
    }
}

fn none() -> String {
    "–".into()
}
