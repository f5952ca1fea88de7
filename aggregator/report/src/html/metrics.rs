//! Metrics of a topic: the overall one large, the others as badges.

use super::{
    charts::range,
    layout::{class_of, simulated},
};
use crate::{
    document::ShownMetric,
    phrasing::{legend, provenance_text},
    sanitize::sanitize,
};
use maud::{Markup, html};

/// The metrics, and what their origins mean.
pub(super) fn metrics(metrics: &[ShownMetric], is_marked: bool) -> Markup {
    let (whole, others): (Vec<_>, Vec<_>) = metrics.iter().partition(|metric| metric.whole);
    let legend = legend(metrics.iter().map(|metric| metric.origin), |origin| {
        provenance_text(origin).to_owned()
    });
    html! {
        @for metric in whole { (whole_metric(metric)) }
        dl.badges { @for metric in others { div class=[class(metric)] { (badge(metric, is_marked)) } } }
        p.faint.small { (legend) }
    }
}

fn whole_metric(metric: &ShownMetric) -> Markup {
    html! {
        p { (titled(metric)) @if metric.simulated { " " (simulated()) } }
        @match &metric.value {
            Some(value) => {
                p class=(format!("big {}", class(metric).unwrap_or_default())) { (value) }
                @if let Some(chart) = &metric.range { (range(chart, &metric.interval)) }
                p.faint { (bounded(metric)) }
            }
            None => { p.big.faint { "no data" } }
        }
    }
}

/// A figure with its name, how sure it is and whether it is enough.
fn badge(metric: &ShownMetric, is_marked: bool) -> Markup {
    html! {
        dt { (titled(metric)) @if metric.simulated && !is_marked { " " (simulated()) } }
        @match &metric.value {
            Some(value) => {
                dd.figure { (value) }
                @if let Some(chart) = &metric.range { dd { (range(chart, &metric.interval)) } }
                dd.faint { (bounded(metric)) }
                @if !metric.spread.is_empty() { dd.faint { (metric.spread) } }
            }
            None => { dd.figure.faint { "no data" } }
        }
    }
}

/// The title, with the origin as a small mark behind it.
fn titled(metric: &ShownMetric) -> Markup {
    html! { (sanitize(&metric.title)) " " span.origin { (provenance_text(metric.origin)) } }
}

/// The interval, and the demand of the gate.
fn bounded(metric: &ShownMetric) -> Markup {
    html! { (metric.interval) @if let Some((demand, _)) = &metric.demand { ", " (demand) } }
}

fn class(metric: &ShownMetric) -> Option<&'static str> {
    metric.demand.as_ref().map(|(_, level)| class_of(*level))
}
