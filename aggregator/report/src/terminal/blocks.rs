//! Topics as text for a terminal.

use super::page::{INDENT, Page, Style, fit, padded, right_aligned};
use crate::{
    document::{Block, FigureTable, Level, List, Topic},
    phrasing::SIMULATED,
    sanitize::harmless,
};
use juror_analysis::format::grouped;
use unicode_width::UnicodeWidthStr as _;

/// Entries of a list that are shown; the files have more.
const MAX_ENTRIES: usize = 5;
/// Columns that names have at least.
const MIN_NAME: usize = 21;

/// A topic below others.
pub(super) fn section(page: &mut Page, topic: &Topic) {
    page.blank();
    self::topic(page, topic);
}

/// A topic under its heading.
pub(super) fn topic(page: &mut Page, topic: &Topic) {
    let mark = if topic.simulated { format!("  {SIMULATED}") } else { String::new() };
    let title = format!("{}{mark}", topic.title.to_uppercase());
    match &topic.status {
        Some((word, level)) => page.heading(&title, &[(&word.to_uppercase(), style_of(*level))]),
        None => page.heading(&title, &[]),
    }
    for block in &topic.blocks {
        render(page, block, &mark);
    }
}

fn render(page: &mut Page, block: &Block, mark: &str) {
    match block {
        Block::Decision { level, headline, reason } => {
            page.wrapped(&format!("{}{mark}", harmless(headline)), 0, style_of(*level));
            page.wrapped(&format!("since {}.", harmless(reason)), 0, Style::Plain);
        }
        Block::Facts(facts) => page.wrapped(&harmless(&facts.join(" · ")), 0, Style::Faint),
        Block::Sentence(level, lead, text) => sentence(page, *level, lead, &harmless(text)),
        Block::Table(table) => self::table(page, table, mark),
        Block::List(list) => self::list(page, list),
        Block::Lists(lists) => {
            page.blank();
            page.heading(&format!("{}{mark}", lists.title.to_uppercase()), &[]);
            page.wrapped(&lists.summary, 0, Style::Plain);
            lists.lists.iter().for_each(|list| self::list(page, list));
        }
    }
}

fn sentence(page: &mut Page, level: Level, lead: &str, text: &str) {
    match (level, lead) {
        (Level::Doubtful, "") => page.wrapped(&format!("!\u{2007}{text}"), 2, Style::Doubtful),
        (_, "") => page.wrapped(text, 0, style_of(level)),
        _ => page.wrapped(&format!("{}: {text}", lead.to_uppercase()), 2, style_of(level)),
    }
}

/// A table with as many of its columns as leave room for the names; an untitled one continues the
/// topic.
fn table(page: &mut Page, table: &FigureTable, mark: &str) {
    let columns = columns(table, page.width);
    let heads = table.columns.iter().map(|column| column.head).collect::<Vec<_>>();
    let heads = line_of(&columns, &heads);
    let room = page.width.saturating_sub(INDENT + heads.width());
    let indent = " ".repeat(INDENT);
    if table.title.is_empty() {
        let gap = " ".repeat(room);
        page.line(&[(&indent, Style::Plain), (&gap, Style::Plain), (&heads, Style::Faint)]);
    } else {
        page.blank();
        let title = format!("{}{mark}", table.title.to_uppercase());
        page.heading(&title, &[(&heads, Style::Faint)]);
    }
    for (name, level, cells) in &table.rows {
        let name = padded(&fit(&harmless(name), room.saturating_sub(1)), room);
        let cells: Vec<&str> = cells.iter().map(|cell| cell.text().unwrap_or_default()).collect();
        let cells = line_of(&columns, &cells);
        page.line(&[(&indent, Style::Plain), (&name, Style::Plain), (&cells, style_of(*level))]);
    }
    if !table.note.is_empty() {
        let is_whole = columns.len() == table.text_columns().len();
        let wide_note = if is_whole { table.wide_note } else { "" };
        page.wrapped(format!("{} {wide_note}", table.note).trim_end(), 0, Style::Faint);
    }
}

/// Index and width of each column that is shown: all, or all but the wide ones.
fn columns(table: &FigureTable, page: usize) -> Vec<(usize, usize)> {
    let width = |index: usize| {
        let cells = table.rows.iter().filter_map(|(.., cells)| cells.get(index)?.text());
        let head = table.columns.get(index).map(|column| column.head);
        cells.chain(head).map(|text| text.width() + 2).max().unwrap_or(0)
    };
    let is_wide = |index: usize| table.columns.get(index).is_some_and(|column| column.wide);
    let all: Vec<(usize, usize)> =
        table.text_columns().into_iter().map(|index| (index, width(index))).collect();
    match INDENT + MIN_NAME + all.iter().map(|(_, width)| width).sum::<usize>() <= page {
        true => all,
        false => all.into_iter().filter(|(index, _)| !is_wide(*index)).collect(),
    }
}

fn line_of(columns: &[(usize, usize)], cells: &[&str]) -> String {
    let cell = |(index, width): &(usize, usize)| {
        right_aligned(cells.get(*index).copied().unwrap_or_default(), *width)
    };
    columns.iter().map(cell).collect()
}

fn list(page: &mut Page, list: &List) {
    if list.count == 0 {
        return;
    }
    let (entries, more) = list.first(MAX_ENTRIES);
    page.wrapped(&format!("{}:", list.title), 0, Style::Heading);
    for entry in entries {
        let name = harmless(&entry.name);
        let text = match entry.detail.as_str() {
            "" => name,
            detail => format!("{name}: {detail}"),
        };
        page.wrapped(&format!("-\u{2007}{text}"), 2, Style::Plain);
    }
    if more > 0 {
        page.wrapped(&format!("… {} more", grouped(more as u64)), 2, Style::Faint);
    }
}

fn style_of(level: Level) -> Style {
    match level {
        Level::Plain => Style::Plain,
        Level::Faint => Style::Faint,
        Level::Good => Style::Good,
        Level::Doubtful => Style::Doubtful,
        Level::Bad => Style::Bad,
    }
}
