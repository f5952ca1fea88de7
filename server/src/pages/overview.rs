//! How the newest run turned out: the page that a team opens in the morning.

use super::{
    frame::{Place, page},
    links,
    run::statements,
    trend,
    trouble::{Trouble, run_named, state_chip},
    wishes::Wishes,
};
use crate::{
    access::Visitor,
    catalog::{ListedRun, RunState},
    site::Site,
    view::RunView,
};
use axum::extract::{Extension, State};
use juror_aggregator::gate::GateReport;
use juror_aggregator::report::{
    Report,
    figures::grouped,
    harmless::harmless,
    html::{decision, facts, run_facts, semantic, simulated, stages, targets},
    words::has_stages,
};
use maud::{Markup, html};
use std::{path::Path, sync::Arc};
use tokio::task::spawn_blocking;

/// So many common issues, and strengths, are shown here; the run's page has them all.
const MOST_STATEMENTS: usize = 8;

/// The page. `enable_llm_judge` shows or hides the judge's figures, which are shown by default if
/// there are any; `run` names another run than the newest.
pub async fn show(
    State(site): State<Site>,
    Extension(visitor): Extension<Visitor>,
    wishes: Wishes,
) -> Result<Markup, Trouble> {
    let catalog = Arc::clone(&site.catalog);
    let runs = spawn_blocking(move || catalog.list()).await??;
    let wish = wishes.value("enable_llm_judge");
    let content = match chosen(&runs, wishes.text("run"), wish)? {
        Some(run) => {
            let view = site.views.of(&run.record.run_id).await?;
            overview(&view, &runs, wish)
        }
        None if runs.is_empty() => no_runs(site.catalog.runs_dir()),
        None => no_judged_run(),
    };
    Ok(page(Some(visitor), "Overview", Place::Overview, &content))
}

/// The newest run that has a report, else the newest; with the judge wished for, of those that were
/// judged.
fn chosen<'a>(
    runs: &'a [ListedRun],
    named: Option<&str>,
    wish: Option<bool>,
) -> Result<Option<&'a ListedRun>, Trouble> {
    if let Some(name) = named {
        let run = run_named(name)?;
        let known = runs.iter().find(|listed| listed.record.run_id == run);
        return known
            .map(Some)
            .ok_or_else(|| Trouble::missing(format!("There is no run {name:?}.")));
    }
    let fits = |run: &&ListedRun| wish != Some(true) || run.record.judge.is_some();
    let reported = runs.iter().filter(fits).find(|run| run.figures.is_some());
    Ok(reported.or_else(|| runs.iter().find(fits)))
}

fn overview(view: &RunView, runs: &[ListedRun], wish: Option<bool>) -> Markup {
    let report = &view.report;
    let run = &report.run.id;
    let shows_judge = report.run.judge.is_some() && wish != Some(false);
    html! {
        header.page {
            h1 {
                "Overview " (state_chip(view.state)) @if report.run.simulated { " " (simulated()) }
            }
            p.facts { @for fact in run_facts(report) { span { bdi { (fact) } } " " } }
            (going_on(view, runs))
        }
        // A gate is decided by what the judge said too.
        @if shows_judge || report.run.judge.is_none() { (decision(report)) }
        div.actions {
            (switch(report.run.judge.is_some(), shows_judge))
            a.button.aside href=(links::run(run)) { "All " (grouped(view.len() as u64)) " results" }
        }
        div.cards {
            @if shows_judge { (semantic(report)) }
            @else if report.run.judge.is_none() { (judge_off()) }
            @if has_stages(report) || report.run.judge.is_none() { (stages(report)) }
        }
        (facts(report))
        (trend::section(view, runs, shows_judge))
        @if shows_judge { (statements::common(view, &links::run(run), MOST_STATEMENTS)) }
        @if let Some(gate) = &report.targets { (targets(report, &rules_shown(report, gate, shows_judge))) }
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

/// Runs that go on and are not the one that is shown.
fn going_on(shown: &RunView, runs: &[ListedRun]) -> Markup {
    let goes_on = |run: &&ListedRun| run.state == RunState::Running;
    html! {
        @if shown.state == RunState::Running {
            p.notice { "This run goes on: " (links::run_link(&shown.report.run.id)) " shows how it gets along." }
        }
        @for other in runs.iter().filter(goes_on).filter(|run| run.record.run_id != shown.report.run.id).take(5) {
            p.notice { "Run " (links::run_link(&other.record.run_id)) " goes on." }
        }
    }
}

/// Shows or hides what the judge said. It changes what is seen and costs nothing.
fn switch(judged: bool, shown: bool) -> Markup {
    html! {
        form.switch method="get" action="/" {
            button type="submit" role="switch" aria-checked=(if shown { "true" } else { "false" })
                name="enable_llm_judge" value=(if shown { "false" } else { "true" }) {
                span.knob aria-hidden="true" {}
                "Enable LLM judge"
            }
            span.faint {
                @if shown { "The judge's figures are shown. Hiding them changes no run." }
                @else if judged { "The judge's figures are hidden; Pipeline Success still counts what it said." }
                @else { "Shows the newest run that was judged; looking costs nothing." }
            }
        }
    }
}

fn judge_off() -> Markup {
    html! {
        section.card aria-labelledby="semantic" {
            h2 #semantic { "Semantic Correctness" }
            p { "This run was made with the judge off, so there is no verdict to show." }
            p { a href="/start" { "Start a run" } " with the judge on, or:" }
            pre tabindex="0" { code { "juror run DATASET --enable-llm-judge --budget-usd 1.00" } }
        }
    }
}

fn no_judged_run() -> Markup {
    html! {
        h1 { "Overview" }
        (switch(false, true))
        section.card aria-labelledby="none" {
            h2 #none { "No run has been judged yet" }
            p { a href="/start" { "Start a run" } " with the judge on: an estimate of time and money comes first. Or:" }
            pre tabindex="0" { code { "juror run DATASET --enable-llm-judge --budget-usd 1.00" } }
        }
    }
}

fn no_runs(runs_dir: &Path) -> Markup {
    html! {
        h1 { "Overview" }
        p.faint { "This server shows the runs in " code { (harmless(&runs_dir.display().to_string())) } "." }
        (empty("There are no runs yet"))
    }
}

/// What to do where there is no run.
pub fn empty(title: &str) -> Markup {
    html! {
        section.card aria-labelledby="none" {
            h2 #none { (harmless(title)) }
            p { "See how it looks, at no cost, against a simulated judge:" }
            pre tabindex="0" { code { "juror demo" } }
            p { "Check your own dataset without a judge, which costs nothing either:" }
            pre tabindex="0" { code { "juror run DATASET" } }
            p { "Or " a href="/start" { "start a run from here" } "." }
        }
    }
}
