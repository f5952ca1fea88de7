//! The item in earlier comparable runs.

use crate::{
    app_state::AppState,
    pages::{PageError, PageQuery, links},
    view::RunView,
};
use juror_analysis::{format::figure, history::are_comparable, metrics::Unit};
use juror_app::run_catalog::runs_before;
use juror_report::{
    html::{minutes, outcome_chip, simulated},
    sanitize::sanitize,
    topics::results::{MAX_ISSUE, first_issue},
};
use juror_types::{outcome::JobResult, run::RunRecord};
use maud::{Markup, html};
use tokio::task::spawn_blocking;

/// Maximum number of runs that are searched.
const MAX_RUNS: usize = 5;

/// Maximum number of jobs of runs that are read without an explicit request, since larger ones take
/// long.
const MAX_JOBS: u64 = 5_000;

/// The section; nothing where there is no such run.
pub async fn load(
    site: &AppState,
    view: &RunView,
    result: &JobResult,
    query: &PageQuery,
) -> Result<Markup, PageError> {
    let all = site.runs().await?;
    let earlier = runs_before(&all, view.files.record(), are_comparable).take(MAX_RUNS);
    let runs: Vec<_> = earlier.map(|run| &run.record).collect();
    if runs.is_empty() {
        return Ok(html! {});
    }
    let jobs: u64 = runs.iter().map(|run| run.jobs()).sum();
    if jobs > MAX_JOBS && query.text("earlier").is_none() {
        let repeat = (result.repeat > 0).then(|| ("repeat", result.repeat.to_string()));
        let requested = links::query([("earlier", "true".to_owned())].into_iter().chain(repeat));
        let address = links::item(&view.report.run.id, &result.screenshot_id, &requested);
        return Ok(section(&html! {
            p { a href=(format!("{address}#earlier")) { "Show this item in earlier runs" } }
        }));
    }
    let mut found = Vec::new();
    for record in runs {
        if let Some(result) = result_in(site, record, result).await {
            found.push((record, result));
        }
    }
    Ok(section(&table(&found)))
}

/// The item's result in another run; none, with a warning in the log, if it cannot be read.
async fn result_in(site: &AppState, record: &RunRecord, own: &JobResult) -> Option<JobResult> {
    let view = site.views.get(&record.run_id).await;
    let view =
        view.inspect_err(|error| tracing::warn!("an earlier run is left out: {error}")).ok()?;
    let place = view.place_of(&own.screenshot_id, own.repeat)?;
    let reading = spawn_blocking(move || view.result(place).ok()?);
    reading.await.ok().flatten()
}

fn section(content: &Markup) -> Markup {
    html! {
        section.card #earlier aria-labelledby="earlier-title" {
            h2 #earlier-title { "This item in earlier runs" }
            (content)
        }
    }
}

fn table(found: &[(&RunRecord, JobResult)]) -> Markup {
    html! {
        @if found.is_empty() { p.faint { "No earlier run has a result of it." } }
        @else {
            div.scroll tabindex="0" role="region" aria-label="Earlier results" {
                table.plain {
                    thead { tr {
                        th scope="col" { "Run" } th scope="col" { "When" } th scope="col" { "Outcome" }
                        th.n scope="col" { "Score" } th scope="col" { "First issue" }
                    } }
                    tbody { @for (record, result) in found { (row(record, result)) } }
                }
            }
        }
    }
}

fn row(record: &RunRecord, result: &JobResult) -> Markup {
    let verdict = result.verdict();
    let repeat = (result.repeat > 0).then(|| ("repeat", result.repeat.to_string()));
    html! {
        tr {
            th scope="row" {
                a href=(links::item(&record.run_id, &result.screenshot_id, &links::query(repeat))) {
                    bdi { (sanitize(record.run_id.as_str())) }
                }
                @if result.is_simulated() && verdict.is_some() { " " (simulated()) }
            }
            td { time datetime=(record.created_at) { (minutes(&record.created_at)) } }
            td { (outcome_chip(result.outcome)) }
            td.n { (verdict.map_or_else(|| "–".to_owned(), |verdict| figure(verdict.correctness(), Unit::Share))) }
            td.issue { (sanitize(&first_issue(result, MAX_ISSUE))) }
        }
    }
}
