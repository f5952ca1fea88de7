//! One run: how it goes or went, and all its results.

mod actions;
pub mod asked;
mod awaited;
mod live;
mod spread;
pub mod statements;
mod table;

use super::{
    frame::{Place, page},
    links,
    trouble::{Trouble, run_named, state_chip},
    wishes::Wishes,
};
use crate::{
    access::Visitor,
    catalog::{ListedRun, RunState},
    site::Site,
    view::RunView,
};
use asked::Asked;
use axum::{
    Form,
    extract::{Extension, Path, State},
    response::{IntoResponse as _, Redirect, Response},
};
use juror_aggregator::report::{
    harmless::harmless,
    html::{decision, facts, run_facts, semantic, simulated, stages, targets},
    words::has_stages,
};
use juror_common::usage::Money;
use maud::{Markup, html};
use serde::Deserialize;
use std::sync::Arc;
use table::Shown;
use tokio::task::spawn_blocking;

/// So many common issues, and strengths, are listed.
const MOST_STATEMENTS: usize = 30;

/// The page.
pub async fn show(
    State(site): State<Site>,
    Extension(visitor): Extension<Visitor>,
    Path(name): Path<String>,
    wishes: Wishes,
) -> Result<Response, Trouble> {
    let run = run_named(&name)?;
    let view = match site.views.of(&run).await {
        Err(error) if error.is_missing() => match site.starter.awaited(&run).await {
            Some(awaited) => return Ok(awaited::show(visitor, &awaited)),
            None => return Err(error.into()),
        },
        found => found?,
    };
    let asked = Asked::of(&wishes);
    let catalog = Arc::clone(&site.catalog);
    let making = spawn_blocking(move || {
        let runs = catalog.list()?;
        let shown = Shown::read(&view, &asked)?;
        Ok::<_, Trouble>(content(&view, &asked, &shown, &runs, visitor.may_write))
    });
    let content = making.await??;
    Ok(page(Some(visitor), &harmless(&name), Place::Runs, &content).into_response())
}

fn content(
    view: &RunView,
    asked: &Asked,
    shown: &Shown,
    runs: &[ListedRun],
    may_write: bool,
) -> Markup {
    let report = &view.report;
    html! {
        header.page {
            h1 {
                "Run " bdi { (harmless(report.run.id.as_str())) } " " (state_chip(view.state))
                @if report.run.simulated { " " (simulated()) }
            }
            p.facts { @for fact in run_facts(report) { span { bdi { (fact) } } " " } }
            @if report.run.simulated {
                p.notice { "Every score on this page was made up by the simulator. None is a judgement." }
            }
            (actions::bar(view, runs, may_write))
        }
        @match view.state {
            RunState::Running => {
                (live::section(view))
                @if !view.is_empty() {
                    p.faint { "What follows is of the results so far. Load the page again to see newer ones." }
                    (figures(view))
                }
            }
            _ => { (decision(report)) (figures(view)) (facts(report)) }
        }
        (spread::distributions(view))
        (statements::common(view, &links::run(&report.run.id), MOST_STATEMENTS))
        (table::section(view, asked, shown))
        @if let Some(gate) = report.targets.as_ref().filter(|_| view.state != RunState::Running) { (targets(report, gate)) }
    }
}

fn figures(view: &RunView) -> Markup {
    let report = &view.report;
    html! {
        div.cards {
            @if report.run.judge.is_some() { (semantic(report)) }
            @if has_stages(report) || report.run.judge.is_none() { (stages(report)) }
        }
    }
}

/// Stops a run.
pub async fn cancel(
    State(site): State<Site>,
    Path(name): Path<String>,
) -> Result<Redirect, Trouble> {
    let run = run_named(&name)?;
    site.starter.cancel(&run).await?;
    Ok(Redirect::to(&links::run(&run)))
}

/// What the form to resume says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Resume {
    budget_usd: String,
}

/// Goes on with a run.
pub async fn resume(
    State(site): State<Site>,
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
