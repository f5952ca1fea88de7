//! Overview of the newest run, of all runs or of a chosen dataset and rubric.

use super::{
    NavigationPage, PageError, PageQuery,
    first_steps::first_steps,
    links::{self, plain},
    newest_run::{NewestRun, newest_of},
    page,
    run_choice::RunChoice,
    run_named,
    run_summary::{coverage_and_cost, facts_line, result_links, state_chip},
    trend,
};
use crate::{access::Visitor, app_state::AppState, view::RunView};
use axum::{
    extract::{Extension, State},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Redirect, Response},
};
use juror_analysis::gate::GateReport;
use juror_analysis::{
    format::{counted, grouped},
    run_report::Report,
};
use juror_app::{
    budgets::topics as budget_topics,
    run_catalog::{DamagedRun, ListedRun, RunListing, RunState},
};
use juror_report::{
    html::{blocks, card, simulated},
    sanitize::sanitize,
    topics,
};
use juror_types::id::RunId;
use maud::{Markup, html};
use std::path::Path;

/// Maximum number of common issues, and of strengths; the run's page has more.
const MAX_STATEMENTS: usize = 8;

/// Renders the page. Query: `enable_llm_judge` shows or hides the judge's figures (default: shown
/// if there are any); `run` names a run; `dataset` and `rubric` filter the runs whose newest is
/// shown; `choose` stores that filter in a cookie.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    query: PageQuery,
) -> Result<Response, PageError> {
    if query.text("choose").is_some() {
        return Ok(store_choice(&query, &headers));
    }
    let listing = site.listing().await?;
    let request = OverviewQuery {
        choice: RunChoice::from_query(&query, &headers),
        run: query.text("run").map(str::to_owned),
        enable_llm_judge: query.value("enable_llm_judge"),
    };
    let newest = newest(&site, &listing.runs, &request).await?;
    let budgets = site.item_source.budgets().await;
    let content = match &newest.view {
        Some(view) => {
            let page = overview(view, &listing, &request, &newest.damaged);
            let budgets = budgets.as_deref().map(budget_topics::states);
            html! { (page) @if let Some(topic) = budgets { (card(&topic, &plain)) } }
        }
        None if listing.runs.is_empty() => no_runs(site.catalog.runs_dir(), &listing.damaged),
        None => none_chosen(&listing, &request, &newest.damaged),
    };
    Ok(page(Some(visitor), "Overview", NavigationPage::Overview, &content).into_response())
}

struct OverviewQuery {
    choice: RunChoice,
    run: Option<String>,
    enable_llm_judge: Option<bool>,
}

/// Stores the choice of the form in a cookie, and redirects to its URL.
fn store_choice(query: &PageQuery, headers: &HeaderMap) -> Response {
    let choice = RunChoice::of_query(query);
    let judge = query.value::<bool>("enable_llm_judge");
    let judge = judge.map(|enabled| ("enable_llm_judge", enabled.to_string()));
    let url = format!("/{}", links::query(choice.pairs().chain(judge)));
    ([(header::SET_COOKIE, choice.cookie(headers))], Redirect::to(&url)).into_response()
}

/// The named run, else the newest one of the choice; runs with a report take precedence.
async fn newest(
    site: &AppState,
    runs: &[ListedRun],
    request: &OverviewQuery,
) -> Result<NewestRun, PageError> {
    if let Some(name) = &request.run {
        let view = site.views.get(&run_named(name)?).await?;
        return Ok(NewestRun { view: Some(view), damaged: Vec::new() });
    }
    let fits = |run: &&ListedRun| {
        request.choice.matches(run)
            && (request.enable_llm_judge != Some(true) || run.record.judge.is_some())
    };
    newest_of(site, runs.iter().filter(fits)).await
}

fn overview(
    view: &RunView,
    listing: &RunListing,
    request: &OverviewQuery,
    damaged: &[RunId],
) -> Markup {
    let (report, runs) = (&view.report, &listing.runs);
    let run = &report.run.id;
    let shows_judge = report.run.judge.is_some() && request.enable_llm_judge != Some(false);
    let semantic = topics::metrics::semantic(report).filter(|_| shows_judge);
    let issues = topics::issues::folded_topic(report, MAX_STATEMENTS).filter(|_| shows_judge);
    let gate = report.gate.as_ref().map(|gate| rules_shown(report, gate, shows_judge));
    html! {
        header.page {
            h1 {
                "Overview " (state_chip(view.state)) @if report.run.simulated { " " (simulated()) }
            }
            p { "Run " (links::run_link(run)) }
            (facts_line(report))
            (blocks(&topics::head::notes(report), &plain))
            (request.choice.form(runs, request.enable_llm_judge))
            (damaged_runs(damaged, &listing.damaged))
            (active_runs(view, runs))
        }
        // The gate's decision includes the judge's metrics.
        @if shows_judge || report.run.judge.is_none() {
            (blocks(&topics::head::decision(report), &plain))
        }
        div.actions {
            (switch(request, report.run.judge.is_some(), shows_judge))
            a.button.aside href=(links::run(run)) { "All " (grouped(view.len() as u64)) " results" }
        }
        div.cards {
            @if report.run.judge.is_none() { (judge_off()) }
            @if let Some(topic) = semantic { (card(&topic, &plain)) }
            @if let Some(topic) = topics::metrics::pipeline(report) { (card(&topic, &plain)) }
        }
        @if let Some(gate) = gate { (card(&topics::gate::topic(report, &gate), &plain)) }
        @if let Some(topic) = issues { (card(&topic, &result_links(run))) }
        (coverage_and_cost(report))
        (trend::section(view, runs, shows_judge))
    }
}

/// A gate with those of its rules whose metrics are shown.
fn rules_shown(report: &Report, gate: &GateReport, shows_judge: bool) -> GateReport {
    let is_semantic = |path: &str| {
        let mut metrics = report.metrics.iter().map(|metric| &metric.definition);
        metrics.any(|definition| definition.path == path && definition.is_semantic())
    };
    let rules = gate.rules.iter().filter(|rule| shows_judge || !is_semantic(&rule.metric));
    GateReport { rules: rules.cloned().collect(), ..gate.clone() }
}

/// Notices of active runs.
fn active_runs(shown: &RunView, runs: &[ListedRun]) -> Markup {
    let is_active = |run: &&ListedRun| run.state == RunState::Running;
    html! {
        @if shown.state == RunState::Running {
            p.notice data-running=(shown.report.run.id) { "This run is running: " (links::run_link(&shown.report.run.id)) " shows its progress." }
        }
        @for other in runs.iter().filter(is_active).filter(|run| run.record.run_id != shown.report.run.id).take(5) {
            p.notice data-running=(other.record.run_id) { "Run " (links::run_link(&other.record.run_id)) " is running." }
        }
    }
}

/// Switch of the judge's figures. The URL keeps the run and the choice, and its fragment the focus.
fn switch(request: &OverviewQuery, judged: bool, shown: bool) -> Markup {
    html! {
        form.switch method="get" action="/#judge-switch" {
            @if let Some(run) = &request.run { input type="hidden" name="run" value=(run); }
            @for (name, value) in request.choice.pairs() { input type="hidden" name=(name) value=(value); }
            button #judge-switch type="submit" role="switch" aria-checked=(if shown { "true" } else { "false" })
                name="enable_llm_judge" value=(if shown { "false" } else { "true" }) {
                span.knob aria-hidden="true" {}
                "Enable LLM judge"
            }
            span.faint {
                @if shown { "The judge's figures are shown. Hiding them changes no run." }
                @else if judged { "The judge's figures are hidden; Pipeline Success still includes its verdicts." }
                @else { "Shows the newest judged run; viewing costs nothing." }
            }
        }
    }
}

fn judge_off() -> Markup {
    html! {
        section.card aria-labelledby="semantic" {
            h2 #semantic { "Semantic Correctness" }
            p { "This run had the judge off, so it has no verdicts." }
            p { a href="/start" { "Start a run" } " with the judge on, or:" }
            pre tabindex="0" { code { "juror run DATASET --enable-llm-judge --budget-usd 1.00" } }
        }
    }
}

/// Notices of damaged runs.
fn damaged_runs(newer: &[RunId], unreadable: &[DamagedRun]) -> Markup {
    html! {
        @for run in newer.iter().take(5) {
            p.error { "Run " (links::run_link(run)) " is newer but damaged; see its page." }
        }
        @if !unreadable.is_empty() {
            p.error {
                (counted(unreadable.len() as u64, "run")) " cannot be read: " a href="/runs" { "see the list" } "."
            }
        }
    }
}

/// Page for a choice without a readable run, or without a judged one that was requested.
fn none_chosen(listing: &RunListing, request: &OverviewQuery, damaged: &[RunId]) -> Markup {
    let exists = listing.runs.iter().any(|run| request.choice.matches(run));
    let lacks_judged = exists && request.enable_llm_judge == Some(true);
    html! {
        header.page {
            h1 { "Overview" }
            (request.choice.form(&listing.runs, request.enable_llm_judge))
            (damaged_runs(damaged, &listing.damaged))
        }
        @if lacks_judged { (switch(request, false, true)) }
        section.card aria-labelledby="none" {
            @if lacks_judged {
                h2 #none { "No run has been judged yet" }
                p { a href="/start" { "Start a run" } " with the judge on, after an estimate of time and cost. Or:" }
                pre tabindex="0" { code { "juror run DATASET --enable-llm-judge --budget-usd 1.00" } }
            } @else {
                h2 #none {
                    @if exists { "Every run of this dataset and rubric is damaged" }
                    @else { "There is no run of this dataset and rubric" }
                }
                p { "Choose others above, or " a href="/runs" { "see all runs" } "." }
            }
        }
    }
}

fn no_runs(runs_dir: &Path, damaged: &[DamagedRun]) -> Markup {
    html! {
        h1 { "Overview" }
        (damaged_runs(&[], damaged))
        p.faint { "This server shows the runs in " code { (sanitize(&runs_dir.display().to_string())) } "." }
        (first_steps("There are no runs yet"))
    }
}
