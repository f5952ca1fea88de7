//! Sortable table of runs, of which two can be compared.

mod order;

use super::{
    NavigationPage, PageError, PageQuery, dataset_name,
    first_steps::first_steps,
    links, page,
    pager::pager,
    run_summary::{baseline_chips, state_chip},
    sorting::TableOrder,
};
use crate::{access::Visitor, app_state::AppState};
use axum::extract::{Extension, State};
use juror_analysis::{
    format::{counted, dollars, figure, grouped, interval},
    history::PastMetric,
    metrics::Interval,
};
use juror_app::run_catalog::{DamagedRun, ListedRun, RunListing};
use juror_report::{
    html::{minutes, simulated},
    sanitize::sanitize,
};
use maud::{Markup, html};
use order::{COLUMNS, RunOrder, judge_of, score_of};

/// Number of runs on a page.
const RUNS_PER_PAGE: usize = 50;

/// Renders the page.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    query: PageQuery,
) -> Result<Markup, PageError> {
    let RunListing { mut runs, damaged } = site.listing().await?;
    let order = RunOrder::from_query(&query);
    order.sort(&mut runs);
    let pages = runs.len().div_ceil(RUNS_PER_PAGE).max(1);
    let number = usize::clamp(query.value("page").unwrap_or(1), 1, pages);
    let shown = runs.iter().skip((number - 1) * RUNS_PER_PAGE).take(RUNS_PER_PAGE);
    let shown = shown.map(|run| (run, site.is_cancelling(run.state, &run.record.run_id)));
    let content = html! {
        h1 { "Runs" }
        (damaged_runs(&damaged))
        @if runs.is_empty() { (first_steps("There are no runs yet")) }
        @else {
            section.card aria-label="All runs" {
                (table(shown, runs.len(), order))
                (pager(number, pages, &|page| links::query(order.pairs().into_iter().chain([("page", page.to_string())]))))
            }
        }
    };
    Ok(page(Some(visitor), "Runs", NavigationPage::Runs, &content))
}

fn damaged_runs(damaged: &[DamagedRun]) -> Markup {
    html! {
        @if !damaged.is_empty() {
            section.card aria-labelledby="damaged" {
                h2 #damaged { (counted(damaged.len() as u64, "damaged run")) }
                p.faint { "Their run.json cannot be read. Repair or remove their folders." }
                dl.pairs {
                    @for run in damaged {
                        dt { bdi { (sanitize(&run.name)) } " " span.chip.missed { "damaged" } }
                        dd { bdi { (sanitize(&run.reason)) } }
                    }
                }
            }
        }
    }
}

fn table<'a>(
    runs: impl Iterator<Item = (&'a ListedRun, bool)>,
    all: usize,
    order: RunOrder,
) -> Markup {
    html! {
        form method="get" action="/compare" {
            div.scroll tabindex="0" role="region" aria-label="Runs" {
                table.results.runs {
                    caption { span { (counted(all as u64, "run")) ". Select a base and a head to compare them." } }
                    thead { tr {
                        th.thumb scope="col" { "Image" }
                        @for (name, head, is_number, _) in COLUMNS { (sorting(order, name, head, is_number)) }
                        th scope="col" { "Base" } th scope="col" { "Head" }
                    } }
                    tbody { @for (run, is_cancelling) in runs { (row(run, is_cancelling)) } }
                }
            }
            @if all > 1 { p.next { button type="submit" { "Compare" } } }
        }
    }
}

/// Column head that sorts by its column, or reverses the order.
fn sorting(order: RunOrder, name: &str, head: &str, is_number: bool) -> Markup {
    let order = TableOrder { key: Some(order.name()), descends: order.descends };
    let link = order.link(name, head, |query| format!("/runs{}", links::query(query)));
    html! { th.n[is_number] scope="col" aria-sort=[order.direction(name)] { (link) } }
}

fn row(run: &ListedRun, is_cancelling: bool) -> Markup {
    let record = &run.record;
    let name = record.run_id.as_str();
    let figures = run.figures.as_ref();
    let simulates = figures.is_some_and(|figures| figures.simulated);
    html! {
        tr {
            td.thumb {
                a.thumb href=(links::run(&record.run_id)) tabindex="-1" aria-hidden="true" {
                    img src=(format!("/runs/{name}/thumbnail")) alt="" width="64" height="48" loading="lazy" decoding="async";
                }
            }
            th scope="row" {
                (links::run_link(&record.run_id)) @if simulates { " " (simulated()) }
                (baseline_chips(&run.baselines))
            }
            td { @if is_cancelling { span.chip.undecided { "cancelling" } } @else { (state_chip(run.state)) } }
            td.when { time datetime=(record.created_at) { (minutes(&record.created_at)) } }
            td.path { (dataset_name::name(&record.dataset.path)) }
            td.when { (sanitize(&run.rubric_name())) }
            td.when { bdi { (sanitize(&judge_of(run))) } }
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

fn score(run: &ListedRun) -> Markup {
    html! {
        @match score_of(run) {
            Some((PastMetric { value, n, low, high }, unit, word)) => {
                strong { (figure(value, unit)) } (word)
                br;
                small { (interval(&Interval { n, low, high }, unit)) }
            }
            None => { "–" }
        }
    }
}
