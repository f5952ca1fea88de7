//! Trends of metrics over runs of the same items, rubric and judge: a section of the overview, and
//! a page for each metric.

mod chart;
mod decline;

use super::{
    NavigationPage, PageError, PageQuery, dataset_name,
    first_steps::first_steps,
    links::{self, plain},
    newest_run::newest_of,
    page,
    run_choice::RunChoice,
    run_named,
    run_summary::facts_line,
};
use crate::{access::Visitor, app_state::AppState, view::RunView};
use axum::{
    extract::{Extension, State},
    http::HeaderMap,
};
use chart::{ChartPoint, TrendChart};
use juror_analysis::{
    format::{figure, grouped},
    gate::Bound,
    history::{PastMetric, are_comparable},
    metrics::{Metric, Unit},
};
use juror_app::run_catalog::{ListedRun, runs_before};
use juror_report::{
    document::{Block, NameKind},
    html::{blocks, simulated},
    phrasing::provenance_text,
    sanitize::sanitize,
    topics::trend::{self, TrendRun},
};
use juror_types::id::RunId;
use maud::{Markup, html};

/// Maximum number of runs on the overview.
const MAX_RUNS: usize = 20;
/// Maximum number of runs on the page.
const MAX_PAGE_RUNS: usize = 60;

const HEIGHT: f64 = 40.0;
const WIDTH: f64 = 200.0;

/// Renders the trend of a metric over the series of a run. Query: `run` (default: the newest run of
/// the overview's choice) and `metric`.
pub async fn show(
    State(site): State<AppState>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
    query: PageQuery,
) -> Result<Markup, PageError> {
    let runs = site.runs().await?;
    let view = match query.text("run") {
        Some(name) => Some(site.views.get(&run_named(name)?).await?),
        None => {
            let choice = RunChoice::from_query(&query, &headers);
            newest_of(&site, runs.iter().filter(|run| choice.matches(run))).await?.view
        }
    };
    let content = match &view {
        Some(view) => content(view, &runs, query.text("metric")),
        None => html! { h1 { "Trend" } (first_steps("There are no runs yet")) },
    };
    Ok(page(Some(visitor), "Trend", NavigationPage::Trend, &content))
}

/// Section of the overview.
pub fn section(view: &RunView, runs: &[ListedRun], shows_judge: bool) -> Markup {
    let alike = alike(view, runs, MAX_RUNS);
    if alike.len() < 2 {
        return html! {
            section.card aria-labelledby="trend" {
                h2 #trend { "Trend" }
                p.faint {
                    "This is the only run of its kind so far. A trend appears after another run of the same"
                    " dataset, rubric and judge."
                }
            }
        };
    }
    let metrics = metrics(view, shows_judge);
    html! {
        section.card aria-labelledby="trend" {
            h2 #trend {
                "Trend over " (grouped(alike.len() as u64)) " runs"
                @if alike.iter().any(|run| is_simulated(run)) { " " (simulated()) }
            }
            dl.trends {
                @for metric in &metrics { (line(view, metric, &alike)) }
            }
            (decline::list(view, runs, &metrics))
            @if let Some(metric) = metrics.first() {
                details {
                    summary { "These runs" }
                    (table(metric, &alike))
                }
            }
        }
    }
}

fn content(view: &RunView, runs: &[ListedRun], path: Option<&str>) -> Markup {
    let alike = alike(view, runs, MAX_PAGE_RUNS);
    let metrics = metrics(view, true);
    let named = |metric: &&&Metric| Some(metric.definition.path.as_str()) == path;
    let metric = metrics.iter().find(named).or(metrics.first()).copied();
    html! {
        header.page {
            h1 { "Trend" @if alike.iter().any(|run| is_simulated(run)) { " " (simulated()) } }
            p { (grouped(alike.len() as u64)) " runs of " (dataset_name::name(&view.report.run.dataset.path)) " up to " (links::run_link(&view.report.run.id)) }
            (facts_line(&view.report))
            (blocks(&trend::model_changes(&trend_runs(&alike)), &plain))
        }
        @if let Some(metric) = metric {
            section.card aria-labelledby="metric" {
                h2 #metric { (sanitize(&metric.definition.title)) }
                (chart_of(view, metric, &alike))
            }
        }
        section.card aria-labelledby="metrics" {
            h2 #metrics { "All metrics" }
            dl.trends { @for metric in &metrics { (line(view, metric, &alike)) } }
        }
        @if let Some(metric) = metric {
            section.card aria-labelledby="runs" {
                h2 #runs { "Runs" }
                (table(metric, &alike))
            }
        }
    }
}

fn chart_of(view: &RunView, metric: &Metric, alike: &[&ListedRun]) -> Markup {
    let path = &metric.definition.path;
    let point = |run: &&ListedRun| {
        let metric = past(run, path)?;
        let run_id = run.record.run_id.clone();
        Some(ChartPoint { run: run_id, created_at: run.record.created_at.clone(), metric })
    };
    let points: Vec<ChartPoint> = alike.iter().filter_map(point).collect();
    let target = view.report.gate.as_ref().and_then(|gate| {
        let rule = gate.rules.iter().find(|rule| rule.metric == *path)?;
        rule.bound.map(Bound::figure)
    });
    TrendChart {
        title: &metric.definition.title,
        unit: metric.definition.unit,
        target,
        points: &points,
    }
    .markup()
}

/// The metrics with data, the judge's first.
fn metrics(view: &RunView, shows_judge: bool) -> Vec<&Metric> {
    let is_shown = |metric: &&Metric| {
        metric.value.is_some() && (shows_judge || !metric.definition.is_semantic())
    };
    let mut metrics: Vec<&Metric> = view.report.metrics.iter().filter(is_shown).collect();
    metrics.sort_by_key(|metric| !metric.definition.is_semantic());
    metrics
}

/// Runs of the same items, rubric and judge, oldest first, up to this one.
fn alike<'a>(view: &RunView, runs: &'a [ListedRun], most: usize) -> Vec<&'a ListedRun> {
    let own = view.files.record();
    let newest = runs.iter().find(|run| run.record.run_id == own.run_id);
    let all = newest.into_iter().chain(runs_before(runs, own, are_comparable));
    let mut alike: Vec<_> = all.filter(|run| run.figures.is_some()).take(most).collect();
    alike.reverse();
    alike
}

fn is_simulated(run: &ListedRun) -> bool {
    run.figures.as_ref().is_some_and(|figures| figures.simulated)
}

fn past(run: &ListedRun, path: &str) -> Option<PastMetric> {
    run.figures.as_ref()?.metrics.get(path).copied()
}

/// Line of a metric with a sparkline, linked to its page.
fn line(view: &RunView, metric: &Metric, runs: &[&ListedRun]) -> Markup {
    let definition = &metric.definition;
    let points: Vec<Option<PastMetric>> =
        runs.iter().map(|run| past(run, &definition.path)).collect();
    let newest = points.iter().rev().flatten().next();
    html! {
        div {
            dt {
                a href=(links::trend(&view.report.run.id, &definition.path)) { (sanitize(&definition.title)) }
                " " span.origin { (provenance_text(definition.provenance(view.report.run.judge.is_some()))) }
            }
            dd { (sparkline(&definition.title, &points, definition.unit)) }
            dd.n { @if let Some(newest) = newest { (figure(newest.value, definition.unit)) } }
        }
    }
}

/// Sparkline: a dot for each run's value, a bar for its interval.
fn sparkline(title: &str, points: &[Option<PastMetric>], unit: Unit) -> Markup {
    let (least, most) = chart::ends(points.iter().flatten(), None);
    let span = if most > least { most - least } else { 1.0 };
    let y = |value: f64| HEIGHT - 4.0 - (value - least) / span * (HEIGHT - 8.0);
    let step = WIDTH / points.len().max(2) as f64;
    let known: Vec<(f64, &PastMetric)> = points
        .iter()
        .enumerate()
        .filter_map(|(place, point)| Some((place as f64 * step + step / 2.0, point.as_ref()?)))
        .collect();
    let line: Vec<String> =
        known.iter().map(|(x, point)| format!("{x:.1},{:.1}", y(point.value))).collect();
    let figures: Vec<String> = known.iter().map(|(_, point)| figure(point.value, unit)).collect();
    html! {
        svg.spark viewBox=(format!("0 0 {WIDTH:.0} {HEIGHT:.0}")) role="img"
            preserveAspectRatio="xMinYMid"
            aria-label=(format!("{}, oldest first: {}", sanitize(title), figures.join(", "))) {
            @for (x, point) in &known {
                @if let (Some(low), Some(high)) = (point.low, point.high) {
                    rect.sure x=(format!("{:.1}", x - 2.5)) y=(format!("{:.1}", y(high))) width="5"
                        height=(format!("{:.1}", (y(low) - y(high)).max(1.0))) {}
                }
            }
            polyline points=(line.join(" ")) {}
            @for (x, point) in &known {
                circle cx=(format!("{x:.1}")) cy=(format!("{:.1}", y(point.value))) r="2.2" {}
            }
        }
    }
}

/// Table of a metric, newest run first.
fn table(metric: &Metric, runs: &[&ListedRun]) -> Markup {
    let mut runs = trend_runs(runs);
    runs.reverse();
    let table = Block::Table(trend::table(&runs, Some(&metric.definition)));
    blocks(&[table], &|_: NameKind, name: &str| match RunId::parse(name) {
        Ok(run) => links::run_link(&run),
        Err(_) => html! { bdi { (sanitize(name)) } },
    })
}

fn trend_runs<'a>(runs: &[&'a ListedRun]) -> Vec<TrendRun<'a>> {
    runs.iter().filter_map(|run| Some((&run.record, run.figures.as_deref()?))).collect()
}
