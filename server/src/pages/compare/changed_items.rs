//! Items with the largest changes, with images and issues of both runs.

use crate::{
    pages::{links, thumbnail},
    view::RunView,
};
use juror_analysis::{
    comparison::{Comparison, ItemChange},
    format::{decimals, figure, grouped},
    metrics::Unit,
};
use juror_journal::journal::JournalError;
use juror_report::{html::simulated, sanitize::sanitize};
use juror_types::outcome::JobResult;
use maud::{Markup, html};

/// Maximum number of items that fell, and of items that rose; the lists below have all.
const MAX_ITEMS: usize = 6;
/// Maximum number of listed issues of each side.
const MAX_ISSUES: usize = 4;
/// Width of the scale in SVG units.
const WIDTH: f64 = 200.0;

/// Changed items, with their results in both runs.
pub struct ChangedItems(Vec<ItemPair>);

impl ChangedItems {
    /// Reads the results of the first repeat of each, and so blocks.
    pub fn read(
        base: &RunView,
        head: &RunView,
        comparison: &Comparison,
    ) -> Result<Self, JournalError> {
        let lists = &comparison.items;
        let worst = lists.regressed.iter().take(MAX_ITEMS);
        let changes = worst.chain(lists.improved.iter().take(MAX_ITEMS));
        let pairs = changes.map(|change| {
            let (base, head) = (result(base, &change.id)?, result(head, &change.id)?);
            Ok(ItemPair { change: change.clone(), base, head })
        });
        pairs.collect::<Result<_, JournalError>>().map(Self)
    }
}

pub fn section(
    base: &RunView,
    head: &RunView,
    comparison: &Comparison,
    changed: &ChangedItems,
) -> Markup {
    let lists = &comparison.items;
    let all = lists.regressed.len() + lists.improved.len();
    html! {
        section.card aria-labelledby="moved" {
            h2 #moved { "Items that moved" @if comparison.simulated { " " (simulated()) } }
            @if changed.0.is_empty() { p.faint { "No item moved by more than the margin." } }
            @else {
                @if all > changed.0.len() {
                    p.faint { "The " (grouped(changed.0.len() as u64)) " that moved most, of " (grouped(all as u64)) "; all are listed " a href="#lists" { "below" } "." }
                }
                div.moved-items { @for pair in &changed.0 { (item(base, head, pair)) } }
            }
        }
    }
}

struct ItemPair {
    change: ItemChange,
    base: Option<JobResult>,
    head: Option<JobResult>,
}

fn result(view: &RunView, id: &str) -> Result<Option<JobResult>, JournalError> {
    view.place_of(id, 0).map_or(Ok(None), |place| view.result(place))
}

fn item(base: &RunView, head: &RunView, pair: &ItemPair) -> Markup {
    let change = &pair.change;
    let (class, word) = if change.difference < 0.0 { ("missed", "fell") } else { ("met", "rose") };
    let of_head = pair.head.as_ref().map(|result| (head, result));
    let shown = of_head.or_else(|| pair.base.as_ref().map(|result| (base, result)));
    html! {
        article.moved aria-label=(sanitize(&change.id)) {
            @if let Some((view, result)) = shown {
                (thumbnail::link(&view.report.run.id, result, &links::item(&view.report.run.id, &change.id, "")))
            }
            div {
                h3 {
                    bdi { (sanitize(&change.id)) } " "
                    span class=(format!("chip {class}")) {
                        (word) " by " (figure(change.difference.abs(), Unit::Share).trim_end_matches('%')) " points"
                    }
                }
                (drawn(change))
                (criteria(head, pair))
                div.two {
                    (side("Base", base, change, change.base, (pair.base.as_ref(), pair.head.as_ref())))
                    (side("Head", head, change, change.head, (pair.head.as_ref(), pair.base.as_ref())))
                }
            }
        }
    }
}

/// Chart of both scores on a scale from 0 to 100 %.
fn drawn(change: &ItemChange) -> Markup {
    let place = |score: f64| (score * WIDTH).clamp(0.0, WIDTH);
    let (base, head) = (place(change.base), place(change.head));
    let class = if head < base { "fell" } else { "rose" };
    html! {
        svg.range viewBox="0 0 200 14" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="5" width="200" height="4" {}
            rect class=(class) x=(base.min(head)) y="4" width=((head - base).abs()) height="6" {}
            rect.bound x=((base - 1.0).clamp(0.0, WIDTH - 2.0)) y="1" width="2" height="12" {}
            rect.value x=((head - 1.5).clamp(0.0, WIDTH - 3.0)) y="0" width="3" height="14" {}
        }
    }
}

/// Criteria whose scores changed.
fn criteria(view: &RunView, pair: &ItemPair) -> Markup {
    let (Some(base), Some(head)) = (&pair.base, &pair.head) else { return html! {} };
    let scores = view.columns.iter().filter(|column| column.is_part()).filter_map(|column| {
        let [before, after] = [base, head].map(|result| column.cell(result)?.number());
        Some((column.title.as_deref()?, before?, after?))
    });
    html! {
        p.facts {
            @for (title, before, after) in scores.filter(|(_, before, after)| before != after) {
                span { (sanitize(title)) " " (decimals(before, 2)) " → " (decimals(after, 2)) } " "
            }
        }
    }
}

/// Score and own issues of one run.
fn side(
    name: &str,
    view: &RunView,
    change: &ItemChange,
    score: f64,
    (own, other): (Option<&JobResult>, Option<&JobResult>),
) -> Markup {
    let all = issues_of(own);
    let issues: Vec<&String> =
        all.iter().filter(|issue| !issues_of(other).contains(issue)).collect();
    html! {
        div {
            p {
                a href=(links::item(&view.report.run.id, &change.id, "")) { (name) } ": "
                strong { (figure(score, Unit::Share)) }
            }
            @if all.is_empty() { p.faint { "No issues." } }
            @else if issues.is_empty() { p.faint { "The same issues." } }
            @else {
                ul.issues { @for issue in issues.iter().take(MAX_ISSUES) { li { bdi { (sanitize(issue)) } } } }
                @if issues.len() > MAX_ISSUES { p.faint { "and " (issues.len() - MAX_ISSUES) " more" } }
            }
        }
    }
}

fn issues_of(result: Option<&JobResult>) -> &[String] {
    result.and_then(JobResult::verdict).map(|verdict| verdict.issues.as_slice()).unwrap_or_default()
}
