//! GateDecision and headline: whether the run is good enough, and the figures that say so.

use super::charts::range;
use crate::html::layout::simulated;
use crate::{
    phrasing::{
        coverage_text, has_stages, is_stage, perfection, provenance_text, rule_interval, rule_texts,
    },
    sanitize::harmless,
};
use juror_analysis::{
    format::{figure, grouped, interval},
    gate::{Bound, GateDecision, GateReport},
    metrics::Metric,
    run_report::Report,
};
use maud::{Markup, html};

/// The decision, the judge's figures, and beside them the deterministic stages.
pub(super) fn headline(report: &Report) -> Markup {
    html! {
        (decision(report))
        div.cards {
            @if report.run.judge.is_some() { (semantic(report)) }
            @if has_stages(report) || report.run.judge.is_none() { (stages(report)) }
        }
        @if let Some(gate) = &report.targets { (targets(report, gate)) }
    }
}

/// Whether the run is good enough, in a word and why.
pub fn decision(report: &Report) -> Markup {
    let coverage = &report.coverage;
    let (class, text) = match &report.targets {
        Some(gate) => {
            let (class, word) = decided(gate.decision);
            (class, format!("Gate {}: {word}", harmless(&gate.gate)))
        }
        // Without a gate nothing is decided, so the banner is neither green nor red.
        None if coverage.scored == 0 => ("undecided", "Nothing was scored".to_owned()),
        None if coverage.is_complete() => ("no-gate", "Complete, no gate set".to_owned()),
        None => ("undecided", "Incomplete, no gate set".to_owned()),
    };
    html! {
        section class=(format!("decision {class}")) aria-label="Gate decision" {
            p.verdict {
                strong { (text) }
                @if report.run.simulated { " " (simulated()) }
            }
            p {
                (coverage_text(coverage)) "."
                @if let Some(gate) = &report.targets { " " (missed_in_words(report, gate)) }
            }
        }
    }
}

fn missed_in_words(report: &Report, gate: &GateReport) -> String {
    let of = |decision| {
        let rules = gate.rules.iter().filter(|rule| rule.decision == decision);
        rules.map(|rule| rule_texts(report, rule).0).collect::<Vec<_>>()
    };
    let list = |word: &str, titles: Vec<String>| match titles.is_empty() {
        true => String::new(),
        false => format!("{word}: {}. ", titles.join(", ")),
    };
    let text =
        list("Missed", of(GateDecision::Missed)) + &list("Undecided", of(GateDecision::Undecided));
    harmless(text.trim_end())
}

/// The judge's figures: the whole one large, the others as badges.
pub fn semantic(report: &Report) -> Markup {
    let mut metrics = report.metrics.iter().filter(|metric| metric.definition.is_semantic());
    let whole = metrics.next();
    let grades = report.overall.semantic.as_ref().and_then(|semantic| semantic.grades.as_ref());
    html! {
        section.card.semantic aria-labelledby="semantic" {
            @if let Some(whole) = whole {
                h2 #semantic {
                    (harmless(&whole.definition.title)) " " (origin(report, whole))
                    @if report.run.simulated { " " (simulated()) }
                }
                (big(report, whole))
            }
            dl.badges {
                @for metric in metrics { (badge(report, metric, false)) }
            }
            @if let Some(grades) = grades {
                dl.grades aria-label="Verdicts by grade" {
                    @for (grade, count) in grades {
                        div { dt { (harmless(grade)) } dd { (grouped(*count)) } }
                    }
                }
            }
        }
    }
}

fn big(report: &Report, metric: &Metric) -> Markup {
    let unit = metric.definition.unit;
    html! {
        @match metric.value {
            Some(value) => {
                p.big { (figure(value, unit)) }
                (range(metric, bound_of(report, metric)))
                p.faint { (interval(&metric.interval, unit)) (bound_in_words(report, metric)) }
            }
            None => { p.big.faint { "no data" } }
        }
    }
}

/// A figure with its name, how sure it is and whether it is enough; marked as simulated where its
/// card is not.
fn badge(report: &Report, metric: &Metric, marked: bool) -> Markup {
    let unit = metric.definition.unit;
    let spread = metric.perfection.as_ref().filter(|_| metric.value.is_some()).map(perfection);
    html! {
        div class=(rule_class(report, metric)) {
            dt { (harmless(&metric.definition.title)) " " (origin(report, metric)) @if marked { " " (simulated()) } }
            @match metric.value {
                Some(value) => {
                    dd.figure { (figure(value, unit)) }
                    dd { (range(metric, bound_of(report, metric))) }
                    dd.faint { (interval(&metric.interval, unit)) (bound_in_words(report, metric)) }
                    @if let Some(spread) = spread {
                        dd.faint { (spread.replace('\u{2007}', " ")) }
                    }
                }
                None => { dd.figure.faint { "no data" } }
            }
        }
    }
}

/// The deterministic stages.
pub fn stages(report: &Report) -> Markup {
    let with_data = |metric: &&Metric| is_stage(metric) && metric.value.is_some();
    let judged = |metric: &Metric| {
        // Whether an item passed depends on its verdict too.
        report.run.simulated && metric.definition.path == "pipeline_success_rate"
    };
    html! {
        section.card.stages aria-labelledby="stages" {
            h2 #stages { "Pipeline" }
            @if !has_stages(report) { p.faint { "No stage has any data." } }
            dl.rows {
                @for metric in report.metrics.iter().filter(with_data) {
                    (badge(report, metric, judged(metric)))
                }
            }
            p.faint.small { "Measured: computed by a program. Judged: the opinion of the vision model." }
        }
    }
}

/// Whether a figure is measured or judged, as a small mark behind its name.
fn origin(report: &Report, metric: &Metric) -> Markup {
    html! { span.origin { (provenance_text(report, &metric.definition)) } }
}

/// Every bound of a gate, and what became of it.
pub fn targets(report: &Report, gate: &GateReport) -> Markup {
    html! {
        section.card aria-labelledby="targets" {
            h2 #targets {
                "Gate " (harmless(&gate.gate))
                @if report.run.simulated { " " (simulated()) }
            }
            div.scroll tabindex="0" role="region" aria-label="Bounds and figures" {
                table.plain {
                    thead { tr {
                        th scope="col" { "Metric" } th scope="col" { "Figure" }
                        th scope="col" { "Bound" } th scope="col" { "95 % interval" }
                        th scope="col" { "Over" } th scope="col" { "Decision" }
                    } }
                    tbody {
                        @for rule in &gate.rules {
                            @let (title, value, bound) = rule_texts(report, rule);
                            @let (class, word) = decided(rule.decision);
                            tr {
                                th scope="row" { (harmless(&title)) } td { (value) } td { (bound) }
                                td { (rule_interval(report, rule)) } td { (grouped(rule.n)) }
                                td { span class=(format!("chip {class}")) { (word) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn rule_class(report: &Report, metric: &Metric) -> &'static str {
    let gate = report.targets.as_ref();
    let rule =
        gate.and_then(|gate| gate.rules.iter().find(|rule| rule.metric == metric.definition.path));
    rule.map_or("", |rule| decided(rule.decision).0)
}

fn bound_of(report: &Report, metric: &Metric) -> Option<Bound> {
    let rules = &report.targets.as_ref()?.rules;
    rules.iter().find(|rule| rule.metric == metric.definition.path).and_then(|rule| rule.bound)
}

fn bound_in_words(report: &Report, metric: &Metric) -> String {
    let Some(gate) = &report.targets else { return String::new() };
    let rule = gate.rules.iter().find(|rule| rule.metric == metric.definition.path);
    rule.map_or_else(String::new, |rule| {
        let demand = match rule.bound {
            Some(_) => format!("must be {}", rule_texts(report, rule).2),
            None => "must not decline".to_owned(),
        };
        format!(", {demand}, {}", decided(rule.decision).1)
    })
}

/// A class of the style sheet, and the word.
pub fn decided(decision: GateDecision) -> (&'static str, &'static str) {
    match decision {
        GateDecision::Met => ("met", "met"),
        GateDecision::Undecided => ("undecided", "undecided"),
        GateDecision::Missed => ("missed", "missed"),
    }
}
