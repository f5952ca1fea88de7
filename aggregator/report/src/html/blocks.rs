//! Topics as parts of a page.

use super::{
    NameLink,
    charts::{self, change, parts},
    layout::{class_of, simulated},
    metrics::metrics,
};
use crate::{
    document::{Block, FigureCell, FigureTable, Level, List, ListEntry, NameKind, Topic},
    sanitize::sanitize,
};
use juror_analysis::format::grouped;
use maud::{Markup, html};

/// The blocks one below the other, with names as links.
pub fn blocks(blocks: &[Block], link: &NameLink<'_>) -> Markup {
    html! { @for block in blocks { (self::block(block, false, link)) } }
}

/// A topic as a card.
pub fn card(topic: &Topic, link: &NameLink<'_>) -> Markup {
    let is_narrow = |block: &Block| {
        matches!(
            block,
            Block::Metrics(_)
                | Block::Pairs(_)
                | Block::Parts(..)
                | Block::Sentence(..)
                | Block::NamedSentence { .. }
        )
    };
    let is_wide = !topic.blocks.iter().all(is_narrow);
    html! {
        section.card.wide[is_wide] data-topic=(topic.id) aria-labelledby=(topic.id) {
            h2 id=(topic.id) {
                (sanitize(&topic.title))
                @if !topic.name.is_empty() { " " bdi { (sanitize(&topic.name)) } }
                @if let Some((word, level)) = &topic.status {
                    " " span class=(format!("chip {}", class_of(*level))) { (word) }
                }
                @if topic.simulated { " " (simulated()) }
            }
            @for block in &topic.blocks { (self::block(block, topic.simulated, link)) }
        }
    }
}

/// A part of a topic; where its topic is marked as simulated, its metrics are not again.
fn block(block: &Block, is_marked: bool, link: &NameLink<'_>) -> Markup {
    match block {
        Block::Decision { level, headline, reason, simulated } => html! {
            div class=(format!("decision {}", decision_class(*level))) {
                p.verdict {
                    strong { (sanitize(headline)) } @if *simulated { " " (self::simulated()) }
                }
                p { (sanitize(reason)) "." }
            }
        },
        Block::Facts(facts) => html! {
            p.facts { @for fact in facts { span { bdi { (sanitize(fact)) } } " " } }
        },
        Block::Sentence(level, lead, text) => html! {
            p class=[sentence_class(*level)] {
                @if !lead.is_empty() { strong { (lead) ": " } }
                (sanitize(text))
            }
        },
        Block::NamedSentence { level, kind, name, text } => html! {
            p class=[sentence_class(*level)] { (self::name(*kind, name, link)) (sanitize(text)) }
        },
        Block::Pairs(pairs) => html! {
            dl.pairs {
                @for (label, text) in pairs {
                    dt { bdi { (sanitize(label)) } } dd { bdi { (sanitize(text)) } }
                }
            }
        },
        Block::Metrics(metrics) => self::metrics(metrics, is_marked),
        Block::Parts(text, parts) => self::parts(text, parts),
        Block::Table(table) => self::table(table, link),
        Block::List(list) => self::list(list, link),
        Block::Lists(lists) => html! {
            h3 { (lists.title) ": " (lists.summary) }
            @for list in &lists.lists { (self::list(list, link)) }
        },
    }
}

/// Class of the style sheet for a banner: without a decision it is neither green nor red.
fn decision_class(level: Level) -> &'static str {
    match level {
        Level::Plain => "no-gate",
        _ => class_of(level),
    }
}

fn sentence_class(level: Level) -> Option<&'static str> {
    match level {
        Level::Plain | Level::Good => None,
        Level::Faint => Some("faint"),
        Level::Doubtful | Level::Bad => Some("notice"),
    }
}

fn table(table: &FigureTable, link: &NameLink<'_>) -> Markup {
    // Several tables of a page may have the same first column.
    let columns: Vec<&str> = table.columns.iter().map(|column| column.head.as_str()).collect();
    let label = format!("{}: {}", table.names, columns.join(", "));
    html! {
        div.scroll tabindex="0" role="region" aria-label=(sanitize(&label)) {
            table.changes {
                @if !table.note.is_empty() { caption { span { (table.note) " " (table.wide_note) } } }
                thead { tr {
                    th scope="col" { (table.names) }
                    @for column in &table.columns { th.n scope="col" { (sanitize(&column.head)) } }
                } }
                tbody {
                    @for (name, _, cells) in &table.rows {
                        tr {
                            th scope="row" { (self::name(table.kind, name, link)) }
                            @for cell in cells { (self::cell(cell)) }
                        }
                    }
                }
            }
        }
    }
}

fn cell(cell: &FigureCell) -> Markup {
    match cell {
        FigureCell::Figure(text) => html! { td.n { (sanitize(text)) } },
        FigureCell::Status(text, level) => html! {
            td.n { span class=(format!("chip {}", class_of(*level))) { (text) } }
        },
        FigureCell::Change(chart) => {
            html! { td { @if let Some(chart) = chart { (change(chart)) } } }
        }
    }
}

fn list(list: &List, link: &NameLink<'_>) -> Markup {
    if list.count == 0 {
        return html! {};
    }
    let (entries, more) = list.first(List::MAX);
    html! {
        details open[list.open] {
            summary { (list.title) " " span.faint { "(" (grouped(list.count as u64)) ")" } }
            ul.listed { @for entry in entries { li { (self::entry(entry, link)) } } }
            (and_more(more))
        }
    }
}

fn entry(entry: &ListEntry, link: &NameLink<'_>) -> Markup {
    html! {
        @if entry.unfolded.is_empty() { (line(entry, link)) }
        @else {
            details {
                summary { (line(entry, link)) }
                @for list in &entry.unfolded { (unfolded(list, link)) }
            }
        }
    }
}

/// Name, detail, and the share as a bar.
fn line(entry: &ListEntry, link: &NameLink<'_>) -> Markup {
    html! {
        (name(entry.kind, &entry.name, link))
        @if !entry.detail.is_empty() { " " span.faint { (sanitize(&entry.detail)) } }
        @if let Some(share) = entry.share { (charts::share(share)) }
    }
}

fn unfolded(list: &List, link: &NameLink<'_>) -> Markup {
    let (entries, more) = list.first(List::MAX);
    html! {
        @if !entries.is_empty() {
            p.ids {
                (list.title) ": "
                @for entry in entries { (line(entry, link)) " " }
                (and_more(more))
            }
        }
    }
}

fn name(kind: NameKind, name: &str, link: &NameLink<'_>) -> Markup {
    match kind {
        NameKind::Text => html! { bdi { (sanitize(name)) } },
        _ => link(kind, name),
    }
}

fn and_more(more: usize) -> Markup {
    html! { @if more > 0 { span.faint { "and " (grouped(more as u64)) " more, in report.json" } } }
}
