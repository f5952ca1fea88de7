//! One run: how it goes or went, and all its results.

mod actions;
pub mod filters;
mod histogram;
mod live;
mod queued;
pub mod statements;
mod table;

use super::{dataset, links};
use crate::{
    access::Visitor,
    pages::{
        error_page::{Trouble, run_named, state_chip},
        layout::{NavigationPage, page},
        query::PageQuery,
        runs::baseline_chips,
    },
    state::AppState,
    view::RunView,
};
use axum::{
    Form,
    extract::{Extension, Path, State},
    response::{IntoResponse as _, Redirect, Response},
};
use filters::ItemFilters;
use juror_analysis::{
    format::{counted, grouped},
    run_report::Report,
};
use juror_app::catalog::{ListedRun, RunState};
use juror_report::{
    html::{changes, decision, facts, measured, run_facts, semantic, simulated, stages, targets},
    phrasing::has_stages,
    sanitize::harmless,
};
use juror_types::usage::Money;
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;
use table::TablePage;
use tokio::task::spawn_blocking;

/// So many common issues, and strengths, are listed.
const MAX_STATEMENTS: usize = 30;

/// The page.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
    query: PageQuery,
) -> Result<Response, Trouble> {
    let run = run_named(&name)?;
    let view = match site.views.of(&run).await {
        Err(error) if error.is_missing() => match site.starter.awaited(&run).await {
            Some(awaited) => return Ok(queued::show(visitor, &awaited)),
            None => return Err(error.into()),
        },
        found => found?,
    };
    let asked = ItemFilters::of(&query);
    let catalog = Arc::clone(&site.catalog);
    let is_cancelling = view.state == RunState::Running && site.starter.is_cancelling(&run);
    let making = spawn_blocking(move || {
        let runs = catalog.list()?;
        let shown = TablePage::read(&view, &asked)?;
        let can = Actions { may_write: visitor.may_write, is_cancelling };
        Ok::<_, Trouble>(content(&view, &asked, &shown, &runs, can))
    });
    let content = making.await??;
    Ok(page(Some(visitor), &harmless(&name), NavigationPage::Runs, &content).into_response())
}

/// Actions of the page.
#[derive(Clone, Copy)]
struct Actions {
    may_write: bool,
    is_cancelling: bool,
}

/// Figures first, then the results; what explains them is folded between both.
fn content(
    view: &RunView,
    asked: &ItemFilters,
    shown: &TablePage,
    runs: &[ListedRun],
    can: Actions,
) -> Markup {
    let report = &view.report;
    let is_running = view.state == RunState::Running;
    html! {
        header.page {
            h1 {
                "Run " bdi { (harmless(report.run.id.as_str())) } " "
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
            @if report.run.simulated {
                p.notice { "Every score on this page was made up by the simulator. None is a judgement." }
            }
            (actions::bar(view, runs, can.may_write, can.is_cancelling))
        }
        @if is_running { (live::section(view, can.is_cancelling)) } @else {
            (decision(report))
            (changes_since_baseline(view))
        }
        div data-refresh="figures" { @if !view.is_empty() || !is_running { (figures(view)) } }
        div.folds data-refresh="folds" { (folds(view)) }
        (table::section(view, asked, shown))
    }
}

/// Changes since the run that its report was compared with; nothing without a comparison.
fn changes_since_baseline(view: &RunView) -> Markup {
    let run = &view.report.run;
    let link = |id: &str| match view.place_of(id, 0) {
        Some(_) => html! { a href=(links::item(&run.id, id, "")) { bdi { (harmless(id)) } } },
        None => html! { bdi { (harmless(id)) } },
    };
    html! {
        @if let Some((base, found)) = view.saved.changes() {
            (changes(&base, &found, run.simulated, &link))
        }
    }
}

/// Dataset, rubric, judge and time of a run; the dataset by the end of its path.
pub fn facts_line(report: &Report) -> Markup {
    let path = &report.run.dataset.path;
    // The first fact is the run's name, which the page's title has.
    let facts = run_facts(report);
    html! {
        p.facts {
            @for fact in facts.iter().skip(1) {
                span { @if *fact == harmless(path) { (dataset::name(path)) } @else { bdi { (fact) } } } " "
            }
        }
    }
}

/// Notes on the figures.
fn folds(view: &RunView) -> Markup {
    let report = &view.report;
    let is_running = view.state == RunState::Running;
    let groups = (report.common_issues.len() as u64, report.common_strengths.len() as u64);
    html! {
        @if !report.warnings.is_empty() && !is_running { p.notice { (harmless(&report.warnings.join(" "))) } }
        @if groups != (0, 0) {
            details.card #issues-fold {
                summary {
                    (grouped(groups.0)) (if groups.0 == 1 { " common issue, " } else { " common issues, " })
                    (grouped(groups.1)) (if groups.1 == 1 { " strength" } else { " strengths" })
                }
                div.cards { (statements::common(view, &links::run(&report.run.id), MAX_STATEMENTS)) }
            }
        }
        (histogram::distributions(view))
        @if !is_running {
            details.card #cost-fold { summary { "Coverage, cost and time" } (facts(report)) }
            @if let Some(gate) = &report.targets {
                details.card #gate-fold { summary { "Gate: " (counted(gate.rules.len() as u64, "rule")) } (targets(report, gate)) }
            }
        }
    }
}

fn figures(view: &RunView) -> Markup {
    let report = &view.report;
    html! {
        div.cards {
            @if report.run.judge.is_some() { (semantic(report)) }
            @if has_stages(report) || report.run.judge.is_none() { (stages(report)) }
            @if let Some(measured) = measured(report, &|id| html! { (id) }) { (measured) }
        }
    }
}

/// Stops a run.
pub async fn cancel(
    State(site): State<AppState>,
    Path(name): Path<String>,
) -> Result<Redirect, Trouble> {
    let run = run_named(&name)?;
    site.starter.cancel(&run).await?;
    Ok(Redirect::to(&links::run(&run)))
}

/// Fields of the form to resume.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resume {
    budget_usd: String,
}

/// Goes on with a run.
pub async fn resume(
    State(site): State<AppState>,
    Path(name): Path<String>,
    Form(form): Form<Resume>,
) -> Result<Redirect, Trouble> {
    let run = run_named(&name)?;
    let budget = match form.budget_usd.trim() {
        "" => None,
        text => Some(text.parse::<Money>().map_err(|error| {
            Trouble::unusable(format!("the budget {text:?} cannot be read: {error}"))
        })?),
    };
    site.starter.resume(&run, budget).await?;
    Ok(Redirect::to(&links::run(&run)))
}
