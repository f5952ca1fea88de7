//! Targets, money, time, and what a reader must know.

use super::{
    figures::{counted, decimals, dollars, duration, figure, grouped},
    page::{INDENT, Page, Style, fit, harmless, padded},
};
use crate::{
    gate::{Bound, Decision, EarlierRuns, RuleReport},
    metrics::{Unit, title_of},
    report::{Report, row::word},
};
use juror_common::usage::Money;

const LABEL: usize = 11;

/// Every bound of the gate, with what became of it.
pub(super) fn targets(page: &mut Page, report: &Report) {
    let Some(gate) = &report.targets else { return };
    page.blank();
    let decision = word(&gate.decision);
    let mark = if report.run.simulated { "  SIMULATED" } else { "" };
    page.heading(
        &format!("TARGETS ({}){mark}", harmless(&gate.gate)),
        &[(&decision, style_of(gate.decision))],
    );
    let title_width = page.width.saturating_sub(47).min(33);
    for rule in &gate.rules {
        let decision = padded(&word(&rule.decision), 11);
        let (title, value, bound) = rule_texts(report, rule);
        let text = format!(
            "{}{}{}n={}{}",
            padded(&fit(&title, title_width - 1), title_width),
            padded(&value, 10),
            padded(&bound, 12),
            grouped(rule.n),
            rule.earlier.as_ref().map(earlier_text).unwrap_or_default()
        );
        page.line(&[
            (&" ".repeat(INDENT), Style::Plain),
            (&decision, style_of(rule.decision)),
            (&text, Style::Plain),
        ]);
    }
}

/// Where a bound comes from.
fn earlier_text(earlier: &EarlierRuns) -> String {
    match earlier.runs {
        0 => ", no earlier run".to_owned(),
        1 => ", by 1 earlier run".to_owned(),
        runs => format!(", by {runs} earlier runs"),
    }
}

/// What the run cost, what it took, and how far the estimate was off.
pub(super) fn cost_and_time(page: &mut Page, report: &Report) {
    page.blank();
    page.heading("COST AND TIME", &[]);
    let cost = &report.cost;
    if report.run.judge.is_some() {
        page.labelled("Cost", LABEL, &cost_text(report));
        if let Some(text) = estimate_text(report) {
            page.labelled("Estimate", LABEL, &text);
        }
        let cached = match cost.cached_input_tokens {
            0 => String::new(),
            tokens => format!(" ({} from the provider's cache)", grouped(tokens)),
        };
        let text = format!(
            "{} in{cached}, {} out",
            grouped(cost.input_tokens),
            grouped(cost.output_tokens)
        );
        page.labelled("Tokens", LABEL, &text);
        let mut calls = grouped(cost.calls);
        if cost.cached_verdicts > 0 {
            calls.push_str(&format!(
                ", {} from the cache",
                counted(cost.cached_verdicts, "verdict")
            ));
        }
        page.labelled("Calls", LABEL, &calls);
    }
    let latency = report.overall.avg_latency_ms;
    let latency = latency.map(|mean| format!("{} a screenshot", duration(mean)));
    let elapsed = elapsed_milliseconds(report)
        .map(|elapsed| format!("{} from start to report", duration(elapsed)));
    let times: Vec<String> = latency.into_iter().chain(elapsed).collect();
    if !times.is_empty() {
        page.labelled("Time", LABEL, &times.join(", "));
    }
}

/// What a reader must know.
pub(super) fn warnings(page: &mut Page, report: &Report) {
    if report.warnings.is_empty() {
        return;
    }
    page.blank();
    for warning in &report.warnings {
        page.wrapped(&format!("!\u{2007}{}", harmless(warning)), 2, Style::Doubtful);
    }
}

fn cost_text(report: &Report) -> String {
    let cost = &report.cost;
    let budget = match cost.budget_usd {
        Some(budget) => format!(" of a budget of {}", dollars(budget)),
        None => ", no budget set".to_owned(),
    };
    let mut text = format!("{}{budget}", dollars(cost.total_usd));
    if cost.presumed_usd > Money::ZERO {
        text.push_str(&format!(
            "; of it {} presumed spent by calls that never ended",
            dollars(cost.presumed_usd)
        ));
    }
    if cost.overrun_usd > Money::ZERO {
        text.push_str(&format!("; {} above what was reserved", dollars(cost.overrun_usd)));
    }
    text
}

fn estimate_text(report: &Report) -> Option<String> {
    let mut text = dollars(report.cost.estimated_usd?);
    if let Some(error) = report.cost.estimate_error {
        let percent = decimals(error.abs() * 100.0, 1);
        text.push_str(&match percent.as_str() {
            "0" => " (the run cost as much)".to_owned(),
            _ if error > 0.0 => format!(" (the run cost {percent}% more)"),
            _ => format!(" (the run cost {percent}% less)"),
        });
    }
    if let Some(worst) = report.cost.worst_case_usd {
        text.push_str(&format!(", at worst {}", dollars(worst)));
    }
    Some(text)
}

fn rule_texts(report: &Report, rule: &RuleReport) -> (String, String, String) {
    let metric = report.metrics.iter().find(|metric| metric.definition.path == rule.metric);
    let counts_jobs = rule.metric == "consecutive_without_api_failure";
    let shown = |value: f64| match metric {
        Some(metric) => figure(value, metric.definition.unit),
        None if counts_jobs => grouped(value as u64),
        None => figure(value, Unit::Share),
    };
    let title = match metric {
        Some(metric) => metric.definition.title.clone(),
        None if counts_jobs => "Jobs without API failure".to_owned(),
        None => title_of(rule.metric.trim_end_matches(".scored")),
    };
    let bound = match rule.bound {
        Some(Bound::Above(bound)) => format!("> {}", shown(bound)),
        Some(Bound::AtLeast(bound)) => format!("≥ {}", shown(bound)),
        None => "–".to_owned(),
    };
    (title, rule.value.map_or_else(|| "–".to_owned(), shown), bound)
}

fn style_of(decision: Decision) -> Style {
    match decision {
        Decision::Met => Style::Good,
        Decision::Undecided => Style::Doubtful,
        Decision::Missed => Style::Bad,
    }
}

fn elapsed_milliseconds(report: &Report) -> Option<f64> {
    let start: jiff::Timestamp = report.run.created_at.parse().ok()?;
    let end: jiff::Timestamp = report.run.finished_at.parse().ok()?;
    let elapsed = end.as_millisecond().checked_sub(start.as_millisecond())?;
    (elapsed >= 0).then_some(elapsed as f64)
}
