//! Topic of a gate: every rule with its result.

use crate::{
    document::{Block, FigureCell, FigureColumn, FigureTable, Level, Topic},
    phrasing::decline_text,
};
use juror_analysis::{
    format::{figure_with, grouped, interval_ends},
    gate::{Bound, ChangeList, GateDecision, GateReport, IntervalPosition, RuleReport},
    metrics::{Unit, title_of},
    run_report::Report,
};

/// The topic of this gate, or of some of its rules.
pub fn topic(report: &Report, gate: &GateReport) -> Topic {
    let columns = ["Decision", "Figure", "Must be", "95 % interval", "Sure"].map(FigureColumn::new);
    let columns = columns.into_iter().chain([FigureColumn::wide("Over")]);
    let rows =
        gate.rules.iter().map(|rule| (title(report, rule), Level::Plain, cells(report, rule)));
    let mut blocks = vec![Block::Table(FigureTable::new("Metric", columns, rows))];
    let declines: Vec<_> = gate
        .rules
        .iter()
        .filter_map(|rule| {
            let unit = report.metric(&rule.metric)?.definition.unit;
            Some((title(report, rule), decline_text(rule.decline.as_ref()?, unit)))
        })
        .collect();
    if !declines.is_empty() {
        blocks.push(Block::Pairs(declines));
    }
    Topic {
        name: gate.gate.clone(),
        status: Some((gate.decision.name().to_owned(), level_of(gate.decision))),
        ..Topic::new("targets", "Gate", report.run.simulated, blocks)
    }
}

pub(super) fn level_of(decision: GateDecision) -> Level {
    match decision {
        GateDecision::Met => Level::Good,
        GateDecision::Undecided => Level::Doubtful,
        GateDecision::Missed => Level::Bad,
    }
}

/// Title of the metric of a rule.
pub(super) fn title(report: &Report, rule: &RuleReport) -> String {
    match (report.metric(&rule.metric), ChangeList::from_path(&rule.metric)) {
        (Some(metric), _) => metric.definition.title.clone(),
        (None, Some(list)) => list.title().to_owned(),
        (None, None) if counts_jobs(rule) => "Jobs without API failure".to_owned(),
        (None, None) => title_of(rule.metric.trim_end_matches(".scored")),
    }
}

/// `must be > 85%`: the demand of a rule.
pub(super) fn demand(report: &Report, rule: &RuleReport) -> String {
    match rule.bound {
        Some(_) => format!("must be {}", texts(report, rule).1),
        None => "must not decline".to_owned(),
    }
}

fn cells(report: &Report, rule: &RuleReport) -> Vec<FigureCell> {
    let (value, bound) = texts(report, rule);
    let metric = report.metric(&rule.metric).zip(rule.interval);
    let ends = metric.map(|(metric, range)| interval_ends(&range, metric.definition.unit));
    let sure = match rule.interval_position {
        Some(IntervalPosition::Above | IntervalPosition::Below) => "yes",
        Some(IntervalPosition::Spans) => "no",
        None => "–",
    };
    vec![
        FigureCell::Status(rule.decision.name().to_owned(), level_of(rule.decision)),
        FigureCell::Figure(value),
        FigureCell::Figure(bound),
        FigureCell::optional(ends.filter(|ends| !ends.is_empty()), |ends| ends),
        FigureCell::figure(sure),
        FigureCell::Figure(grouped(rule.n)),
    ]
}

/// Figure and bound of a rule.
fn texts(report: &Report, rule: &RuleReport) -> (String, String) {
    let is_count = counts_jobs(rule) || ChangeList::from_path(&rule.metric).is_some();
    let with = |value: f64, further: usize| match report.metric(&rule.metric) {
        Some(metric) => figure_with(value, metric.definition.unit, further),
        None if is_count => grouped(value as u64),
        None => figure_with(value, Unit::Share, further),
    };
    // A figure that misses its bound by little must not read as if it were the bound.
    let looks_equal = |(value, bound): (f64, f64)| {
        value.to_bits() != bound.to_bits() && with(value, 0) == with(bound, 0)
    };
    let further =
        if rule.value.zip(rule.bound.map(Bound::figure)).is_some_and(looks_equal) { 2 } else { 0 };
    let shown = |value: f64| with(value, further);
    let bound = match rule.bound {
        Some(Bound::Above(bound)) => format!("> {}", shown(bound)),
        Some(Bound::AtLeast(bound)) => format!("≥ {}", shown(bound)),
        Some(Bound::AtMost(bound)) => format!("≤ {}", shown(bound)),
        None => "no decline".to_owned(),
    };
    let sure = if rule.sure { ", sure" } else { "" };
    let least = rule.min_n.map(|least| format!(", n ≥ {}", grouped(least))).unwrap_or_default();
    let bound = format!("{bound}{sure}{least}");
    (rule.value.map_or_else(|| "no data".to_owned(), shown), bound)
}

fn counts_jobs(rule: &RuleReport) -> bool {
    rule.metric == "consecutive_without_api_failure"
}
