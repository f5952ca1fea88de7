//! Page of one result: inputs and findings.

mod code;
mod earlier;
mod highlight;
mod picture_section;
mod prompt_and_reply;
mod tokens;

use super::{
    NavigationPage, PageError, PageQuery, links, page, run::filters::ItemFilters, run_named,
};
use crate::{access::Visitor, app_state::AppState, view::RunView};
use axum::extract::{Extension, Path, State};
use juror_analysis::{format::grouped, run_report::Report};
use juror_app::item_source::ItemDetails;
use juror_report::{
    html::{
        badge_explanations, findings, measured_facts, outcome_chip, review_badges, score, scores,
        simulated, statement_list, took,
    },
    sanitize::sanitize,
    topics::results::item_name,
};
use juror_types::{evidence::EvidenceOutcome, outcome::JobResult, verdict::Verdict};
use maud::{Markup, html};
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The page. The query of the run's table selects the results before and after this one.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    Path((name, item)): Path<(String, String)>,
    query: PageQuery,
) -> Result<Markup, PageError> {
    let run = run_named(&name)?;
    let view = site.views.get(&run).await?;
    let repeat = query.value("repeat").unwrap_or(0_u32);
    let Some(place) = view.place_of(&item, repeat) else {
        let result = match view.place_of(&item, 0) {
            Some(_) => format!("result {} of item {item:?}", u64::from(repeat) + 1),
            None => format!("result of item {item:?}"),
        };
        return Err(PageError::missing(format!("Run {run} has no {result}.")));
    };
    let requested = ItemFilters::from_query(&query);
    let reading = Arc::clone(&view);
    let read = spawn_blocking(move || {
        let order = reading.select(&requested.query(&reading));
        let neighbors = Neighbors::new(&reading, &requested, &order, place);
        Ok::<_, PageError>((reading.result(place)?, neighbors))
    });
    let (result, neighbors) = read.await??;
    let result = result.ok_or_else(|| PageError::missing("This result is gone.".to_owned()))?;
    let shown = site.item_source.item(view.files.record(), &view.report.rubric, &result).await;
    let earlier = earlier::load(&site, &view, &result, &query).await?;
    let content = content(&view, &result, &shown, &neighbors, &earlier);
    Ok(page(Some(visitor), &sanitize(&item), NavigationPage::Runs, &content))
}

/// Results before and after one in the table of the query.
struct Neighbors {
    number: Option<usize>,
    all: usize,
    before: Option<String>,
    after: Option<String>,
    table: String,
}

impl Neighbors {
    fn new(view: &RunView, requested: &ItemFilters, order: &[u32], place: u32) -> Self {
        let number = order.iter().position(|other| *other == place);
        let address = |number: usize| {
            let place = *order.get(number)?;
            let repeat = view.row(place)?.repeat;
            let repeat = if repeat > 0 { repeat.to_string() } else { String::new() };
            let query = requested.with(&[("repeat", repeat)]);
            Some(links::item(&view.report.run.id, view.id_at(place), &query))
        };
        Self {
            number,
            all: order.len(),
            before: number.and_then(|number| address(number.checked_sub(1)?)),
            after: number.and_then(|number| address(number + 1)),
            table: format!("{}{}#items", links::run(&view.report.run.id), requested.with(&[])),
        }
    }
}

fn content(
    view: &RunView,
    result: &JobResult,
    shown: &Result<ItemDetails, String>,
    neighbors: &Neighbors,
    earlier: &Markup,
) -> Markup {
    let report = &view.report;
    let (verdict, is_simulated) = (result.verdict(), result.is_simulated());
    let show = shown.as_ref().ok();
    let cited = verdict.map_or(&[][..], |verdict| &verdict.findings);
    html! {
        (navigation(view, neighbors))
        header.page.item-head {
            h1 { bdi { (sanitize(&item_name(report, result))) } }
            p {
                (outcome_chip(result.outcome))
                @if let Some(verdict) = verdict { " " (score(verdict)) }
                @if is_simulated && verdict.is_some() { " " (simulated()) }
                @if let Some(verdict) = verdict { (review_badges(verdict)) }
                @for tag in &result.item.tags {
                    " " a.tag href=(format!("{}{}#items", links::run(&report.run.id), links::query([("tag", tag.clone())]))) { (sanitize(tag)) }
                }
            }
            @if let Some(error) = &result.error {
                p.error { strong { (error.kind.name()) } ": " (sanitize(&error.message)) }
            }
            @if let Some(verdict) = verdict { (badge_explanations(verdict)) }
            @if let Err(reason) = shown { p.notice { "The item itself cannot be shown: " (sanitize(reason)) "." } }
        }
        div.item-page {
            (picture_section::section(view, result, show))
            div.findings {
            @if let Some(facts) = measured_facts(result, cited, None) { (measured(&facts)) }
            @if let Some(verdict) = verdict { (scores_and_statements(report, result, verdict)) }
            section.card aria-labelledby="took" {
                h2 #took { "Stages, cost and time" }
                div.two { (took(report, result)) div { (metadata(result, show)) } }
            }
            }
            @if let Some(code) = show.and_then(|show| show.attachment.code.as_ref()) { (code::section(code)) }
        }
        @if let Some(tokens) = show.and_then(|show| show.tokens.as_ref()) { (tokens::section(tokens)) }
        (prompt_and_reply::section(result, show.and_then(|show| show.prompt.as_ref())))
        (earlier)
    }
}

fn scores_and_statements(report: &Report, result: &JobResult, verdict: &Verdict) -> Markup {
    let is_simulated = result.is_simulated();
    let evidence = result.evidence.as_ref().and_then(EvidenceOutcome::measured);
    html! {
        section.card aria-labelledby="scores" {
            h2 #scores { "Scores" @if is_simulated { " " (simulated()) } }
            (scores(&report.rubric, verdict, true))
        }
        div.two {
            @if verdict.findings.is_empty() { (titled_statements("Issues", "issues", &verdict.issues, is_simulated)) }
            @else {
                section.card aria-labelledby="findings" {
                    h2 #findings { "Findings" @if is_simulated { " " (simulated()) } }
                    (findings(&report.rubric, verdict, evidence, ""))
                }
            }
            (titled_statements("Strengths", "strengths", &verdict.strengths, is_simulated))
        }
    }
}

/// Measurements of the item's code; regions lead to the findings that cite them.
fn measured(facts: &Markup) -> Markup {
    html! {
        section.card aria-labelledby="measured" {
            h2 #measured { "Measured" }
            (facts)
        }
    }
}

/// Statements of the judge, in its own words.
fn titled_statements(
    title: &str,
    class: &str,
    statements: &[String],
    is_simulated: bool,
) -> Markup {
    html! {
        @if !statements.is_empty() {
            section.card aria-labelledby=(class) {
                h2 id=(class) { (title) @if is_simulated { " " (simulated()) } }
                (statement_list(class, statements))
            }
        }
    }
}

fn navigation(view: &RunView, neighbors: &Neighbors) -> Markup {
    html! {
        nav.ways aria-label="Results" {
            a href=(neighbors.table) { "Run " bdi { (sanitize(view.report.run.id.as_str())) } }
            @if let Some(number) = neighbors.number {
                span.faint { (grouped(number as u64 + 1)) " of " (grouped(neighbors.all as u64)) }
                span.keys.faint { kbd { "k" } " or " kbd { "←" } " previous, " kbd { "j" } " or " kbd { "→" } " next" }
            }
            span.steps {
                @if let Some(before) = &neighbors.before { a.button rel="prev" href=(before) accesskey="p" { "Previous" } }
                @if let Some(after) = &neighbors.after { a.button rel="next" href=(after) accesskey="n" { "Next" } }
            }
        }
    }
}

fn metadata(result: &JobResult, show: Option<&ItemDetails>) -> Markup {
    let pattern = show.and_then(|show| show.expected_pattern.as_ref());
    html! {
        @if let Some(pattern) = pattern {
            dl.pairs.small { dt { "Expected pattern" } dd { bdi { (sanitize(pattern)) } } }
        }
        (fields("Ratings by people", &result.item.labels))
        (fields("Further fields", &result.item.metadata))
    }
}

fn fields(title: &str, fields: &Map<String, Value>) -> Markup {
    html! {
        @if !fields.is_empty() {
            h3 { (title) }
            dl.pairs.small {
                @for (name, value) in fields {
                    dt { bdi { (sanitize(name)) } } dd { bdi { (tokens::value(value)) } }
                }
            }
        }
    }
}
