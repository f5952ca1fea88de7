//! The items that moved most, with what was found in both runs side by side.

use crate::{pages::links, view::RunView};
use juror_aggregator::{
    compare::{Comparison, ItemChange},
    journal::JournalError,
    metrics::Unit,
    report::{
        figures::{decimals, figure, grouped},
        harmless::harmless,
        html::{simulated, verdict_of},
    },
};
use juror_common::outcome::JobResult;
use maud::{Markup, html};

/// So many items that fell, and as many that rose, are shown side by side.
const MOST: usize = 20;
/// So many issues of each side are listed.
const MOST_ISSUES: usize = 6;

/// Items that moved, with their results in both runs.
pub struct Moved(Vec<Both>);

struct Both {
    change: ItemChange,
    base: Option<JobResult>,
    head: Option<JobResult>,
}

impl Moved {
    /// Reads those results, of the first repeat each: blocks.
    pub fn read(
        base: &RunView,
        head: &RunView,
        comparison: &Comparison,
    ) -> Result<Self, JournalError> {
        let lists = &comparison.items;
        let changes = lists.regressed.iter().take(MOST).chain(lists.improved.iter().take(MOST));
        let both = changes.map(|change| {
            let (base, head) = (result(base, &change.id)?, result(head, &change.id)?);
            Ok(Both { change: change.clone(), base, head })
        });
        both.collect::<Result<_, JournalError>>().map(Self)
    }
}

fn result(view: &RunView, id: &str) -> Result<Option<JobResult>, JournalError> {
    match view.place_of(id, 0) {
        Some(place) => Ok(view.results(&[place])?.pop()),
        None => Ok(None),
    }
}

/// The section.
pub fn section(base: &RunView, head: &RunView, comparison: &Comparison, moved: &Moved) -> Markup {
    let lists = &comparison.items;
    let all = lists.regressed.len() + lists.improved.len();
    html! {
        section.card aria-labelledby="moved" {
            h2 #moved { "Items that moved" @if comparison.simulated { " " (simulated()) } }
            @if moved.0.is_empty() { p.faint { "No item moved by more than the margin." } }
            @else {
                @if all > moved.0.len() {
                    p.faint { "The " (grouped(moved.0.len() as u64)) " that moved most, of " (grouped(all as u64)) "." }
                }
                @for both in &moved.0 { (item(base, head, both)) }
            }
        }
    }
}

fn item(base: &RunView, head: &RunView, both: &Both) -> Markup {
    let change = &both.change;
    let (class, word) = if change.difference < 0.0 { ("missed", "fell") } else { ("met", "rose") };
    html! {
        article.moved aria-label=(harmless(&change.id)) {
            h3 {
                bdi { (harmless(&change.id)) } " "
                span class=(format!("chip {class}")) {
                    (word) " by " (figure(change.difference.abs(), Unit::Share).trim_end_matches('%')) " points"
                }
            }
            (criteria(head, both))
            div.two {
                (side("Base", base, change, change.base, both.base.as_ref()))
                (side("Head", head, change, change.head, both.head.as_ref()))
            }
        }
    }
}

/// The criteria whose scores are not what they were.
fn criteria(view: &RunView, both: &Both) -> Markup {
    let verdict = |result: &Option<JobResult>| result.as_ref().and_then(verdict_of).cloned();
    let (Some(base), Some(head)) = (verdict(&both.base), verdict(&both.head)) else {
        return html! {};
    };
    let scores = view
        .columns
        .iter()
        .filter_map(|column| Some((&column.title, column.score(&base)?, column.score(&head)?)));
    html! {
        p.facts {
            @for (title, before, after) in scores.filter(|(_, before, after)| before != after) {
                span { (harmless(title)) " " (decimals(before, 2)) " → " (decimals(after, 2)) } " "
            }
        }
    }
}

fn side(
    name: &str,
    view: &RunView,
    change: &ItemChange,
    score: f64,
    result: Option<&JobResult>,
) -> Markup {
    let verdict = result.and_then(verdict_of);
    let issues = verdict.map(|verdict| verdict.issues.as_slice()).unwrap_or_default();
    html! {
        div {
            p {
                a href=(links::item(&view.report.run.id, &change.id, "")) { (name) } ": "
                strong { (figure(score, Unit::Share)) }
            }
            @if issues.is_empty() { p.faint { "No issues." } }
            @else {
                ul.issues { @for issue in issues.iter().take(MOST_ISSUES) { li { bdi { (harmless(issue)) } } } }
                @if issues.len() > MOST_ISSUES { p.faint { "and " (issues.len() - MOST_ISSUES) " more" } }
            }
        }
    }
}
