//! Topics as Markdown: with everything in a file, or short enough for a part of a comment.

use super::escape::{cut, cut_sentence, escaped};
use crate::{
    document::{Block, FigureTable, Level, List, ListEntry, Lists, NameKind, ShownMetric, Topic},
    phrasing::{SIMULATED, legend, provenance_text},
};
use juror_analysis::format::grouped;

/// Entries of a list that a file and a comment show.
const MAX_IN_FILE: usize = 20;
const MAX_IN_COMMENT: usize = 10;
/// Entries of a list that a comment shows where the list is less urgent, or its entries are long.
const MAX_FOLDED: usize = 3;
const MAX_STATEMENTS: usize = 5;

/// Sentences, pairs and rows that a comment shows of each kind.
const MAX_ROWS: usize = 30;

/// Amount that is shown of a topic.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// A whole report in a file.
    File,
    /// The part that fits into a comment.
    Comment,
}

impl Extent {
    /// Text of others.
    fn shown(self, text: &str) -> String {
        match self {
            Self::File => escaped(text),
            Self::Comment => cut(text),
        }
    }

    /// A sentence of the report.
    fn sentence(self, text: &str) -> String {
        match self {
            Self::File => escaped(text),
            Self::Comment => cut_sentence(text),
        }
    }

    fn max_rows(self) -> usize {
        if self == Self::File { usize::MAX } else { MAX_ROWS }
    }
}

/// The blocks of a topic; a decision in it is its heading.
pub(super) fn topic(topic: &Topic, extent: Extent) -> String {
    let mark = if topic.simulated { format!(" {SIMULATED}") } else { String::new() };
    let (mut text, mut notices) = (String::new(), 0);
    for block in &topic.blocks {
        if let Block::Sentence(..) | Block::NamedSentence { .. } = block {
            notices += 1;
            if notices > extent.max_rows() {
                continue;
            }
        } else if text.ends_with('\n') && !text.ends_with("\n\n") {
            text.push('\n');
        }
        text.push_str(&render(block, &mark, extent));
    }
    text
}

/// Mark of a message by its level.
pub(super) fn sign(level: Level) -> &'static str {
    match level {
        Level::Plain | Level::Faint => "",
        Level::Good => "✅ ",
        Level::Doubtful => "⚠️ ",
        Level::Bad => "❌ ",
    }
}

fn render(block: &Block, mark: &str, extent: Extent) -> String {
    let shown = |text: &str| extent.shown(text);
    match block {
        Block::Decision { level, headline, reason, .. } => {
            let headline = format!("{}{}", sign(*level), shown(headline));
            let headline = match extent {
                Extent::File => format!("## {headline}{mark}"),
                Extent::Comment => format!("### {headline}{mark}"),
            };
            format!("{headline}\n\n{}.\n", extent.sentence(reason))
        }
        Block::Facts(facts) => {
            let facts: Vec<String> = facts.iter().map(|fact| shown(fact)).collect();
            format!("{}\n\n", facts.join(" · "))
        }
        Block::Sentence(level, lead, text) => {
            let lead = if lead.is_empty() { String::new() } else { format!("{lead}: ") };
            format!("- {}{lead}{}\n", sign(*level), extent.sentence(text))
        }
        Block::NamedSentence { level, name, text, .. } => {
            format!("- {}{}\n", sign(*level), shown(&format!("{name}{text}")))
        }
        Block::Pairs(pairs) => {
            let lines = pairs.iter().take(extent.max_rows());
            lines.map(|(label, text)| format!("- {}: {}\n", shown(label), shown(text))).collect()
        }
        Block::Metrics(metrics) => self::metrics(metrics, extent),
        Block::Parts(text, _) => format!("{text}\n"),
        Block::Table(table) => self::table(table, mark, extent),
        Block::List(list) if list.count == 0 => String::new(),
        Block::List(list) if extent == Extent::Comment => in_comment(list),
        Block::List(list) => self::list(list, MAX_IN_FILE, extent),
        Block::Lists(lists) => self::lists(lists, extent),
    }
}

fn metrics(metrics: &[ShownMetric], extent: Extent) -> String {
    let lines = metrics.iter().take(extent.max_rows()).map(|metric| {
        let mark = if metric.simulated { format!(" {SIMULATED}") } else { String::new() };
        let (title, origin) = (extent.shown(&metric.title), provenance_text(metric.origin));
        let value = metric.value.as_deref().unwrap_or("no data");
        format!(
            "| {title}{mark} | {origin} | {value} | {} | {} |\n",
            metric.interval, metric.spread
        )
    });
    let lines: String = lines.collect();
    let legend = legend(metrics.iter().map(|metric| metric.origin), |origin| {
        provenance_text(origin).to_owned()
    });
    format!(
        "| Metric | Measured or judged | Figure | 95 % interval | |\n|---|---|--:|---|---|\n\
         {lines}\n{legend}\n"
    )
}

fn table(table: &FigureTable, mark: &str, extent: Extent) -> String {
    let columns = table.text_columns();
    let heads = columns.iter().filter_map(|index| table.columns.get(*index));
    let heads: String = heads.map(|column| format!(" {} |", extent.shown(&column.head))).collect();
    let mut text =
        format!("| {}{mark} |{heads}\n|---|{}\n", table.names, "--:|".repeat(columns.len()));
    for (name, _, cells) in table.rows.iter().take(extent.max_rows()) {
        let cells = columns.iter().filter_map(|index| cells.get(*index)?.text());
        let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
        text.push_str(&format!("| {} |{cells}\n", extent.shown(name)));
    }
    if !table.note.is_empty() && extent == Extent::File {
        let note = format!("{} {}", table.note, table.wide_note);
        text.push_str(&format!("\n{}\n", note.trim_end()));
    }
    text
}

fn lists(lists: &Lists, extent: Extent) -> String {
    let Lists { title, summary, .. } = lists;
    let all = lists.lists.iter().filter(|list| list.count > 0);
    match extent {
        Extent::File => {
            let all: String = all.map(|list| self::list(list, MAX_IN_FILE, extent)).collect();
            format!("<details><summary>{title}: {summary}</summary>\n\n{all}</details>\n")
        }
        Extent::Comment => {
            let all: String = all.map(in_comment).collect();
            format!("{title}: {summary}.\n\n{all}")
        }
    }
}

fn list(list: &List, most: usize, extent: Extent) -> String {
    let (entries, more) = list.first(most);
    let entries = entries.iter().map(|entry| format!("- {}\n", line(entry, extent)));
    let entries: String = entries.collect();
    let more = match more {
        0 => String::new(),
        more => format!("- … {} more\n", grouped(more as u64)),
    };
    format!("**{}** ({})\n\n{entries}{more}\n", list.title, grouped(list.count as u64))
}

/// A list in one line, or one line for each statement of the judge.
fn in_comment(list: &List) -> String {
    let has_statements =
        |entry: &ListEntry| matches!(entry.kind, NameKind::Issue | NameKind::Strength);
    if list.entries.iter().any(has_statements) {
        return self::list(list, MAX_STATEMENTS, Extent::Comment);
    }
    let (entries, more) = list.first(if list.open { MAX_IN_COMMENT } else { MAX_FOLDED });
    let entries: Vec<String> = entries.iter().map(|entry| line(entry, Extent::Comment)).collect();
    let more = match more {
        0 => String::new(),
        more => format!("; … {} more", grouped(more as u64)),
    };
    format!("- {} ({}): {}{more}\n", list.title, grouped(list.count as u64), entries.join("; "))
}

fn line(entry: &ListEntry, extent: Extent) -> String {
    entry.line(|text| extent.shown(text))
}
