//! Page of a run: figures and results.

mod actions;
pub mod filters;
mod live;
mod table;

use super::{
    NavigationPage, PageError, PageQuery,
    links::{self, plain},
    page, run_named,
    run_summary::{baseline_chips, cards, coverage_and_cost, facts_line, result_links, state_chip},
};
use crate::{access::Visitor, app_state::AppState, view::RunView};
use axum::{
    Form,
    extract::{Extension, Path, State},
    http::{HeaderName, StatusCode},
    response::{IntoResponse as _, Redirect, Response},
};
use filters::ItemFilters;
use juror_analysis::format::{counted, grouped};
use juror_app::{
    run_catalog::{ListedRun, RunState},
    run_request::QueuedRun,
};
use juror_report::{
    document::NameKind,
    html::{blocks, card, distribution, simulated},
    sanitize::sanitize,
    topics::{self, distribution::ScoreDistribution},
};
use juror_types::usage::Money;
use maud::{Markup, html};
use serde::Deserialize;
use table::TablePage;
use tokio::task::spawn_blocking;

/// Maximum number of common issues, and of strengths.
const MAX_STATEMENTS: usize = 30;

/// Header that reloads the page of a queued run after three seconds.
const REFRESH: (HeaderName, &str) = (HeaderName::from_static("refresh"), "3");

/// Fields of the form to resume.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resume {
    budget_usd: String,
}

/// Renders the page.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
    query: PageQuery,
) -> Result<Response, PageError> {
    let run = run_named(&name)?;
    let view = match site.views.get(&run).await {
        Err(error) if error.is_missing() => match site.launcher.queued_run(&run).await {
            Some(queued) => return Ok(queued_page(visitor, &queued)),
            None => return Err(error.into()),
        },
        found => found?,
    };
    let filters = ItemFilters::from_query(&query);
    let runs = site.runs().await?;
    let is_cancelling = site.is_cancelling(view.state, &run);
    let making = spawn_blocking(move || {
        let shown = TablePage::read(&view, &filters)?;
        let can = Actions { may_write: visitor.may_write, is_cancelling };
        Ok::<_, PageError>(content(&view, &filters, &shown, &runs, can))
    });
    let content = making.await??;
    Ok(page(Some(visitor), &sanitize(&name), NavigationPage::Runs, &content).into_response())
}

pub async fn cancel(
    State(site): State<AppState>,
    Path(name): Path<String>,
) -> Result<Redirect, PageError> {
    let run = run_named(&name)?;
    site.launcher.cancel(&run).await?;
    Ok(Redirect::to(&links::run(&run)))
}

pub async fn resume(
    State(site): State<AppState>,
    Path(name): Path<String>,
    Form(form): Form<Resume>,
) -> Result<Redirect, PageError> {
    let run = run_named(&name)?;
    let budget =
        match form.budget_usd.trim() {
            "" => None,
            text => Some(text.parse::<Money>().map_err(|error| {
                PageError::unusable(format!("invalid budget {text:?}: {error}"))
            })?),
        };
    site.launcher.resume(&run, budget).await?;
    Ok(Redirect::to(&links::run(&run)))
}

/// Permitted actions.
#[derive(Clone, Copy)]
struct Actions {
    may_write: bool,
    is_cancelling: bool,
}

/// Content of the page: figures, collapsed details, results.
fn content(
    view: &RunView,
    filters: &ItemFilters,
    shown: &TablePage,
    runs: &[ListedRun],
    can: Actions,
) -> Markup {
    let report = &view.report;
    let is_running = view.state == RunState::Running;
    html! {
        header.page {
            h1 {
                "Run " bdi { (sanitize(report.run.id.as_str())) } " "
                span data-refresh="state" {
                    @if can.is_cancelling { span.chip.undecided { "cancelling" } }
                    @else { (state_chip(view.state)) }
                }
                @if report.run.simulated { " " (simulated()) }
                @if let Some(run) = runs.iter().find(|run| run.record.run_id == report.run.id) {
                    (baseline_chips(&run.baselines))
                }
            }
            (facts_line(report))
            @if !is_running { (blocks(&topics::head::notes(report), &plain)) }
            (actions::bar(view, runs, can.may_write, can.is_cancelling))
        }
        @if is_running { (live::section(view, can.is_cancelling)) } @else {
            (blocks(&topics::head::decision(report), &plain))
            (changes_since_baseline(view))
        }
        div data-refresh="figures" { @if !view.is_empty() || !is_running { (figures(view)) } }
        div.folds data-refresh="folds" { (folds(view)) }
        (table::section(view, filters, shown))
    }
}

/// Decision of the comparison with the baseline, and the changes since; empty without one.
fn changes_since_baseline(view: &RunView) -> Markup {
    let run = &view.report.run;
    let link = |kind: NameKind, name: &str| match kind {
        NameKind::Item if view.place_of(name, 0).is_some() => {
            html! { a href=(links::item(&run.id, name, "")) { bdi { (sanitize(name)) } } }
        }
        _ => plain(kind, name),
    };
    html! {
        @if let Some(found) = view.saved.comparison() {
            (blocks(&[topics::comparison::conclusion(
                found.decision, &found.headline, &found.reason, run.simulated,
            )], &plain))
            (card(&topics::changes::topic_since(&found.base.run, &found.changes, run.simulated), &link))
        }
    }
}

/// Collapsed details: issues, distributions, cost, gate.
fn folds(view: &RunView) -> Markup {
    let report = &view.report;
    let is_running = view.state == RunState::Running;
    let groups = (report.common_issues.len() as u64, report.common_strengths.len() as u64);
    html! {
        @if let Some(topic) = topics::issues::folded_topic(report, MAX_STATEMENTS) {
            details.card #issues-fold {
                summary { (counted(groups.0, "common issue")) ", " (counted(groups.1, "strength")) }
                (card(&topic, &result_links(&report.run.id)))
            }
        }
        (distributions(view))
        @if !is_running {
            details.card #cost-fold { summary { "Coverage, cost and time" } (coverage_and_cost(report)) }
            @if let Some(gate) = &report.gate {
                details.card #gate-fold {
                    summary { "Gate: " (counted(gate.rules.len() as u64, "rule")) }
                    (card(&topics::gate::topic(report, gate), &plain))
                }
            }
        }
    }
}

fn figures(view: &RunView) -> Markup {
    let report = &view.report;
    let topics = [
        topics::metrics::semantic(report),
        topics::metrics::pipeline(report),
        topics::measured::folded_topic(report),
    ];
    cards(topics, &result_links(&report.run.id))
}

/// Histograms of the total score and of each criterion or group; empty without a verdict.
fn distributions(view: &RunView) -> Markup {
    let columns = || view.columns.iter().enumerate().filter(|(_, column)| column.is_part());
    let titles = columns().map(|(_, column)| column.title.clone().unwrap_or_default());
    let mut scores = ScoreDistribution::new(view.report.rubric.scale, titles);
    for row in (0..).map_while(|place| view.row(place)) {
        let values = columns().map(|(place, _)| row.values.get(place).copied().map(f64::from));
        if let Some(score) = row.score {
            scores.add(score.into(), values.map(|value| value.filter(|value| !value.is_nan())));
        }
    }
    html! {
        @if scores.verdicts > 0 {
            details.card #spread-fold {
                summary { "Distribution of scores" @if view.report.run.simulated { " " (simulated()) } }
                (distribution(&scores))
            }
        }
    }
}

/// Page of a fleet's run without a run directory yet, until the aggregator has written the first
/// result.
fn queued_page(visitor: Visitor, run: &QueuedRun) -> Response {
    let name = sanitize(run.record.run_id.as_str());
    let (published, planned) = (grouped(run.published), counted(run.record.jobs(), "job"));
    let content = html! {
        h1 { "Run " bdi { (name) } " " span.chip.undecided { "queued" } }
        div.card {
            p { "The fleet has this run: " (published) " of " (planned) " published so far. It is shown here after its first result; this page reloads automatically." }
            p {
                "If it does not appear, check that "
                code { "juror aggregate" } " writes into this server's runs directory, and that a "
                code { "juror worker" } " runs."
            }
        }
    };
    let page = page(Some(visitor), &name, NavigationPage::Runs, &content);
    (StatusCode::ACCEPTED, [REFRESH], page).into_response()
}
