//! Phrases of reports for people, in whatever format.

use juror_analysis::{
    format::{counted, decimals, dollars, duration, figure, figure_with, grouped, interval_ends},
    run_facts::{Cost, Coverage, RunSummary},
    run_report::Report,
};
use juror_analysis::{
    gate::{Bound, ChangeList, IntervalPosition, RuleReport},
    history::{DeclineReport, DeclineState},
    issues::StatementGroup,
    metrics::{Metric, MetricDefinition, Provenance, ScoreBands, Unit, title_of},
};
use juror_types::{outcome::ErrorKind, reference::shown, run::DatasetRecord, usage::Money};

/// Mark in the heading and beside every score of a simulated run.
pub(crate) const SIMULATED: &str = "SIMULATED";

/// Whether any deterministic stage has data.
pub fn has_stages(report: &Report) -> bool {
    report.metrics.iter().any(|metric| is_stage(metric) && metric.value.is_some())
}

/// Whether it is a metric of a deterministic stage, or of them all.
pub(crate) fn is_stage(metric: &Metric) -> bool {
    let definition = &metric.definition;
    let is_elsewhere = definition.is_semantic() || definition.is_evidence();
    !is_elsewhere && definition.unit != Unit::Milliseconds
}

/// `2 of 5 scored (40%), 1 without output, 1 unscorable, 1 failed`.
pub fn coverage_text(coverage: &Coverage) -> String {
    let mut text = format!("{} of {} scored", grouped(coverage.scored), grouped(coverage.planned));
    if coverage.planned > 0 && !coverage.is_complete() {
        let share = coverage.scored as f64 / coverage.planned as f64;
        text.push_str(&format!(" ({})", figure(share, Unit::Share)));
    }
    let others = [
        (coverage.no_output, "without output"),
        (coverage.unscorable, "unscorable"),
        (coverage.failed, "failed"),
        (coverage.skipped, "skipped"),
        (coverage.pending, "pending"),
    ];
    for (count, outcome) in others.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!(", {} {outcome}", grouped(count)));
    }
    text
}

/// Which items of a dataset a run judges: `only tags=button`, `a random sample of 50 of 1,000 items
/// (seed 7)`, `the first 10 items`; empty for every item.
pub fn selection_texts(dataset: &DatasetRecord) -> Vec<String> {
    let mut texts: Vec<String> =
        dataset.filters.iter().map(|filter| format!("only {filter}")).collect();
    texts.extend(dataset.sample.map(|sample| {
        let items = sample.items.min(sample.of);
        let of = counted(sample.of, "item");
        let part = format!("a random sample of {} of {of} (seed {})", grouped(items), sample.seed);
        match sample.until_width {
            None => part,
            Some(width) => format!(
                "{part}, which grew until the score's interval was at most {width} wide or nothing \
                 was left to judge; intervals allow for the looks at it"
            ),
        }
    }));
    texts.extend(dataset.limit.map(|limit| format!("the first {}", counted(limit, "item"))));
    texts
}

/// Which part of its dataset a run judged; none for all of it.
pub fn judged_part(report: &Report) -> Option<String> {
    let mut texts = selection_texts(&report.run.dataset);
    texts.extend(report.coverage.errors.get(&ErrorKind::Budget).map(|unjudged| {
        format!(
            "only the first in the dataset's order, since the budget left {} unjudged",
            counted(*unjudged, "job")
        )
    }));
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Message of one of the worst results with an error of this kind.
pub(crate) fn error_example(report: &Report, kind: ErrorKind) -> Option<&str> {
    let mut errors = report.worst.iter().filter_map(|row| row.error.as_ref());
    errors.find(|error| error.kind == kind).map(|error| error.message.as_str())
}

/// `$0.19 of a budget of $1.00`, and what else a reader must know of the money.
pub fn cost_text(report: &Report) -> String {
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
        if let Some(probable) = cost.presumed_probable_usd {
            text.push_str(&format!(", which probably cost {}", dollars(probable)));
        }
    }
    if cost.in_flight_usd > Money::ZERO {
        text.push_str(&format!("; up to {} more in flight", dollars(cost.in_flight_usd)));
    }
    if cost.overrun_usd > Money::ZERO {
        text.push_str(&format!("; {} above what was reserved", dollars(cost.overrun_usd)));
    }
    text
}

/// `12, 1,488 verdicts from the cache`: how much of a run was asked for it.
pub fn calls_text(cost: &Cost) -> String {
    let calls = grouped(cost.calls);
    match cost.cached_verdicts {
        0 => calls,
        cached => format!("{calls}, {} from the cache", counted(cached, "verdict")),
    }
}

/// `this month: $41.20 of $60.00`, over all runs of the ledger; none where that is not known.
pub fn month_text(cost: &Cost) -> Option<String> {
    let month = cost.month?;
    let spent = dollars(month.spent_usd);
    Some(match month.budget_usd {
        Some(cap) => format!("this month: {spent} of {}", dollars(cap)),
        None => format!("this month: {spent}, no cap"),
    })
}

/// `$0.2189 (the run cost 14.9% less), at worst $0.6565`; none without an estimate.
pub(crate) fn estimate_text(report: &Report) -> Option<String> {
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

/// Title, figure and bound of a gate's rule.
pub fn rule_texts(report: &Report, rule: &RuleReport) -> (String, String, String) {
    let metric = report.metrics.iter().find(|metric| metric.definition.path == rule.metric);
    let counts_jobs = rule.metric == "consecutive_without_api_failure";
    let changes = ChangeList::from_path(&rule.metric);
    let with = |value: f64, further: usize| match metric {
        Some(metric) => figure_with(value, metric.definition.unit, further),
        None if counts_jobs || changes.is_some() => grouped(value as u64),
        None => figure_with(value, Unit::Share, further),
    };
    // A figure that misses its bound by little must not read as if it were the bound.
    let bound_value = rule.bound.map(Bound::figure);
    let looks_equal = |(value, bound): (f64, f64)| {
        value.to_bits() != bound.to_bits() && with(value, 0) == with(bound, 0)
    };
    let further = if rule.value.zip(bound_value).is_some_and(looks_equal) { 2 } else { 0 };
    let shown = |value: f64| with(value, further);
    let title = match metric {
        Some(metric) => metric.definition.title.clone(),
        None if counts_jobs => "Jobs without API failure".to_owned(),
        None => match changes {
            Some(list) => list.title().to_owned(),
            None => title_of(rule.metric.trim_end_matches(".scored")),
        },
    };
    let bound = match rule.bound {
        Some(Bound::Above(bound)) => format!("> {}", shown(bound)),
        Some(Bound::AtLeast(bound)) => format!("≥ {}", shown(bound)),
        Some(Bound::AtMost(bound)) => format!("≤ {}", shown(bound)),
        None => "no decline".to_owned(),
    };
    (title, rule.value.map_or_else(|| "no data".to_owned(), shown), bound)
}

/// `[85.1, 91.2] above the bound`: the 95 % interval of a rule's figure, and its position.
pub(crate) fn rule_interval(report: &Report, rule: &RuleReport) -> String {
    let metric = report.metrics.iter().find(|metric| metric.definition.path == rule.metric);
    let Some((metric, range)) = metric.zip(rule.interval) else { return String::new() };
    let position = match rule.interval_position {
        Some(IntervalPosition::Above) => " above the bound",
        Some(IntervalPosition::Spans) => " spans the bound",
        Some(IntervalPosition::Below) => " below the bound",
        None => "",
    };
    let asked = if rule.sure { ", which must lie above it" } else { "" };
    let text = format!("{}{position}{asked}", interval_ends(&range, metric.definition.unit));
    match rule_decline(report, rule) {
        Some(decline) => format!("{text}; {decline}"),
        None => text,
    }
}

/// Anchor and CUSUM of a rule that watches for a decline, in words; absent for other rules.
pub(crate) fn rule_decline(report: &Report, rule: &RuleReport) -> Option<String> {
    let definition = &report.metrics.iter().find(|metric| metric.definition.path == rule.metric)?;
    Some(decline_text(rule.decline.as_ref()?, definition.definition.unit))
}

/// `steady: CUSUM 3.2 of 8.6 over 12 runs since the anchor (90.1% over 20 runs, n-1 to n-20)`.
pub fn decline_text(decline: &DeclineReport, unit: Unit) -> String {
    let DeclineReport { anchor_runs, anchor_runs_wanted, runs_since, .. } = decline;
    let since = counted(*runs_since as u64, "run");
    let sum = match decline.cusum.zip(decline.limit) {
        Some((sum, limit)) => format!("CUSUM {} of {}", decimals(sum, 1), decimals(limit, 1)),
        None => String::new(),
    };
    let mean = decline.anchor_mean.map(|mean| figure(mean, unit)).unwrap_or_default();
    let names = match (&decline.anchor_first, &decline.anchor_last) {
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => String::new(),
    };
    let anchor = format!("the anchor ({mean} over {anchor_runs} runs{names})");
    let text = match decline.state {
        DeclineState::Steady => format!("steady: {sum} over {since} since {anchor}"),
        DeclineState::Declining => format!(
            "declining for {}: {sum} over {since} since {anchor}",
            counted(decline.alarm_runs as u64, "run")
        ),
        DeclineState::AnchorIncomplete => {
            format!("undecided: the anchor has {anchor_runs} of {anchor_runs_wanted} runs")
        }
        DeclineState::AnchorMissing => {
            "undecided: no earlier run of this kind has the name in anchor_from".to_owned()
        }
        DeclineState::TooFewItems => {
            "undecided: too few items of this run have the figure".to_owned()
        }
    };
    match decline.left_out {
        0 => text,
        left_out => {
            format!("{text}; {} with too few items left out", counted(left_out as u64, "run"))
        }
    }
}

/// `sure` or `not sure`: whether the whole interval of a rule's figure lies on one side of the
/// bound.
pub(crate) fn rule_certainty(rule: &RuleReport) -> Option<&'static str> {
    Some(match rule.interval_position? {
        IntervalPosition::Above | IntervalPosition::Below => "sure",
        IntervalPosition::Spans => "not sure",
    })
}

/// Legend of the marks behind the names of metrics, on a terminal.
pub(crate) const LEGEND: &str =
    "(m) measured: computed by a program; (j) judged: the opinion of the vision model";

/// `measured`, `judged` or `measured and judged`: where the figure of a metric comes from.
pub fn provenance_text(report: &Report, definition: &MetricDefinition) -> &'static str {
    match definition.provenance(report.run.judge.is_some()) {
        Provenance::Measured => "measured",
        Provenance::Judged => "judged",
        Provenance::Both => "measured and judged",
    }
}

/// `(m)`, `(j)` or `(m+j)`: the same where columns are narrow.
pub(crate) fn provenance_mark(definition: &MetricDefinition, judged: bool) -> &'static str {
    match definition.provenance(judged) {
        Provenance::Measured => "(m)",
        Provenance::Judged => "(j)",
        Provenance::Both => "(m+j)",
    }
}

/// Note on groups that words decided; none where the judge named all kinds.
pub fn grouping_text(groups: &[StatementGroup]) -> Option<&'static str> {
    let by_words = groups.iter().filter(|group| group.key.grouped_by() == "words").count();
    match by_words {
        0 => None,
        count if count == groups.len() => Some("grouped by their words"),
        _ => Some("grouped by kind and element; where there is no kind, by their words"),
    }
}

/// `(15/18 perfect, 3 with minor issues)`, `(11/16 perfect, 3 minor, 2 major)`.
pub(crate) fn perfection(spread: &ScoreBands) -> String {
    let ScoreBands { perfect, minor, major } = *spread;
    let others = match (minor, major) {
        (0, 0) => String::new(),
        (minor, 0) => format!(", {} with minor issues", grouped(minor)),
        (0, major) => format!(", {} with major issues", grouped(major)),
        (minor, major) => format!(", {} minor, {} major", grouped(minor), grouped(major)),
    };
    // A figure space stands where a line must not break: it breaks behind the comma only.
    let others = others.replace(' ', "\u{2007}").replacen('\u{2007}', " ", 1);
    format!("({}/{} perfect{others})", grouped(perfect), grouped(perfect + minor + major))
}

/// Time for which the run was judged, over how many sessions: `1.34 s`, `2 min 3 s in 2 sessions`.
pub fn judging_text(report: &Report) -> Option<String> {
    let judging = report.run.judging.as_ref()?;
    let sessions = match judging.sessions {
        0 | 1 => String::new(),
        count => format!(" in {count} sessions"),
    };
    Some(format!("{}{sessions}", duration(judging.active_ms as f64)))
}

/// Endpoint of the judge, without what may be a secret.
pub fn endpoint(report: &Report) -> Option<String> {
    endpoint_of(&report.run)
}

/// As [`endpoint`], of a run.
pub(crate) fn endpoint_of(run: &RunSummary) -> Option<String> {
    run.base_url.as_deref().map(|url| shown(url).into_owned())
}
