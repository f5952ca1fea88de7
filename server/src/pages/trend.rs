//! How figures went over the last runs that asked the same.

use super::links;
use crate::{catalog::ListedRun, view::RunView};
use juror_aggregator::{
    history::{PastMetric, ask_the_same},
    metrics::{Interval, Metric, Unit},
    report::{
        figures::{dollars, figure, grouped, interval},
        harmless::harmless,
        html::{minutes, simulated},
    },
};
use maud::{Markup, html};

/// So many runs are drawn.
const MOST_RUNS: usize = 20;

const HEIGHT: f64 = 40.0;
const WIDTH: f64 = 200.0;

/// The section; nothing where no earlier run asked the same.
pub fn section(view: &RunView, runs: &[ListedRun], shows_judge: bool) -> Markup {
    let alike = alike(view, runs);
    if alike.len() < 2 {
        return html! {
            section.card aria-labelledby="trend" {
                h2 #trend { "Trend" }
                p.faint {
                    "This is the only run of its kind so far. Judge the same dataset again by the same"
                    " rubric and judge, and the figures of both stand here."
                }
            }
        };
    }
    let is_shown = |metric: &&Metric| {
        metric.value.is_some() && (shows_judge || !metric.definition.is_semantic())
    };
    let mut metrics: Vec<&Metric> = view.report.metrics.iter().filter(is_shown).collect();
    metrics.sort_by_key(|metric| !metric.definition.is_semantic());
    html! {
        section.card aria-labelledby="trend" {
            h2 #trend {
                "Trend over " (grouped(alike.len() as u64)) " runs"
                @if alike.iter().any(|run| is_simulated(run)) { " " (simulated()) }
            }
            dl.trends {
                @for metric in metrics { (line(metric, &alike)) }
            }
            details {
                summary { "These runs" }
                (table(view, &alike, shows_judge))
            }
        }
    }
}

/// The runs that asked what this one asks, oldest first, up to this one.
fn alike<'a>(view: &RunView, runs: &'a [ListedRun]) -> Vec<&'a ListedRun> {
    let own = view.files.record();
    let asks = |run: &&ListedRun| {
        run.figures.is_some()
            && run.record.created_at <= own.created_at
            && ask_the_same(&run.record, own)
    };
    let mut alike: Vec<&ListedRun> = runs.iter().filter(asks).take(MOST_RUNS).collect();
    alike.reverse();
    alike
}

fn is_simulated(run: &ListedRun) -> bool {
    run.figures.as_ref().is_some_and(|figures| figures.simulated)
}

fn past(run: &ListedRun, path: &str) -> Option<PastMetric> {
    run.figures.as_ref()?.metrics.get(path).copied()
}

fn line(metric: &Metric, runs: &[&ListedRun]) -> Markup {
    let definition = &metric.definition;
    let points: Vec<Option<PastMetric>> =
        runs.iter().map(|run| past(run, &definition.path)).collect();
    let newest = points.iter().rev().flatten().next();
    html! {
        div {
            dt { (harmless(&definition.title)) }
            dd { (sparkline(&definition.title, &points, definition.unit)) }
            dd.n { @if let Some(newest) = newest { (figure(newest.value, definition.unit)) } }
        }
    }
}

/// Each run's figure as a dot on a line, its interval as a bar behind it.
fn sparkline(title: &str, points: &[Option<PastMetric>], unit: Unit) -> Markup {
    let ends = points.iter().flatten().flat_map(|point| {
        [point.value, point.low.unwrap_or(point.value), point.high.unwrap_or(point.value)]
    });
    let (least, most) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), end| {
        (least.min(end), most.max(end))
    });
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
    let words: Vec<String> = known.iter().map(|(_, point)| figure(point.value, unit)).collect();
    html! {
        svg.spark viewBox=(format!("0 0 {WIDTH:.0} {HEIGHT:.0}")) role="img"
            preserveAspectRatio="xMinYMid"
            aria-label=(format!("{}, oldest first: {}", harmless(title), words.join(", "))) {
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

/// The same in figures, newest first.
fn table(view: &RunView, runs: &[&ListedRun], shows_judge: bool) -> Markup {
    let whole =
        view.report.metrics.iter().find(|metric| {
            metric.definition.is_semantic() == shows_judge && metric.value.is_some()
        });
    html! {
        div.scroll tabindex="0" role="region" aria-label="The runs of the trend" {
            table.plain {
                thead { tr {
                    th scope="col" { "Run" } th scope="col" { "When" }
                    @if let Some(whole) = whole { th.n scope="col" { (harmless(&whole.definition.title)) } th scope="col" { "95 % interval" } }
                    th.n scope="col" { "Scored" } th.n scope="col" { "Cost" }
                } }
                tbody {
                    @for run in runs.iter().rev() {
                        tr {
                            th scope="row" { (links::run_link(&run.record.run_id)) @if is_simulated(run) { " " (simulated()) } }
                            td { time datetime=(run.record.created_at) { (minutes(&run.record.created_at)) } }
                            @if let Some(whole) = whole { (cells(past(run, &whole.definition.path), whole.definition.unit)) }
                            @if let Some(figures) = &run.figures {
                                td.n { (grouped(figures.scored)) "/" (grouped(figures.planned)) }
                                td.n { (dollars(figures.cost_usd)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cells(metric: Option<PastMetric>, unit: Unit) -> Markup {
    html! {
        @match metric {
            Some(PastMetric { value, n, low, high }) => {
                td.n { (figure(value, unit)) }
                td { (interval(&Interval { n, low, high }, unit)) }
            }
            None => { td.n { "–" } td { "–" } }
        }
    }
}
