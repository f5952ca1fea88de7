//! Every result in one table, the ones to look at first on top. Without script it is complete;
//! with script its columns sort and its rows are filtered.

use super::{AT_A_TIME, MAX_SECTIONS};
use crate::{
    columns::{TableColumn, verdict_of},
    html::{
        layout::simulated,
        page_plan::{MAX_CHOICES, PagePlan},
    },
    sanitize::harmless,
};
use juror_analysis::{
    format::{counted, grouped},
    run_report::Report,
};
use juror_types::{
    outcome::{JobResult, Outcome},
    verdict::Verdict,
};
use maud::{Markup, PreEscaped, html};

/// Longest first issue in a cell, in characters; the section has it whole.
const MAX_ISSUE: usize = 90;

/// The table's head and what filters it; the rows follow.
pub(super) fn opening(report: &Report, survey: &PagePlan, columns: &[TableColumn<'_>]) -> Markup {
    let results = report.items.results();
    html! {
        (PreEscaped("<section class=\"card\" id=\"items\" aria-labelledby=\"items-title\">"))
        h2 #items-title { "All items" @if report.run.simulated { " " (simulated()) } }
        (filters(report, survey))
        (PreEscaped("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of all items\"><table class=\"results\" id=\"results\">"))
        caption { span {
            (counted(results as u64, "result")) ", worst first: no output, then what could not be judged, then the lowest scores."
            @if results > MAX_SECTIONS { " Those with a link are shown in full below." }
        } }
        (head(columns))
        (PreEscaped("<tbody>"))
    }
}

/// Closes a table and begins the next one, folded, with the result of this number.
pub(super) fn fold(number: usize, results: usize, columns: &[TableColumn<'_>]) -> Markup {
    let last = (number + AT_A_TIME).min(results);
    html! {
        (close_table(number))
        (PreEscaped("<details class=\"more\"><summary>"))
        "Results " (grouped(number as u64 + 1)) " to " (grouped(last as u64))
        (PreEscaped("</summary><div class=\"scroll\" tabindex=\"0\"><table class=\"results\">"))
        (head(columns))
        (PreEscaped("<tbody>"))
    }
}

fn head(columns: &[TableColumn<'_>]) -> Markup {
    html! {
        thead { tr {
            th scope="col" { "Item" }
            th scope="col" { "Outcome" }
            @for column in columns {
                th.n[column.is_number()] scope="col" title=[column.title.as_deref()] { (column.head) }
            }
            th scope="col" { "First issue" }
        } }
    }
}

/// The first table stands in the page, all others are folded.
fn close_table(rows: usize) -> Markup {
    html! {
        (PreEscaped("</tbody></table></div>"))
        @if rows > AT_A_TIME { (PreEscaped("</details>")) }
    }
}

/// A row; `number` is the result's place in the table.
pub(super) fn row(
    report: &Report,
    survey: &PagePlan,
    columns: &[TableColumn<'_>],
    number: usize,
    result: &JobResult,
) -> Markup {
    let verdict = verdict_of(result);
    let id = id_text(report, result);
    let choices = |places: Vec<u32>| {
        let texts: Vec<String> = places.iter().map(u32::to_string).collect();
        Some(texts.join(" ")).filter(|text| !text.is_empty())
    };
    let place = survey.order.get(number).copied();
    let item = place.and_then(|place| report.items.number_at(place));
    let issues = item.map(|item| survey.issues_of(item).collect()).unwrap_or_default();
    let tags = result.item.tags.iter();
    let tags = tags.filter_map(|tag| u32::try_from(survey.tags.get_index_of(tag)?).ok()).collect();
    let outcome = result.outcome.name();
    html! {
        tr data-o=(outcome) data-i=[choices(issues)] data-t=[choices(tags)] {
            th scope="row" {
                @match number < MAX_SECTIONS {
                    true => { a href=(format!("#i{number}")) { bdi { (id) } } }
                    false => { bdi { (id) } }
                }
                @for tag in result.item.tags.iter().take(3) { " " small { (harmless(tag)) } }
            }
            td {
                span class=(format!("chip {outcome}")) { (result.outcome.label()) }
                @if let Some(verdict) = verdict { (super::marks(verdict)) }
            }
            @for column in columns { td.n[column.is_number()] { (column.cell(result)) } }
            td.issue { (first_issue(result, verdict)) }
        }
    }
}

/// End of the last table, of so many rows in all.
pub(super) fn closing(results: usize) -> Markup {
    html! {
        (close_table(results))
        p { button #next type="button" hidden {} }
        (PreEscaped("</section>"))
    }
}

/// An item's id, with the number of the repeat where there are several.
pub fn id_text(report: &Report, result: &JobResult) -> String {
    let id = harmless(&result.screenshot_id);
    if report.run.repeat > 1 { format!("{id} ·{}", result.repeat + 1) } else { id }
}

fn filters(report: &Report, survey: &PagePlan) -> Markup {
    let choices = |label: &str, name: &str, options: Vec<(String, String)>| {
        html! {
            label { (label)
                select data-filter=(name) {
                    option value="" { "all" }
                    @for (value, text) in options { option value=(value) { (text) } }
                }
            }
        }
    };
    let numbered = |texts: Vec<String>| {
        texts.into_iter().enumerate().map(|(number, text)| (number.to_string(), text)).collect()
    };
    let tags: Vec<String> = survey
        .tags
        .iter()
        .map(|(tag, count)| format!("{} ({count})", cut(&harmless(tag), 60)))
        .collect();
    let issues: Vec<String> = report
        .common_issues
        .iter()
        .take(MAX_CHOICES)
        .map(|group| format!("{} ({})", cut(&harmless(&group.label), 60), group.count))
        .collect();
    let outcomes =
        Outcome::ALL.map(|outcome| (outcome.name().to_owned(), outcome.label().to_owned()));
    html! {
        form #filters hidden {
            label { "Text" input type="search" data-filter="text" autocomplete="off"
                placeholder="id, tag, issue"; }
            (choices("Outcome", "o", outcomes.into()))
            @if !tags.is_empty() { (choices("Tag", "t", numbered(tags))) }
            @if !issues.is_empty() { (choices("Issue", "i", numbered(issues))) }
            button type="reset" { "Clear" }
            p #shown role="status" {}
        }
    }
}

/// Short text of what is wrong with a result.
pub fn first_issue(result: &JobResult, verdict: Option<&Verdict>) -> String {
    if let Some(error) = &result.error {
        return cut(&harmless(&format!("{}: {}", error.kind.name(), error.message)), MAX_ISSUE);
    }
    let issues = verdict.map(|verdict| verdict.issues.as_slice()).unwrap_or_default();
    match issues {
        [] => {
            let compiler = result.generation.as_ref().and_then(|stage| stage.error.as_ref());
            compiler.map_or_else(String::new, |error| cut(&harmless(error), MAX_ISSUE))
        }
        [only] => cut(&harmless(only), MAX_ISSUE),
        [first, others @ ..] => {
            format!("{} (+{})", cut(&harmless(first), MAX_ISSUE), others.len())
        }
    }
}

fn cut(text: &str, longest: usize) -> String {
    let mut shown: String = text.chars().take(longest).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
