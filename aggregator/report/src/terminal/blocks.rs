//! Topics as text for a terminal.

use super::{
    metrics::metrics,
    page::{INDENT, Page, Style, fit, padded, right_aligned},
};
use crate::{
    document::{Block, FigureCell, FigureTable, Level, List, Topic},
    phrasing::SIMULATED,
    sanitize::sanitize,
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
    let title = format!("{} {}", sanitize(&topic.title).to_uppercase(), sanitize(&topic.name));
    let title = format!("{}{mark}", title.trim_end());
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
        Block::Decision { level, headline, reason, .. } => {
            page.wrapped(&format!("{}{mark}", sanitize(headline)), 0, style_of(*level));
            page.wrapped(&format!("{}.", sanitize(reason)), 0, Style::Plain);
        }
        Block::Facts(facts) => page.wrapped(&sanitize(&facts.join(" · ")), 0, Style::Faint),
        Block::Sentence(level, lead, text) => sentence(page, *level, lead, &sanitize(text)),
        Block::NamedSentence { level, name, text, .. } => {
            sentence(page, *level, "", &sanitize(&format!("{name}{text}")));
        }
        Block::Pairs(pairs) => self::pairs(page, pairs),
        Block::Metrics(shown) => metrics(page, shown),
        Block::Parts(text, _) => page.wrapped(text, 0, Style::Plain),
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

fn pairs(page: &mut Page, pairs: &[(String, String)]) {
    let widest = pairs.iter().map(|(label, _)| label.width() + 1).max().unwrap_or(0);
    for (label, text) in pairs {
        page.labeled(&sanitize(label), widest.clamp(11, 26), &sanitize(text));
    }
}

/// A table with as many of its columns as leave room for the names, the heads beside its title
/// where they fit; an untitled one continues the topic.
fn table(page: &mut Page, table: &FigureTable, mark: &str) {
    let columns = columns(table, page.width);
    let heads =
        line_of(&columns, |index| table.columns.get(index).map(|column| column.head.as_str()));
    let heads = heads.concat();
    let room = page.width.saturating_sub(INDENT + heads.width());
    let indent = " ".repeat(INDENT);
    let title = format!("{}{mark}", table.title.to_uppercase());
    let is_beside = !table.title.is_empty() && title.width() + 1 + heads.width() <= page.width;
    if !table.title.is_empty() {
        page.blank();
        let beside = if is_beside { heads.as_str() } else { "" };
        page.heading(&title, &[(beside, Style::Faint)]);
    }
    if !is_beside {
        let gap = " ".repeat(room);
        page.line(&[(&indent, Style::Plain), (&gap, Style::Plain), (&heads, Style::Faint)]);
    }
    for (name, level, cells) in &table.rows {
        let name = padded(&fit(&sanitize(name), room.saturating_sub(1)), room);
        let shown = line_of(&columns, |index| cells.get(index)?.text());
        let styles = columns.iter().map(|(index, _)| match cells.get(*index) {
            Some(FigureCell::Status(_, own)) if *own != Level::Plain => style_of(*own),
            _ => style_of(*level),
        });
        let mut pieces = vec![(indent.as_str(), Style::Plain), (name.as_str(), Style::Plain)];
        pieces.extend(shown.iter().map(String::as_str).zip(styles));
        page.line(&pieces);
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
        let head = table.columns.get(index).map(|column| column.head.as_str());
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

/// The cells of the shown columns, each in its width.
fn line_of<'a>(columns: &[(usize, usize)], text: impl Fn(usize) -> Option<&'a str>) -> Vec<String> {
    let cell = |(index, width): &(usize, usize)| {
        right_aligned(&sanitize(text(*index).unwrap_or_default()), *width)
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
        page.wrapped(&format!("-\u{2007}{}", entry.line(sanitize)), 2, Style::Plain);
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
