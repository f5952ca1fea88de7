//! Cells of a table of results.

use super::findings::review_badges;
use crate::{
    sanitize::sanitize,
    topics::results::{ResultCell, ResultColumn, ResultColumnKind, text_of},
};
use juror_types::outcome::{JobResult, Outcome};
use maud::{Markup, html};

/// The cells of a result; `name` makes the item's from its text.
pub fn result_cells(
    columns: &[ResultColumn],
    result: &JobResult,
    name: &dyn Fn(&Markup) -> Markup,
) -> Markup {
    html! {
        @for column in columns {
            @match column.cell(result) {
                Some(cell @ ResultCell::Item(..)) => {
                    th scope="row" { (name(&html! { bdi { (sanitize(&cell.text())) } })) }
                }
                Some(ResultCell::Outcome(outcome)) => {
                    td { (outcome_chip(outcome)) @if let Some(verdict) = result.verdict() { (review_badges(verdict)) } }
                }
                cell => {
                    @let is_issue = column.kind == ResultColumnKind::Issue;
                    @let class = if is_issue { Some("issue") } else { column.is_number().then_some("n") };
                    td class=[class] { (sanitize(&text_of(cell.as_ref()))) }
                }
            }
        }
    }
}

/// Header of a column; `content` is its text or markup, `order` its `aria-sort`.
pub fn column_head(column: &ResultColumn, order: Option<&str>, content: &Markup) -> Markup {
    let title = column.title.as_deref().map(sanitize);
    html! {
        th class=[column.is_number().then_some("n")] scope="col" aria-sort=[order] title=[title] { (content) }
    }
}

/// The outcome as a chip.
pub fn outcome_chip(outcome: Outcome) -> Markup {
    html! { span class=(format!("chip {}", outcome.name())) { (outcome.label()) } }
}
