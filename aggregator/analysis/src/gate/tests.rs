mod decline;
mod invalid;

use super::*;
use crate::{
    history::PastRun,
    metrics::{AveragingPolicy, Tally},
    test_fixtures::{ACRUE, SEMANTIC, differing, judged, rubric},
};
use juror_types::{
    evidence::{Evidence, EvidenceOutcome, EvidenceSource},
    outcome::JobResult,
};

/// A gate of one rule.
fn gate(rule: &str) -> Gate {
    Gate::parse("g", &format!("schema = 1\n[[rule]]\n{rule}")).unwrap()
}

/// Metrics of a judged run with these results.
fn metrics_of(results: impl IntoIterator<Item = JobResult>) -> Vec<Metric> {
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    for (item, result) in results.into_iter().enumerate() {
        tally.add(&result, item);
    }
    tally.finish().0
}

/// Metrics of two items with these scores.
fn metrics(scores: [u32; 5]) -> Vec<Metric> {
    metrics_of([judged("a", scores, &[], &[]), judged("b", scores, &[], &[])])
}

/// The gate's report on a run without measured evidence.
fn evaluate(
    gate: &Gate,
    metrics: &[Metric],
    coverage: &Coverage,
    streak: ApiStreak,
    series: RunSeries<'_>,
) -> GateReport {
    gate.evaluate(metrics, coverage, MeasuredCoverage::default(), streak, series)
}

fn coverage(scored: u64, planned: u64) -> Coverage {
    Coverage { planned, scored, ..Coverage::default() }
}

fn streak(jobs: u64) -> ApiStreak {
    let mut streak = ApiStreak::default();
    (0..jobs).for_each(|_| streak.add_call(false));
    streak
}

fn decision_of(report: &GateReport, metric: &str) -> GateDecision {
    report.rules.iter().find(|rule| rule.metric == metric).unwrap().decision
}

#[test]
fn above_is_strict_and_tolerates_rounding_errors() {
    let nine = gate("metric = \"semantic.avg_visual_similarity\"\nabove = 9.0");
    let judge = |visual| {
        evaluate(&nine, &metrics([visual, 9, 9, 9, 9]), &coverage(2, 2), streak(2), series(&[]))
            .decision
    };
    assert_eq!(judge(9), GateDecision::Missed);
    assert_eq!(judge(10), GateDecision::Met);
    let tokens = gate("metric = \"token_extraction.accuracy\"\nat_least = 0.92");
    assert_eq!(
        evaluate(&tokens, &metrics([9; 5]), &coverage(2, 2), streak(2), series(&[])).decision,
        GateDecision::Met
    );
}

#[test]
fn measured_metric_is_a_rule_and_fails_without_measurements() {
    let gate = gate("metric = \"evidence.pixels_equal\"\nat_least = 0.98");
    let judge = |evidence: Option<EvidenceOutcome>| {
        let metrics = metrics_of([JobResult { evidence, ..judged("a", [10; 5], &[], &[]) }]);
        evaluate(&gate, &metrics, &coverage(1, 1), streak(1), series(&[])).decision
    };
    let equal = Evidence::for_equal_pictures(EvidenceSource::Browser);
    let equal = EvidenceOutcome::Measured(Box::new(equal));
    assert_eq!(judge(Some(equal)), GateDecision::Met);
    assert_eq!(judge(Some(differing())), GateDecision::Missed, "97% of the pixels are equal");
    assert_eq!(judge(None), GateDecision::Missed);
}

#[test]
fn measured_metric_needs_most_of_the_code_to_be_measured() {
    let gate = |min_coverage: &str| {
        let rule = "[[rule]]\nmetric = \"evidence.pixels_equal\"\nat_least = 0.98";
        Gate::parse("g", &format!("schema = 1\n{min_coverage}\n{rule}")).unwrap()
    };
    let judge = |gate: &Gate, measured, unmeasured| {
        let equal = Evidence::for_equal_pictures(EvidenceSource::Browser);
        let evidence = Some(EvidenceOutcome::Measured(Box::new(equal)));
        let metrics = metrics_of([JobResult { evidence, ..judged("a", [10; 5], &[], &[]) }]);
        let measured = MeasuredCoverage { measured, planned: measured + unmeasured };
        gate.evaluate(&metrics, &coverage(100, 100), measured, streak(1), series(&[]))
    };
    assert_eq!(judge(&gate(""), 100, 0).rules.len(), 1, "nothing is missing");
    assert_eq!(judge(&gate(""), 95, 5).decision, GateDecision::Met);
    let given_up = judge(&gate(""), 20, 80);
    assert_eq!(given_up.decision, GateDecision::Missed);
    assert_eq!(decision_of(&given_up, "coverage.measured"), GateDecision::Missed);
    assert_eq!(given_up.rules[1].value, Some(0.2));
    assert_eq!(judge(&gate("min_coverage = 0.15"), 20, 80).decision, GateDecision::Met);
    let other = Gate::load("targets", &rubric(SEMANTIC)).unwrap();
    let other = judge(&other, 20, 80);
    assert!(other.rules.iter().all(|rule| rule.metric != "coverage.measured"));
}

#[test]
fn production_gate_requires_complete_scores_and_100_jobs_without_api_failure() {
    let gate = Gate::load("production", &rubric(SEMANTIC)).unwrap();
    let judge = |scored, planned, streak| {
        evaluate(&gate, &metrics([10; 5]), &coverage(scored, planned), streak, series(&[]))
    };
    assert_eq!(judge(200, 200, streak(200)).decision, GateDecision::Met);
    let few = judge(18, 18, streak(18));
    assert_eq!(few.decision, GateDecision::Undecided);
    assert_eq!(decision_of(&few, "consecutive_without_api_failure"), GateDecision::Undecided);
    let partial = judge(199, 200, streak(200));
    assert_eq!(decision_of(&partial, "coverage.scored"), GateDecision::Missed);
    assert_eq!(partial.decision, GateDecision::Missed);
    let mut broken = streak(99);
    broken.add_call(true);
    (0..99).for_each(|_| broken.add_call(false));
    let broken = judge(200, 200, broken);
    assert_eq!(decision_of(&broken, "consecutive_without_api_failure"), GateDecision::Missed);
}

#[test]
fn rule_without_data_fails() {
    let rubric = rubric(SEMANTIC);
    let empty = Tally::new(&rubric, false, 1, AveragingPolicy::default()).finish().0;
    let report = evaluate(
        &Gate::load("targets", &rubric).unwrap(),
        &empty,
        &coverage(0, 0),
        streak(0),
        series(&[]),
    );
    assert_eq!(report.decision, GateDecision::Missed);
    assert_eq!(report.rules.len(), 8);
    let is_missed = |rule: &RuleReport| {
        rule.value.is_none() && rule.n == 0 && rule.decision == GateDecision::Missed
    };
    assert!(report.rules.iter().all(is_missed));
}

#[test]
fn production_gate_requires_pipeline_success() {
    let metrics = metrics_of((0..100).map(|item| {
        let pipeline_success = Some(item < 80);
        JobResult { pipeline_success, ..judged("a", [10; 5], &[], &[]) }
    }));
    let gate = Gate::load("production", &rubric(SEMANTIC)).unwrap();
    let report = evaluate(&gate, &metrics, &coverage(100, 100), streak(100), series(&[]));
    assert_eq!(decision_of(&report, "pipeline_success_rate"), GateDecision::Missed);
    assert_eq!(decision_of(&report, "semantic.avg_semantic_correctness"), GateDecision::Met);
}

#[test]
fn rule_reports_its_interval_and_may_require_all_of_it() {
    let metrics = metrics_of((0..20).map(|item| judged("a", [7 + item % 3; 5], &[], &[])));
    // The mean is 7.95, its 95 % interval about ±0.4.
    for (bound, position, decision, if_sure) in [
        (7.0, IntervalPosition::Above, GateDecision::Met, GateDecision::Met),
        (7.9, IntervalPosition::Spans, GateDecision::Met, GateDecision::Missed),
        (8.1, IntervalPosition::Spans, GateDecision::Missed, GateDecision::Missed),
        (9.0, IntervalPosition::Below, GateDecision::Missed, GateDecision::Missed),
    ] {
        for (sure, decision) in [(false, decision), (true, if_sure)] {
            let gate = gate(&format!(
                "metric = \"semantic.avg_visual_similarity\"\nat_least = {bound}\nsure = {sure}"
            ));
            let report = evaluate(&gate, &metrics, &coverage(20, 20), streak(20), series(&[]));
            let rule = report.rules[0].clone();
            assert_eq!(rule.interval_position, Some(position), "{bound}");
            assert_eq!((rule.decision, rule.sure), (decision, sure), "{bound}");
            let (low, high) =
                rule.interval.map(|each| (each.low.unwrap(), each.high.unwrap())).unwrap();
            assert!(low < 7.95 && 7.95 < high);
        }
    }
}

#[test]
fn rule_fails_with_fewer_items_than_it_requires() {
    let metrics = metrics_of([judged("a", [9; 5], &[], &[])]);
    for (least, decision) in [(1, GateDecision::Met), (2, GateDecision::Missed)] {
        let gate = gate(&format!(
            "metric = \"semantic.avg_visual_similarity\"\nat_least = 7\nmin_n = {least}"
        ));
        let report = evaluate(&gate, &metrics, &coverage(20, 20), streak(20), series(&[]));
        let rule = &report.rules[0];
        assert_eq!((rule.decision, rule.n, rule.min_n), (decision, 1, Some(least)));
    }
    for metric in ["changes.flaky\"\nat_most = 1", "*\"\nno_decline = true"] {
        let text = format!("schema = 1\n[[rule]]\nmetric = \"{metric}\nmin_n = 5");
        assert!(Gate::parse("g", &text).is_err(), "{metric}");
    }
}

#[test]
fn grading_rubric_gate_uses_the_pass_mark_of_one_item() {
    let gate = Gate::load("targets", &rubric(ACRUE)).unwrap();
    let metric = "semantic.avg_percentage".to_owned();
    let rule = Rule { metric, bound: Bound::AtLeast(70.0), sure: false, min_n: None };
    assert_eq!(gate.rules.first(), Some(&rule));
    assert_eq!(gate.rules.len(), 1, "no figure of code that this rubric does not judge");
}

#[test]
fn latency_is_bounded_from_above() {
    let metrics = metrics_of((0..30).map(|number| {
        let result = judged(&format!("item_{number}"), [9; 5], &[], &[]);
        JobResult { total_latency_ms: 900 + 10 * (number % 20), ..result }
    }));
    let decision = |bound: u32, sure: bool| {
        let rule = format!("metric = \"avg_latency_ms\"\nat_most = {bound}\nsure = {sure}");
        let gate = gate(&rule);
        evaluate(&gate, &metrics, &coverage(30, 30), streak(30), series(&[])).decision
    };
    assert_eq!(decision(990, false), GateDecision::Met);
    assert_eq!(decision(900, false), GateDecision::Missed);
    assert_eq!(decision(990, true), GateDecision::Missed, "the interval spans the bound");
    assert_eq!(decision(1_100, true), GateDecision::Met);
}

#[test]
fn latency_rule_is_undecided_where_all_verdicts_came_from_the_cache() {
    let metrics = metrics_of([JobResult { cached: true, ..judged("a", [9; 5], &[], &[]) }]);
    let gate = gate("metric = \"avg_latency_ms\"\nat_most = 900");
    let decision = |from_cache| {
        let series = RunSeries { earlier: &[], from_cache, simulated: false };
        evaluate(&gate, &metrics, &coverage(1, 1), streak(1), series).decision
    };
    assert_eq!(decision(true), GateDecision::Undecided);
    assert_eq!(decision(false), GateDecision::Missed);
}

fn series(earlier: &[PastRun]) -> RunSeries<'_> {
    RunSeries { earlier, from_cache: false, simulated: false }
}
