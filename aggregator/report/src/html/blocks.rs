//! Topics as parts of a page.

use super::{ItemLink, layout::simulated};
use crate::{
    document::{Block, ChangeChart, FigureCell, FigureTable, Level, List, ListEntry, Topic},
    sanitize::harmless,
};
use juror_analysis::format::grouped;
use maud::{Markup, html};

const WIDTH: f64 = 200.0;

/// The blocks one below the other, with items as links.
pub fn blocks(blocks: &[Block], link: &ItemLink<'_>) -> Markup {
    html! { @for block in blocks { (self::block(block, link)) } }
}

/// A topic as a card under this heading.
pub(super) fn card(id: &str, heading: &Markup, topic: &Topic, link: &ItemLink<'_>) -> Markup {
    html! {
        section.card aria-labelledby=(id) {
            h2 id=(id) {
                (heading)
                @if let Some((word, level)) = &topic.status {
                    " " span class=(format!("chip {}", class_of(*level))) { (word) }
                }
                @if topic.simulated { " " (simulated()) }
            }
            (blocks(&topic.blocks, link))
        }
    }
}

fn block(block: &Block, link: &ItemLink<'_>) -> Markup {
    match block {
        Block::Decision { level, headline, reason } => html! {
            div class=(format!("decision {}", class_of(*level))) {
                p.verdict { strong { (harmless(headline)) } }
                p { (harmless(reason)) "." }
            }
        },
        Block::Facts(facts) => html! {
            p.facts { @for fact in facts { span { bdi { (harmless(fact)) } } " " } }
        },
        Block::Sentence(level, lead, text) => html! {
            p class=[sentence_class(*level)] {
                @if !lead.is_empty() { strong { (lead) ": " } }
                (harmless(text))
            }
        },
        Block::Table(table) => self::table(table),
        Block::List(list) => self::list(list, link),
        Block::Lists(lists) => html! {
            h3 { (lists.title) ": " (lists.summary) }
            @for list in &lists.lists { (self::list(list, link)) }
        },
    }
}

/// Class of the style sheet for a decision of this level.
pub(super) fn class_of(level: Level) -> &'static str {
    match level {
        Level::Good => "met",
        Level::Plain | Level::Faint | Level::Doubtful => "undecided",
        Level::Bad => "missed",
    }
}

fn sentence_class(level: Level) -> Option<&'static str> {
    match level {
        Level::Plain | Level::Good => None,
        Level::Faint => Some("faint"),
        Level::Doubtful | Level::Bad => Some("notice"),
    }
}

fn table(table: &FigureTable) -> Markup {
    let head = if table.title.is_empty() { "Score" } else { table.title };
    // Several tables of a page may have the same first column.
    let columns: Vec<&str> = table.columns.iter().map(|column| column.head).collect();
    let label = format!("{head}: {}", columns.join(", "));
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table.changes {
                @if !table.note.is_empty() { caption { span { (table.note) " " (table.wide_note) } } }
                thead { tr {
                    th scope="col" { (head) }
                    @for column in &table.columns { th.n scope="col" { (column.head) } }
                } }
                tbody {
                    @for (name, _, cells) in &table.rows {
                        tr {
                            th scope="row" { bdi { (harmless(name)) } }
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
        FigureCell::Figure(text) => html! { td.n { (text) } },
        FigureCell::Status(text, level) => html! {
            td.n { span class=(format!("chip {}", class_of(*level))) { (text) } }
        },
        FigureCell::Change(chart) => {
            html! { td { @if let Some(chart) = chart { (drawn(chart)) } } }
        }
    }
}

fn drawn(chart: &ChangeChart) -> Markup {
    let place = |share: f64| ((share / chart.reach + 1.0) / 2.0 * WIDTH).clamp(0.0, WIDTH);
    let margin = (place(-chart.margin), place(chart.margin));
    html! {
        svg.range.change viewBox="0 0 200 14" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="5" width="200" height="4" {}
            rect.margin x=(margin.0) y="0" width=(margin.1 - margin.0) height="14" {}
            @if let Some((low, high)) = chart.interval {
                @let (low, high) = (place(low), place(high));
                rect.sure x=(low) y="3" width=((high - low).max(1.0)) height="8" {}
            }
            rect.bound x=(WIDTH / 2.0 - 0.5) y="0" width="1" height="14" {}
            rect.value x=((place(chart.value) - 1.0).clamp(0.0, WIDTH - 2.0)) y="1" width="2" height="12" {}
        }
    }
}

fn list(list: &List, link: &ItemLink<'_>) -> Markup {
    if list.count == 0 {
        return html! {};
    }
    let (entries, more) = list.first(List::MAX);
    html! {
        details open[list.open] {
            summary { (list.title) " " span.faint { "(" (grouped(list.count as u64)) ")" } }
            ul.listed { @for entry in entries { li { (self::entry(entry, link)) } } }
            @if more > 0 { p.faint { "and " (grouped(more as u64)) " more, in report.json" } }
        }
    }
}

fn entry(entry: &ListEntry, link: &ItemLink<'_>) -> Markup {
    html! {
        @if entry.is_item { (link(&entry.name)) } @else { bdi { (harmless(&entry.name)) } }
        @if !entry.detail.is_empty() { " " span.faint { (entry.detail) } }
    }
}
