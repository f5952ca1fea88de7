//! The table of results, a page at a time, in the order and with the filters of the address.

use crate::{
    pages::{
        links, pager::pager, run::filters::ItemFilters, select::select, sorting::TableOrder,
        thumbnail,
    },
    view::{EvidenceState, Order, RunView},
};
use juror_analysis::format::{counted, grouped};
use juror_report::{
    html::{column_head, result_cells, simulated},
    sanitize::{cut, sanitize},
    topics::results::{ResultColumn, shown_columns},
};
use juror_types::{
    finding::Severity,
    outcome::{JobResult, Outcome},
};
use maud::{Markup, html};

/// Number of results on one page.
const RESULTS_PER_PAGE: usize = 100;

/// Maximum number of tags, of issues and of strengths to filter by.
const MAX_CHOICES: usize = 100;

/// Longest choice, in characters.
const MAX_CHOICE: usize = 70;

/// Page of the query results.
pub struct TablePage {
    /// Number of them on all pages.
    pub selected: usize,
    /// The page, from 1.
    pub page: usize,
    pub results: Vec<JobResult>,
}

impl TablePage {
    /// Reads a page from the journal: blocks.
    pub fn read(
        view: &RunView,
        query: &ItemFilters,
    ) -> Result<Self, juror_journal::journal::JournalError> {
        let places = view.select(&query.query(view));
        let pages = places.len().div_ceil(RESULTS_PER_PAGE).max(1);
        let page = query.page.clamp(1, pages);
        let start = (page - 1) * RESULTS_PER_PAGE;
        let end = places.len().min(start + RESULTS_PER_PAGE);
        let results = view.results(places.get(start..end).unwrap_or_default())?;
        Ok(Self { selected: places.len(), page, results })
    }
}

pub fn section(view: &RunView, query: &ItemFilters, shown: &TablePage) -> Markup {
    let report = &view.report;
    let columns = shown_columns(report);
    let pages = shown.selected.div_ceil(RESULTS_PER_PAGE).max(1);
    let first = (shown.page - 1) * RESULTS_PER_PAGE + 1;
    html! {
        section.card #items aria-labelledby="items-title" {
            h2 #items-title { "Results" @if report.run.simulated { " " (simulated()) } }
            (filters(view, query))
            div data-refresh="results" {
            p role="status" {
                @if shown.selected == view.len() { (counted(shown.selected as u64, "result")) }
                @else { (grouped(shown.selected as u64)) " of " (counted(view.len() as u64, "result")) }
                @if pages > 1 { ", here " (grouped(first as u64)) " to " (grouped((first + shown.results.len()).saturating_sub(1) as u64)) }
                span.keys.faint { " · " kbd { "j" } " and " kbd { "k" } " go through the results" }
                @if query.is_filtered() { " · " a href=(format!("{}#items", links::run(&report.run.id))) { "Show all" } }
            }
            @if shown.results.is_empty() { (no_results(view)) }
            @else {
                div.scroll tabindex="0" role="region" aria-label="Table of results" {
                    table.results #results {
                        caption { span { (order_text(view, query)) } }
                        (head(query, &columns))
                        tbody { @for result in &shown.results { (row(view, query, &columns, result)) } }
                    }
                }
            }
            (pager(shown.page, pages, &|page| format!("{}#items", query.with(&[("page", page.to_string())]))))
            }
        }
    }
}

fn no_results(view: &RunView) -> Markup {
    html! {
        @if view.is_empty() { p.missing { "No results yet." } }
        @else { p.missing { "No results match these filters: remove one." } }
    }
}

fn order_text(view: &RunView, query: &ItemFilters) -> &'static str {
    match query.order(view) {
        Order::Urgency => {
            "Worst first: verdicts that contradict the measured evidence, then no output, jobs that could not be judged, and the lowest scores; skipped jobs last."
        }
        _ => "Sorted by the marked column; results without a figure last.",
    }
}

fn head(query: &ItemFilters, columns: &[ResultColumn]) -> Markup {
    let descends = query.text("order") == Some("desc");
    let order = TableOrder { key: query.text("sort"), descends };
    html! {
        thead { tr {
            th.thumb scope="col" { "Image" }
            @for column in columns {
                @let link = order.link(&column.key, &sanitize(&column.head), |pairs| {
                    format!("{}#items", query.with(&pairs))
                });
                (column_head(column, order.direction(&column.key), &link))
            }
        } }
    }
}

fn row(
    view: &RunView,
    query: &ItemFilters,
    columns: &[ResultColumn],
    result: &JobResult,
) -> Markup {
    let run = &view.report.run.id;
    let repeat = (result.repeat > 0).then(|| ("repeat", result.repeat.to_string()));
    let item_query = query.with(repeat.as_slice());
    let address = links::item(run, &result.screenshot_id, &item_query);
    let name = |id: &Markup| {
        html! {
            a href=(address) { (id) }
            @for tag in result.item.tags.iter().take(3) {
                " " a.tag href=(format!("{}#items", query.with(&[("tag", tag.clone())]))) { (sanitize(tag)) }
            }
        }
    };
    html! {
        tr {
            td.thumb { (thumbnail::link(run, result, &address)) }
            (result_cells(columns, result, &name))
        }
    }
}

fn filters(view: &RunView, query: &ItemFilters) -> Markup {
    let report = &view.report;
    let labeled = |groups: &[juror_analysis::issues::StatementGroup]| {
        let groups = groups.iter().take(MAX_CHOICES);
        groups
            .map(|group| (group.label.clone(), format!("{} ({})", group.label, group.count)))
            .collect::<Vec<_>>()
    };
    let outcomes =
        Outcome::ALL.map(|outcome| (outcome.name().to_owned(), outcome.label().to_owned()));
    let tags: Vec<_> = view
        .tags()
        .iter()
        .take(MAX_CHOICES)
        .map(|(tag, count)| (tag.clone(), format!("{tag} ({count})")))
        .collect();
    let has_findings =
        report.common_issues.iter().any(|issue| issue.key.kind_and_element().is_some());
    let kinds = report.rubric.vocabulary.kinds.iter().filter(|_| has_findings);
    let kinds: Vec<_> = kinds.map(|kind| (kind.key.clone(), kind.title.clone())).collect();
    let severities =
        Severity::ALL.map(|severity| (severity.name().to_owned(), severity.name().to_owned()));
    let evidence = EvidenceState::ALL.map(|(_, name, text)| (name.to_owned(), text.to_owned()));
    let repairs = report.evidence.iter().flat_map(|evidence| &evidence.repairs);
    let repairs: Vec<_> = repairs
        .map(|repair| (repair.label(), format!("{} ({})", repair.label(), repair.count)))
        .collect();
    let yes_and_no =
        [("true", "yes"), ("false", "no")].map(|(value, text)| (value.to_owned(), text.to_owned()));
    html! {
        form #filters method="get" action="#items" role="search" aria-label="Filter the results" {
            label { "Text" input type="search" name="q" value=[query.text("q")] autocomplete="off" placeholder="id, tag, issue"; }
            (choices(query, "Outcome", "outcome", &outcomes))
            (choices(query, "Tag", "tag", &tags))
            (choices(query, "Issue", "issue", &labeled(&report.common_issues)))
            (choices(query, "Kind", "kind", &kinds))
            @if !kinds.is_empty() { (choices(query, "Severity", "severity", &severities)) }
            @if let Some(checks) = &report.verdict_checks {
                @if checks.contradictory > 0 { (choices(query, "Contradictory", "contradictory", &yes_and_no)) }
                @if checks.suspected_instructions > 0 {
                    (choices(query, "Suspected instructions", "suspected_instructions", &yes_and_no))
                }
            }
            @if report.evidence.is_some() { (choices(query, "Evidence", "evidence", &evidence)) }
            (choices(query, "Repair", "repair", &repairs))
            (choices(query, "Strength", "strength", &labeled(&report.common_strengths)))
            @if report.run.judge.is_some() {
                label { "Score from, %" input type="number" name="from" min="0" max="100" step="any" value=[query.text("from")]; }
                label { "to, %" input type="number" name="to" min="0" max="100" step="any" value=[query.text("to")]; }
            }
            @for name in ["sort", "order"] {
                @if let Some(value) = query.text(name) { input type="hidden" name=(name) value=(value); }
            }
            button type="submit" { "Filter" }
        }
    }
}

fn choices(query: &ItemFilters, label: &str, name: &str, options: &[(String, String)]) -> Markup {
    let shown =
        options.iter().map(|(value, text)| (value.as_str(), cut(&sanitize(text), MAX_CHOICE)));
    html! {
        @if !options.is_empty() { (select((name, label), false, "all", query.text(name), shown)) }
    }
}
