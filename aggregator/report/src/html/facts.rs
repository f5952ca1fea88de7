//! Coverage, cost, time and warnings of a run.

use crate::{
    phrasing::{
        calls_text, cost_text, coverage_text, error_example, estimate_text, judging_text,
        month_text,
    },
    sanitize::harmless,
};
use juror_analysis::{
    format::{counted, duration, grouped},
    item_row::word,
    run_report::Report,
};
use maud::{Markup, html};

/// Warnings, coverage, cost and time.
pub fn facts(report: &Report) -> Markup {
    html! {
        @if !report.warnings.is_empty() {
            section.card.warnings aria-labelledby="warnings" {
                h2 #warnings { "To be known" }
                ul { @for warning in &report.warnings { li { bdi { (harmless(warning)) } } } }
            }
        }
        div.cards {
            (coverage(report))
            (cost(report))
        }
    }
}

fn coverage(report: &Report) -> Markup {
    let coverage = &report.coverage;
    let parts = [
        ("scored", coverage.scored),
        ("no_output", coverage.no_output),
        ("unscorable", coverage.unscorable),
        ("failed", coverage.failed),
        ("skipped", coverage.skipped),
        ("pending", coverage.pending),
    ];
    let share = |count: u64| count as f64 / coverage.planned.max(1) as f64 * 200.0;
    let before =
        |place: usize| parts.iter().take(place).map(|(_, count)| share(*count)).sum::<f64>();
    html! {
        section.card aria-labelledby="coverage" {
            h2 #coverage { "Coverage" }
            svg.stack viewBox="0 0 200 10" preserveAspectRatio="none" role="img"
                aria-label=(coverage_text(coverage)) {
                rect.track x="0" y="0" width="200" height="10" {}
                @for (place, (outcome, count)) in parts.iter().enumerate() {
                    @if *count > 0 {
                        rect class=(*outcome) x=(before(place)) y="0" width=(share(*count)) height="10" {}
                    }
                }
            }
            ul.legend {
                @for (outcome, count) in parts {
                    @if count > 0 || outcome == "scored" {
                        li { span class=(format!("dot {outcome}")) {} (grouped(count)) " " (outcome.replace('_', " ")) }
                    }
                }
            }
            @if !coverage.errors.is_empty() {
                h3 { "Errors" }
                ul {
                    @for (kind, count) in &coverage.errors {
                        li {
                            (word(kind)) ", " (counted(*count, "job"))
                            @if let Some(message) = error_example(report, *kind) {
                                ": " q { (harmless(message)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn cost(report: &Report) -> Markup {
    let cost = &report.cost;
    let cached = match cost.cached_input_tokens {
        0 => String::new(),
        tokens => format!(" ({} from the provider's cache)", grouped(tokens)),
    };
    html! {
        section.card aria-labelledby="cost" {
            h2 #cost { "Cost and time" }
            dl.pairs {
                @if report.run.judge.is_some() {
                    dt { "Cost" } dd { (cost_text(report)) }
                    @if let Some(month) = month_text(cost) { dt { "All runs" } dd { (month) } }
                    @if let Some(estimate) = estimate_text(report) { dt { "Estimate" } dd { (estimate) } }
                    dt { "Tokens" }
                    dd { (grouped(cost.input_tokens)) " in" (cached) ", " (grouped(cost.output_tokens)) " out" }
                    dt { "Calls" } dd { (calls_text(cost)) }
                }
                @if let Some(mean) = report.overall.avg_latency_ms {
                    dt { "Each job" } dd { (duration(mean)) " on average" }
                }
                @if let Some(judging) = judging_text(report) {
                    dt { "The run" } dd { "judged in " (judging) }
                }
            }
        }
    }
}
