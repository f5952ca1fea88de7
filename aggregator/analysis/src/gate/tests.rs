use super::*;
use crate::{
    history::{PastMetric, PastRun, RunFigures},
    metrics::{AveragingPolicy, Tally},
    test_fixtures::{ACRUE, SEMANTIC, differing, judged, rubric},
};
use juror_types::{
    evidence::{Evidence, EvidenceOutcome, EvidenceSource},
    outcome::JobResult,
    usage::Money,
};
use std::collections::BTreeMap;

fn metrics(scores: [u32; 5]) -> Vec<Metric> {
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    tally.add(&judged("a", scores, &[], &[]), 0);
    tally.add(&judged("b", scores, &[], &[]), 1);
    tally.finish().0
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
    let gate = Gate::parse(
        "g",
        "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\nabove = 9.0",
    )
    .unwrap();
    let judge = |visual| {
        evaluate(&gate, &metrics([visual, 9, 9, 9, 9]), &coverage(2, 2), streak(2), series(&[]))
            .decision
    };
    assert_eq!(judge(9), GateDecision::Missed);
    assert_eq!(judge(10), GateDecision::Met);
    let gate = Gate::parse(
        "g",
        "schema = 1\n[[rule]]\nmetric = \"token_extraction.accuracy\"\nat_least = 0.92",
    )
    .unwrap();
    assert_eq!(
        evaluate(&gate, &metrics([9; 5]), &coverage(2, 2), streak(2), series(&[])).decision,
        GateDecision::Met
    );
}

#[test]
fn measured_metric_is_a_rule_and_fails_without_measurements() {
    let gate = Gate::parse(
        "g",
        "schema = 1\n[[rule]]\nmetric = \"evidence.pixels_equal\"\nat_least = 0.98",
    )
    .unwrap();
    let judge = |evidence: Option<EvidenceOutcome>| {
        let rubric = rubric(SEMANTIC);
        let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
        let result = JobResult { evidence, ..judged("a", [10; 5], &[], &[]) };
        tally.add(&result, 0);
        evaluate(&gate, &tally.finish().0, &coverage(1, 1), streak(1), series(&[])).decision
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
        let rubric = rubric(SEMANTIC);
        let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
        let equal = Evidence::for_equal_pictures(EvidenceSource::Browser);
        let evidence = Some(EvidenceOutcome::Measured(Box::new(equal)));
        tally.add(&JobResult { evidence, ..judged("a", [10; 5], &[], &[]) }, 0);
        let measured = MeasuredCoverage { measured, planned: measured + unmeasured };
        gate.evaluate(&tally.finish().0, &coverage(100, 100), measured, streak(1), series(&[]))
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
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    for item in 0..100 {
        let mut result = judged("a", [10; 5], &[], &[]);
        result.pipeline_success = Some(item < 80);
        tally.add(&result, item);
    }
    let gate = Gate::load("production", &rubric).unwrap();
    let report = evaluate(&gate, &tally.finish().0, &coverage(100, 100), streak(100), series(&[]));
    assert_eq!(decision_of(&report, "pipeline_success_rate"), GateDecision::Missed);
    assert_eq!(decision_of(&report, "semantic.avg_semantic_correctness"), GateDecision::Met);
}

#[test]
fn rule_reports_its_interval_and_may_require_all_of_it() {
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    for item in 0..20_u32 {
        tally.add(&judged("a", [7 + item % 3; 5], &[], &[]), item as usize);
    }
    let metrics = tally.finish().0;
    // The mean is 7.95, its 95 % interval about ±0.4.
    for (bound, position, decision, if_sure) in [
        (7.0, IntervalPosition::Above, GateDecision::Met, GateDecision::Met),
        (7.9, IntervalPosition::Spans, GateDecision::Met, GateDecision::Missed),
        (8.1, IntervalPosition::Spans, GateDecision::Missed, GateDecision::Missed),
        (9.0, IntervalPosition::Below, GateDecision::Missed, GateDecision::Missed),
    ] {
        for (sure, decision) in [(false, decision), (true, if_sure)] {
            let text = format!(
                "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\n\
                 at_least = {bound}\nsure = {sure}"
            );
            let gate = Gate::parse("g", &text).unwrap();
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
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    tally.add(&judged("a", [9; 5], &[], &[]), 0);
    let metrics = tally.finish().0;
    for (least, decision) in [(1, GateDecision::Met), (2, GateDecision::Missed)] {
        let text = format!(
            "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\n\
             at_least = 7\nmin_n = {least}"
        );
        let gate = Gate::parse("g", &text).unwrap();
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
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    for number in 0..30 {
        let result = judged(&format!("item_{number}"), [9; 5], &[], &[]);
        let result = JobResult { total_latency_ms: 900 + 10 * (number % 20), ..result };
        tally.add(&result, number as usize);
    }
    let metrics = tally.finish().0;
    let decision = |bound: u32, sure: bool| {
        let rule = format!("metric = \"avg_latency_ms\"\nat_most = {bound}\nsure = {sure}");
        let gate = Gate::parse("g", &format!("schema = 1\n[[rule]]\n{rule}")).unwrap();
        evaluate(&gate, &metrics, &coverage(30, 30), streak(30), series(&[])).decision
    };
    assert_eq!(decision(990, false), GateDecision::Met);
    assert_eq!(decision(900, false), GateDecision::Missed);
    assert_eq!(decision(990, true), GateDecision::Missed, "the interval spans the bound");
    assert_eq!(decision(1_100, true), GateDecision::Met);
}

#[test]
fn latency_rule_is_undecided_where_all_verdicts_came_from_the_cache() {
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    tally.add(&JobResult { cached: true, ..judged("a", [9; 5], &[], &[]) }, 0);
    let metrics = tally.finish().0;
    let text = "schema = 1\n[[rule]]\nmetric = \"avg_latency_ms\"\nat_most = 900";
    let gate = Gate::parse("g", text).unwrap();
    let decision = |from_cache| {
        let series = RunSeries { earlier: &[], from_cache, simulated: false };
        evaluate(&gate, &metrics, &coverage(1, 1), streak(1), series).decision
    };
    assert_eq!(decision(true), GateDecision::Undecided);
    assert_eq!(decision(false), GateDecision::Missed);
}

#[test]
fn invalid_gate_is_an_error_with_its_reason() {
    let semantic = rubric(SEMANTIC);
    let folder = tempfile::tempdir().unwrap();
    for (text, wanted) in [
        (
            "schema = 1\nmin_covrage = 1.0",
            "gate.toml:2: min_covrage: unknown key 'min_covrage'; did you mean 'min_coverage'?",
        ),
        ("schema = 2\nnew_key = 1", "schema 2, but this program reads schema 1"),
        ("schema = 1", "it has no rules"),
        ("schema = 1\nmin_coverage = 95", "share from 0 to 1"),
        ("schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"", "either above or at_least"),
        ("schema = 1\n[[rule]]\nmetric = \"*\"\nabove = 0.5", "require no_decline = true"),
        (
            "schema = 1\n[[rule]]\nmetric = \"avg_latency_ms\"\nat_least = 10",
            "avg_latency_ms is better when it is lower, so its rule needs at_most",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nat_most = 0.9",
            "retrieval.accuracy is better when it is higher, so its rule needs above or at_least",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nmargin = 0.01",
            "gate.toml:4: rule[1].margin: unknown key 'margin'",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nno_decline = true\nanchor_runs = 2",
            "needs anchor_runs from 3 to 200",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nno_decline = true\nfalse_alarm_rate = 5",
            "a false_alarm_rate from 0.01 to 0.5",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nno_decline = true\nanchor_from = \"../x\"",
            "anchor_from",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nabove = 0.5\nno_decline = true",
            "which excludes above",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"avg_latency_ms\"\nno_decline = true",
            "better when it is lower",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.beauty\"\nno_decline = true",
            "no metric \"semantic.beauty\"",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.beauty\"\nabove = 1.0",
            "no metric \"semantic.beauty\"",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nabove = 85",
            "the rule for retrieval.accuracy has above = 85, but retrieval.accuracy ranges from 0 to 1; \
             for 85 % use 0.85",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\nat_least = 10.5",
            "has at_least = 10.5, but semantic.avg_visual_similarity ranges from 0 to 10",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\nat_least = 0.85",
            "ranges from 0 to 10; for 85 % of 10 use 8.5",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nabove = 1.0",
            "use at_least to require the maximum",
        ),
        ("schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nabove = nan", "above = NaN"),
        ("min_coverage = 1.0", "missing field 'schema'; add it"),
    ] {
        let path = folder.path().join("gate.toml");
        std::fs::write(&path, text).unwrap();
        let error = Gate::load(path.to_str().unwrap(), &semantic).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let error = Gate::load("prodution", &semantic).unwrap_err().to_string();
    assert!(error.contains("use `targets`, `production`"), "{error}");
}

fn series(earlier: &[PastRun]) -> RunSeries<'_> {
    RunSeries { earlier, from_cache: false, simulated: false }
}

/// Runs with these values of semantic correctness.
fn earlier(values: &[f64]) -> Vec<PastRun> {
    let run = |value: &f64| {
        let mut run = PastRun {
            record: crate::test_fixtures::record(SEMANTIC, 2),
            figures: RunFigures {
                metrics: BTreeMap::new(),
                planned: 2,
                scored: 2,
                cost_usd: Money::ZERO,
                from_cache: false,
                simulated: false,
                fingerprints: Vec::new(),
                journal_bytes: None,
            },
        };
        let metric = PastMetric { value: *value, n: 2, low: None, high: None };
        run.figures.metrics.insert("semantic.avg_semantic_correctness".to_owned(), metric);
        run
    };
    values.iter().map(run).collect()
}

#[test]
fn decline_from_the_anchor_fails_the_gate() {
    let text = |metric: &str| {
        format!(
            "schema = 1\n[[rule]]\nmetric = \"{metric}\"\nno_decline = true\nanchor_runs = 3\nfalse_alarm_rate = 0.5"
        )
    };
    let gate = Gate::parse("g", &text("semantic.avg_semantic_correctness")).unwrap();
    assert!(gate.watches_declines());
    // Nine points of each criterion are 0.9; the newest run is first.
    let judge = |values: &[f64]| {
        let report =
            evaluate(&gate, &metrics([9; 5]), &coverage(2, 2), streak(2), series(&earlier(values)));
        let rule = report.rules[0].clone();
        (rule.decision, rule.decline.unwrap().runs_since)
    };
    assert_eq!(judge(&[0.9, 0.91, 0.89]), (GateDecision::Met, 1));
    assert_eq!(judge(&[0.9, 0.9, 0.91, 0.89]), (GateDecision::Met, 2));
    assert_eq!(judge(&[0.91, 0.9]), (GateDecision::Undecided, 0));
    assert_eq!(judge(&[]), (GateDecision::Undecided, 0));
    // A long stay far below an anchor of 100 % is no noise.
    let fallen = [&[0.1; 10][..], &[1.0; 3]].concat();
    assert_eq!(judge(&fallen), (GateDecision::Missed, 11));
    let every = Gate::parse("g", &text("*")).unwrap();
    let report =
        evaluate(&every, &metrics([9; 5]), &coverage(2, 2), streak(2), series(&earlier(&fallen)));
    assert_eq!(decision_of(&report, "semantic.avg_semantic_correctness"), GateDecision::Missed);
    assert_eq!(decision_of(&report, "semantic.avg_visual_similarity"), GateDecision::Undecided);
    assert!(report.rules.iter().all(|rule| rule.metric != "avg_latency_ms"));
}

#[test]
fn watched_metric_that_the_run_lacks_fails_the_gate() {
    let gate = |metric: &str| {
        let rule = format!("[[rule]]\nmetric = \"{metric}\"\nno_decline = true");
        Gate::parse("g", &format!("schema = 1\n{rule}")).unwrap()
    };
    let mut past = earlier(&[0.9; 3]);
    for run in &mut past {
        let metric = PastMetric { value: 0.97, n: 2, low: None, high: None };
        run.figures.metrics.insert("evidence.ssim".to_owned(), metric);
    }
    let judge = |metric: &str, planned: u64| {
        let measured = MeasuredCoverage { measured: 0, planned };
        let series = series(&past);
        gate(metric).evaluate(&metrics([9; 5]), &coverage(2, 2), measured, streak(2), series)
    };
    for planned in [0, 2] {
        let named = judge("evidence.ssim_low", planned);
        assert_eq!(decision_of(&named, "evidence.ssim_low"), GateDecision::Missed);
    }
    let unmeasured = judge("*", 2);
    assert_eq!(decision_of(&unmeasured, "evidence.ssim"), GateDecision::Missed);
    assert_eq!(decision_of(&unmeasured, "coverage.measured"), GateDecision::Missed);
    let without_evidence = judge("*", 0);
    assert!(without_evidence.rules.iter().all(|rule| !rule.metric.starts_with("evidence.")));
}

#[test]
fn watched_metric_without_data_fails_the_gate() {
    let gate = Gate::parse("g", "schema = 1\n[[rule]]\nmetric = \"*\"\nno_decline = true").unwrap();
    let empty = Tally::new(&rubric(SEMANTIC), true, 1, AveragingPolicy::default()).finish().0;
    let report = evaluate(&gate, &empty, &coverage(0, 2), streak(2), series(&earlier(&[0.9; 3])));
    assert_eq!(report.rules.len(), 1);
    assert_eq!(decision_of(&report, "semantic.avg_semantic_correctness"), GateDecision::Missed);
}
