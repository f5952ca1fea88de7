//! What became of the run since another one: the decision, how sure it is, and which items to look
//! at.

use super::{ItemLink, anchors::Anchors};
use crate::html::layout::simulated;
use crate::sanitize::harmless;
use juror_analysis::{
    comparison::{
        Comparison, Decision, IssueChange, ItemChange, MetricDifference, PassDifference, change,
        detectable_words, distinct_size, failure_words, item_counts, p_value, settling_words,
    },
    format::{counted, figure, grouped},
    metrics::Unit,
    run_report::Report,
};
use maud::{Markup, html};

/// So many of each list are shown; report.json has them all.
const MAX: usize = 50;
const WIDTH: f64 = 200.0;

/// The section, if there is a comparison.
pub(super) fn comparison(report: &Report, anchors: &Anchors<'_>) -> Markup {
    let Some(comparison) = &report.comparison else { return html! {} };
    let base = &comparison.base;
    html! {
        section.card aria-labelledby="comparison" {
            h2 #comparison { "Since run " bdi { (harmless(base.run.as_str())) } @if comparison.simulated { " " (simulated()) } }
            (decided(comparison))
            @if comparison.paired > 0 { (means(comparison)) (passes(&comparison.passes)) }
            h3 { "Items: " (item_counts(comparison)) }
            (items(comparison, &|id| anchors.link(id)))
            (issues(comparison))
        }
    }
}

/// The decision, how it came to be, and what a reader must know of it.
pub fn decided(comparison: &Comparison) -> Markup {
    html! {
        div class=(format!("decision {}", class_of(comparison.decision))) {
            p.verdict { strong { (harmless(&comparison.headline)) } }
            p { (harmless(&comparison.reason)) "." }
        }
        p.facts {
            span { (counted(comparison.paired, "paired item")) } " "
            span { "margin " (figure(comparison.margin, Unit::Share)) }
            @if comparison.strict { " " span { "strict" } }
        }
        @for difference in &comparison.judge_differences {
            p.notice { strong { "Another judge: " } (harmless(difference)) }
        }
        @for warning in &comparison.warnings { p.notice { (harmless(warning)) } }
        @if let Some(words) = detectable_words(comparison) { p { (words) } }
        @if let Some(settling) = &comparison.settling { p { (settling_words(settling)) } }
    }
}

fn class_of(decision: Decision) -> &'static str {
    match decision {
        Decision::Same | Decision::Better => "met",
        Decision::Inconclusive => "undecided",
        Decision::Worse => "missed",
    }
}

/// Every mean in both runs, with the interval of its change.
pub fn means(comparison: &Comparison) -> Markup {
    let reach = reach(comparison);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Means in both runs" {
            table.changes {
                caption { span {
                    "Head − base with its 95 % interval, drawn around no change; the band is the margin. p of criteria and of deterministic metrics is adjusted (Holm), d_z is the effect size. Detectable: the smallest true change that so many items reveal 4 times in 5."
                } }
                thead { tr {
                    th scope="col" { "Mean" }
                    th.n scope="col" { "Base" } th.n scope="col" { "Head" } th.n scope="col" { "Change" }
                    th.n scope="col" { "95 % interval" } th scope="col" { "Drawn" }
                    th.n scope="col" { "p" } th.n scope="col" { "d_z" }
                    th.n scope="col" { "Detectable" } th scope="col" { "Decision" }
                } }
                tbody { @for metric in comparison.means() { (mean(comparison, metric, reach)) } }
            }
        }
    }
}

fn mean(comparison: &Comparison, metric: &MetricDifference, reach: f64) -> Markup {
    let (unit, all) = (metric.unit(), &metric.difference);
    let none = || "–".to_owned();
    let shown = |value: Option<f64>| value.map_or_else(none, |value| figure(value, unit));
    let interval = match (all.low, all.high) {
        (Some(low), Some(high)) => format!("{} to {}", change(low, unit), change(high, unit)),
        _ => none(),
    };
    html! {
        tr {
            th scope="row" { bdi { (harmless(&metric.title)) } }
            td.n { (shown(all.base)) } td.n { (shown(all.head)) }
            td.n { (all.difference.map_or_else(none, |value| change(value, unit))) }
            td.n { (interval) }
            td { (plot(metric, comparison.margin, reach)) }
            td.n { (p_value(metric.p_adjusted.or(all.p_value))) }
            td.n { (all.effect_size_dz.map_or_else(none, |value| change(value, Unit::Score))) }
            td.n { (all.detectable.map_or_else(none, |value| distinct_size(value, unit))) }
            td {
                span class=(format!("chip {}", class_of(metric.decision))) { (metric.decision.name()) }
            }
        }
    }
}

/// The widest share of its scale that any mean's interval reaches, so that all have one scale.
fn reach(comparison: &Comparison) -> f64 {
    let ends = comparison.means().filter_map(|metric| {
        let (all, width) = (&metric.difference, width(metric)?);
        let ends = [all.low, all.high, all.difference];
        Some(ends.into_iter().flatten().map(|end| end.abs() / width).fold(0.0, f64::max))
    });
    ends.fold(comparison.margin * 2.0, f64::max).max(f64::MIN_POSITIVE)
}

/// How far a mean can move; none where it has no scale.
fn width(metric: &MetricDifference) -> Option<f64> {
    let (least, most) = metric.unit().bounds();
    (metric.unit() != Unit::Milliseconds && most > least).then_some(most - least)
}

fn plot(metric: &MetricDifference, margin: f64, reach: f64) -> Markup {
    let (Some(width), Some(value)) = (width(metric), metric.difference.difference) else {
        return html! {};
    };
    let place = |share: f64| ((share / reach + 1.0) / 2.0 * WIDTH).clamp(0.0, WIDTH);
    let sure = metric.difference.low.zip(metric.difference.high);
    html! {
        svg.range.change viewBox="0 0 200 14" preserveAspectRatio="none" aria-hidden="true" {
            rect.track x="0" y="5" width="200" height="4" {}
            rect.margin x=(place(-margin)) y="0" width=(place(margin) - place(-margin)) height="14" {}
            @if let Some((low, high)) = sure {
                @let (low, high) = (place(low / width), place(high / width));
                rect.sure x=(low) y="3" width=((high - low).max(1.0)) height="8" {}
            }
            rect.bound x=(WIDTH / 2.0 - 0.5) y="0" width="1" height="14" {}
            rect.value x=((place(value / width) - 1.0).clamp(0.0, WIDTH - 2.0)) y="1" width="2" height="12" {}
        }
    }
}

/// What items pass in both runs.
pub fn passes(passes: &[PassDifference]) -> Markup {
    html! {
        @if !passes.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Passes in both runs" {
                table.changes {
                    caption { span { "p by the exact McNemar test, adjusted (Holm) where the rate decides." } }
                    thead { tr {
                        th scope="col" { "Passes" }
                        th.n scope="col" { "Base" } th.n scope="col" { "Head" }
                        th.n scope="col" { "Only in base" } th.n scope="col" { "Only in head" }
                        th.n scope="col" { "Items" } th.n scope="col" { "p" }
                        th scope="col" { "Decision" }
                    } }
                    tbody {
                        @for pass in passes {
                            tr {
                                th scope="row" { bdi { (harmless(&pass.title)) } }
                                td.n { (figure(pass.base, Unit::Share)) }
                                td.n { (figure(pass.head, Unit::Share)) }
                                td.n { (grouped(pass.table.only_base)) }
                                td.n { (grouped(pass.table.only_head)) }
                                td.n { (grouped(pass.table.total())) }
                                td.n { (p_value(pass.p_adjusted.or(pass.p_value))) }
                                td {
                                    @if let Some(decision) = pass.decision {
                                        span class=(format!("chip {}", class_of(decision))) { (decision.name()) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Which items changed, list by list.
pub fn items(comparison: &Comparison, link: &ItemLink<'_>) -> Markup {
    let lists = &comparison.items;
    let moved = |item: &ItemChange| {
        let (base, head) = (figure(item.base, Unit::Share), figure(item.head, Unit::Share));
        html! { (link(&item.id)) " " (base) " → " (head) }
    };
    let ids = |id: &String| link(id);
    html! {
        (list("Regressed", true, &lists.regressed, moved))
        (list("Newly failing", true, &lists.newly_failing, |item| html! {
            (link(&item.id)) " " (failure_words(item))
        }))
        (list("Improved", false, &lists.improved, moved))
        (list("Another input, not paired", false, &lists.changed_input, ids))
        (list("New", false, &lists.new, ids))
        (list("Gone", false, &lists.gone, ids))
    }
}

/// Which common issues changed.
pub fn issues(comparison: &Comparison) -> Markup {
    let issues = &comparison.issues;
    let lists = [
        ("New", &issues.new),
        ("Gone", &issues.gone),
        ("More frequent", &issues.more_frequent),
        ("Less frequent", &issues.less_frequent),
    ];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return html! {};
    }
    let words = |issue: &IssueChange| {
        let (base, head) = (issue.base_share, issue.head_share);
        html! {
            bdi { (harmless(&issue.label)) } " "
            span.faint { (figure(base, Unit::Share)) " → " (figure(head, Unit::Share)) }
        }
    };
    html! {
        h3 { "Issues" }
        @for (title, changes) in lists { (list(title, title == "New", changes, words)) }
    }
}

fn list<T>(title: &str, open: bool, all: &[T], words: impl Fn(&T) -> Markup) -> Markup {
    html! {
        @if !all.is_empty() {
            details open[open] {
                summary { (title) " " span.faint { "(" (grouped(all.len() as u64)) ")" } }
                ul.listed { @for each in all.iter().take(MAX) { li { (words(each)) } } }
                @if all.len() > MAX {
                    p.faint { "and " (grouped((all.len() - MAX) as u64)) " more, in report.json" }
                }
            }
        }
    }
}
