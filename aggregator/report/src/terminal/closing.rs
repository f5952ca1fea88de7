//! Targets, money, time, and what a reader must know.

use super::page::{INDENT, Page, Style, fit, padded};
use crate::{
    phrasing::{
        calls_text, cost_text, estimate_text, judging_text, month_text, rule_certainty,
        rule_decline, rule_texts,
    },
    sanitize::harmless,
};
use juror_analysis::{
    format::{duration, grouped},
    gate::GateDecision,
    item_row::word,
    run_report::Report,
};

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
    let title_width = page.width.saturating_sub(54).clamp(24, 33);
    for rule in &gate.rules {
        let decision = padded(&word(&rule.decision), 10);
        let certainty = rule_certainty(rule).map(|text| format!(", {text}"));
        let (title, value, bound) = rule_texts(report, rule);
        let text = format!(
            "{}{}{}n={}{}",
            padded(&fit(&title, title_width - 1), title_width),
            padded(&value, 8),
            padded(&bound, 11),
            grouped(rule.n),
            certainty.unwrap_or_default(),
        );
        page.line(&[
            (&" ".repeat(INDENT), Style::Plain),
            (&decision, style_of(rule.decision)),
            (&text, Style::Plain),
        ]);
        if let Some(decline) = rule_decline(report, rule) {
            // Plain spaces at the begin of a line are lost where it is broken.
            let indent = "\u{2007}".repeat(2);
            page.wrapped(&format!("{indent}{}", harmless(&decline)), 4, Style::Faint);
        }
    }
}

/// Cost and time of the run, and the error of the estimate.
pub(super) fn cost_and_time(page: &mut Page, report: &Report) {
    page.blank();
    page.heading("COST AND TIME", &[]);
    let cost = &report.cost;
    if report.run.judge.is_some() {
        page.labeled("Cost", LABEL, &cost_text(report));
        if let Some(text) = month_text(cost) {
            page.labeled("All runs", LABEL, &text);
        }
        if let Some(text) = estimate_text(report) {
            page.labeled("Estimate", LABEL, &text);
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
        page.labeled("Tokens", LABEL, &text);
        page.labeled("Calls", LABEL, &calls_text(cost));
    }
    let latency = report.overall.avg_latency_ms;
    let latency = latency.map(|mean| format!("{} a screenshot", duration(mean)));
    let judging = judging_text(report).map(|judging| format!("judged in {judging}"));
    let times: Vec<String> = latency.into_iter().chain(judging).collect();
    if !times.is_empty() {
        page.labeled("Time", LABEL, &times.join(", "));
    }
}

/// Warnings for the reader.
pub(super) fn warnings(page: &mut Page, report: &Report) {
    if report.warnings.is_empty() {
        return;
    }
    page.blank();
    for warning in &report.warnings {
        page.wrapped(&format!("!\u{2007}{}", harmless(warning)), 2, Style::Doubtful);
    }
}

fn style_of(decision: GateDecision) -> Style {
    match decision {
        GateDecision::Met => Style::Good,
        GateDecision::Undecided => Style::Doubtful,
        GateDecision::Missed => Style::Bad,
    }
}
