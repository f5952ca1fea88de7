//! All runs, newest first, two of which can be compared.

use super::{
    frame::{Place, page},
    links,
    overview::empty,
    trouble::{Trouble, state_chip},
    wishes::Wishes,
};
use crate::{access::Visitor, catalog::ListedRun, site::Site};
use axum::extract::{Extension, State};
use juror_aggregator::{
    history::PastMetric,
    metrics::{Interval, Unit},
    report::{
        figures::{counted, dollars, figure, grouped, interval},
        harmless::harmless,
        html::{minutes, simulated},
    },
};
use maud::{Markup, html};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// So many runs are on one page.
const A_PAGE: usize = 50;

/// The page.
pub async fn show(
    State(site): State<Site>,
    Extension(visitor): Extension<Visitor>,
    wishes: Wishes,
) -> Result<Markup, Trouble> {
    let catalog = Arc::clone(&site.catalog);
    let runs = spawn_blocking(move || catalog.list()).await??;
    let pages = runs.len().div_ceil(A_PAGE).max(1);
    let wanted = wishes.value("page").unwrap_or(1);
    let number = usize::clamp(wanted, 1, pages);
    let content = html! {
        h1 { "Runs" }
        @if runs.is_empty() { (empty("There are no runs yet")) }
        @else {
            section.card aria-label="All runs" {
                (table(runs.iter().skip((number - 1) * A_PAGE).take(A_PAGE), runs.len()))
                (pager(number, pages, &|page| links::query([("page", page.to_string())])))
            }
        }
    };
    Ok(page(Some(visitor), "Runs", Place::Runs, &content))
}

fn table<'a>(runs: impl Iterator<Item = &'a ListedRun>, all: usize) -> Markup {
    html! {
        form method="get" action="/compare" {
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table.results.runs {
                    caption { span { (counted(all as u64, "run")) ", newest first. Mark a base and a head to compare them." } }
                    thead { tr {
                        th scope="col" { "Run" } th scope="col" { "State" } th scope="col" { "Created" }
                        th scope="col" { "Dataset" } th scope="col" { "Rubric" } th scope="col" { "Judge" }
                        th.n scope="col" { "Score" } th.n scope="col" { "Scored" } th.n scope="col" { "Cost" }
                        th scope="col" { "Base" } th scope="col" { "Head" }
                    } }
                    tbody { @for run in runs { (row(run)) } }
                }
            }
            @if all > 1 { p { button type="submit" { "Compare" } } }
        }
    }
}

fn row(run: &ListedRun) -> Markup {
    let record = &run.record;
    let name = record.run_id.as_str();
    let figures = run.figures.as_ref();
    let simulates = figures.is_some_and(|figures| figures.simulated);
    html! {
        tr {
            th scope="row" { (links::run_link(&record.run_id)) @if simulates { " " (simulated()) } }
            td { (state_chip(run.state)) }
            td.when { time datetime=(record.created_at) { (minutes(&record.created_at)) } }
            td.path { bdi { (harmless(&record.dataset.path)) } }
            td.when { (harmless(&record.rubric.id)) "@" (record.rubric.version) }
            td.when { @match &record.judge { Some(judge) => { bdi { (harmless(&judge.model)) } } None => { "off" } } }
            td.n { (score(run)) }
            td.n {
                (figures.map_or_else(|| "–".to_owned(), |figures| grouped(figures.scored))) "/" (grouped(record.jobs()))
            }
            td.n { (figures.map_or_else(|| "–".to_owned(), |figures| dollars(figures.cost_usd))) }
            td { input type="radio" name="base" value=(name) required aria-label=(format!("{name} is the base")); }
            td { input type="radio" name="head" value=(name) required aria-label=(format!("{name} is the head")); }
        }
    }
}

/// The run's one number: the judge's, or without one the share of items that passed.
fn score(run: &ListedRun) -> Markup {
    let metric = |path: &str| run.figures.as_ref()?.metrics.get(path).copied();
    let found = [
        ("semantic.avg_semantic_correctness", Unit::Share, ""),
        ("semantic.avg_percentage", Unit::Percent, ""),
        ("pipeline_success_rate", Unit::Share, " passed"),
    ];
    let found = found.into_iter().find_map(|(path, unit, word)| Some((metric(path)?, unit, word)));
    html! {
        @match found {
            Some((PastMetric { value, n, low, high }, unit, word)) => {
                strong { (figure(value, unit)) } (word)
                br;
                small { (interval(&Interval { n, low, high }, unit)) }
            }
            None => { "–" }
        }
    }
}

/// Links to the pages before and behind this one.
pub fn pager(number: usize, pages: usize, address: &dyn Fn(usize) -> String) -> Markup {
    html! {
        @if pages > 1 {
            nav.pager aria-label="Pages of this table" {
                @if number > 1 {
                    a href=(address(1)) { "First" }
                    a href=(address(number - 1)) rel="prev" { "Previous" }
                }
                span { "Page " (grouped(number as u64)) " of " (grouped(pages as u64)) }
                @if number < pages {
                    a href=(address(number + 1)) rel="next" { "Next" }
                    a href=(address(pages)) { "Last" }
                }
            }
        }
    }
}
