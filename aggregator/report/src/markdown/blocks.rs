//! Topics as Markdown: with everything in a file, or short enough for a part of a comment.

use super::escape::{cut, escaped};
use crate::{
    document::{Block, FigureTable, Level, List, ListEntry, Lists, Topic},
    phrasing::SIMULATED,
};
use juror_analysis::format::grouped;

/// Entries of a list that a file and a comment show.
const MAX_IN_FILE: usize = 20;
const MAX_IN_COMMENT: usize = 10;
/// Entries of a list that a comment shows where the list is less urgent.
const MAX_FOLDED: usize = 3;

/// Sentences and rows that a comment shows of each kind.
const MAX_ROWS: usize = 30;

/// Amount that is shown of a topic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Everything.
    File,
    /// The part that fits into a comment.
    Comment,
}

/// A topic; a decision in it is its heading.
pub(crate) fn topic(topic: &Topic, extent: Extent) -> String {
    let mark = if topic.simulated { format!(" {SIMULATED}") } else { String::new() };
    let (mut text, mut notices) = (String::new(), 0);
    for block in &topic.blocks {
        if let Block::Sentence(..) = block {
            notices += 1;
            if extent == Extent::Comment && notices > MAX_ROWS {
                continue;
            }
        } else if text.ends_with('\n') && !text.ends_with("\n\n") {
            text.push('\n');
        }
        text.push_str(&render(block, &mark, extent));
    }
    text
}

fn render(block: &Block, mark: &str, extent: Extent) -> String {
    let shown = |text: &str| match extent {
        Extent::File => escaped(text),
        Extent::Comment => cut(text),
    };
    match block {
        Block::Decision { level, headline, reason } => {
            let headline = format!("{}{}", sign(*level), shown(headline));
            let headline = match extent {
                Extent::File => format!("## {headline}{mark}"),
                Extent::Comment => format!("**{headline}**{mark}"),
            };
            format!("{headline}\n\nSince {}.\n", shown(reason))
        }
        Block::Facts(facts) => {
            let facts: Vec<String> = facts.iter().map(|fact| shown(fact)).collect();
            format!("{}\n\n", facts.join(" · "))
        }
        Block::Sentence(level, lead, text) => {
            let lead = if lead.is_empty() { String::new() } else { format!("{lead}: ") };
            format!("- {}{lead}{}\n", sign(*level), shown(text))
        }
        Block::Table(table) => self::table(table, mark, extent, shown),
        Block::List(list) if list.count == 0 => String::new(),
        Block::List(list) if extent == Extent::Comment => in_one_line(list, &shown),
        Block::List(list) => self::list(list, &shown),
        Block::Lists(lists) => self::lists(lists, extent, shown),
    }
}

/// A mark before what is certain or to be known.
pub(super) fn sign(level: Level) -> &'static str {
    match level {
        Level::Plain | Level::Faint => "",
        Level::Good => "✅ ",
        Level::Doubtful => "⚠️ ",
        Level::Bad => "❌ ",
    }
}

fn table(
    table: &FigureTable,
    mark: &str,
    extent: Extent,
    shown: impl Fn(&str) -> String,
) -> String {
    let columns = table.text_columns();
    let heads = columns.iter().filter_map(|index| table.columns.get(*index));
    let heads: String = heads.map(|column| format!(" {} |", column.head)).collect();
    let mut text =
        format!("| {}{mark} |{heads}\n|---|{}\n", table.title, "--:|".repeat(columns.len()));
    let most = if extent == Extent::File { usize::MAX } else { MAX_ROWS };
    for (name, _, cells) in table.rows.iter().take(most) {
        let cells = columns.iter().filter_map(|index| cells.get(*index)?.text());
        let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
        text.push_str(&format!("| {} |{cells}\n", shown(name)));
    }
    if !table.note.is_empty() && extent == Extent::File {
        let note = format!("{} {}", table.note, table.wide_note);
        text.push_str(&format!("\n{}\n", note.trim_end()));
    }
    text
}

fn lists(lists: &Lists, extent: Extent, shown: impl Fn(&str) -> String) -> String {
    let Lists { title, summary, .. } = lists;
    let all = lists.lists.iter().filter(|list| list.count > 0);
    match extent {
        Extent::File => {
            let all: String = all.map(|list| self::list(list, &shown)).collect();
            format!("<details><summary>{title}: {summary}</summary>\n\n{all}</details>\n")
        }
        Extent::Comment => {
            let all: String = all.map(|list| in_one_line(list, &shown)).collect();
            format!("{title}: {summary}.\n\n{all}")
        }
    }
}

fn list(list: &List, shown: &impl Fn(&str) -> String) -> String {
    let (entries, more) = list.first(MAX_IN_FILE);
    let entries = entries.iter().map(|entry| format!("- {}\n", line(entry, shown)));
    let entries: String = entries.collect();
    let more = match more {
        0 => String::new(),
        more => format!("- … {} more\n", grouped(more as u64)),
    };
    format!("**{}** ({})\n\n{entries}{more}\n", list.title, grouped(list.count as u64))
}

fn in_one_line(list: &List, shown: &impl Fn(&str) -> String) -> String {
    let (entries, more) = list.first(if list.open { MAX_IN_COMMENT } else { MAX_FOLDED });
    let entries: Vec<String> = entries.iter().map(|entry| line(entry, shown)).collect();
    let more = match more {
        0 => String::new(),
        more => format!("; … {} more", grouped(more as u64)),
    };
    format!("- {} ({}): {}{more}\n", list.title, grouped(list.count as u64), entries.join("; "))
}

fn line(entry: &ListEntry, shown: &impl Fn(&str) -> String) -> String {
    match entry.detail.as_str() {
        "" => shown(&entry.name),
        detail => format!("{}: {detail}", shown(&entry.name)),
    }
}
