//! Every result in one table, the ones to look at first on top. Without script it is complete;
//! with script its columns sort and its rows are filtered.

use super::{AT_A_TIME, MAX_SECTIONS};
use crate::{
    html::{
        layout::simulated,
        page_plan::{MAX_CHOICES, PagePlan},
        result_cells::{column_head, result_cells},
    },
    sanitize::{cut, sanitize},
    topics::results::ResultColumn,
};
use juror_analysis::{
    format::{counted, grouped},
    run_report::Report,
};
use juror_types::outcome::{JobResult, Outcome};
use maud::{Markup, PreEscaped, html};

/// The table's head and what filters it; the rows follow.
pub(super) fn opening(report: &Report, plan: &PagePlan, columns: &[ResultColumn]) -> Markup {
    let results = report.items.results();
    html! {
        (PreEscaped("<section class=\"card\" id=\"items\" aria-labelledby=\"items-title\">"))
        h2 #items-title { "All items" @if report.run.simulated { " " (simulated()) } }
        (filters(report, plan))
        (PreEscaped("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table of all items\"><table class=\"results\" id=\"results\">"))
        caption { span {
            (counted(results as u64, "result")) ", worst first: " (order(report)) "."
            @if results > MAX_SECTIONS { " Those with a link are shown in full below." }
        } }
        (head(columns))
        (PreEscaped("<tbody>"))
    }
}

/// Closes a table and begins the next one, folded, with the result of this number.
pub(super) fn fold(number: usize, results: usize, columns: &[ResultColumn]) -> Markup {
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

/// A row; `number` is the result's place in the table.
pub(super) fn row(
    report: &Report,
    plan: &PagePlan,
    columns: &[ResultColumn],
    number: usize,
    result: &JobResult,
) -> Markup {
    let choices = |places: Vec<u32>| {
        let texts: Vec<String> = places.iter().map(u32::to_string).collect();
        Some(texts.join(" ")).filter(|text| !text.is_empty())
    };
    let place = plan.order.get(number).copied();
    let item = place.and_then(|place| report.items.number_at(place));
    let issues = item.map(|item| plan.issues.numbers_of_item(item).collect()).unwrap_or_default();
    let tags = result.item.tags.iter();
    let tags = tags.filter_map(|tag| u32::try_from(plan.tags.get_index_of(tag)?).ok()).collect();
    let name = |id: &Markup| {
        html! {
            @if number < MAX_SECTIONS { a href=(format!("#i{number}")) { (id) } } @else { (id) }
            @for tag in result.item.tags.iter().take(3) { " " small { (sanitize(tag)) } }
        }
    };
    html! {
        tr data-o=(result.outcome.name()) data-i=[choices(issues)] data-t=[choices(tags)] {
            (result_cells(columns, result, &name))
        }
    }
}

/// End of the last table; `results` is the number of all rows.
pub(super) fn closing(results: usize) -> Markup {
    html! {
        (close_table(results))
        p { button #next type="button" hidden {} }
        (PreEscaped("</section>"))
    }
}

/// The order of the results in words.
fn order(report: &Report) -> &'static str {
    match (&report.run.judge, &report.evidence) {
        (Some(_), _) => "no output, then what could not be judged, then the lowest scores",
        (None, Some(_)) => {
            "no output, then what failed or does not pass, then what differs most from its screenshot"
        }
        (None, None) => "no output, then what failed or does not pass",
    }
}

fn head(columns: &[ResultColumn]) -> Markup {
    html! {
        thead { tr {
            @for column in columns {
                (column_head(column, None, &html! { (sanitize(&column.head)) }))
            }
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

fn filters(report: &Report, plan: &PagePlan) -> Markup {
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
    let tags: Vec<String> = plan
        .tags
        .iter()
        .map(|(tag, count)| format!("{} ({count})", cut(&sanitize(tag), 60)))
        .collect();
    let issues: Vec<String> = report
        .common_issues
        .iter()
        .take(MAX_CHOICES)
        .map(|group| format!("{} ({})", cut(&sanitize(&group.label), 60), group.count))
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
