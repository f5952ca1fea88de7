use super::*;
use crate::{
    history::{PastMetric, RunFigures},
    metrics::{AveragingPolicy, Tally},
    test_results::{ACRUE, SEMANTIC, judged, rubric},
};
use juror_common::usage::Money;
use std::collections::BTreeMap;

fn metrics(scores: [u32; 5]) -> Vec<Metric> {
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, AveragingPolicy::default());
    tally.add(&judged("a", scores, &[], &[]), 0);
    tally.add(&judged("b", scores, &[], &[]), 1);
    tally.finish().0
}

fn coverage(scored: u64, planned: u64) -> Coverage {
    Coverage { planned, scored, ..Coverage::default() }
}

fn streak(jobs: u64) -> ApiStreak {
    let mut streak = ApiStreak::default();
    (0..jobs).for_each(|_| streak.add(false));
    streak
}

fn decision_of(report: &GateReport, metric: &str) -> Decision {
    report.rules.iter().find(|rule| rule.metric == metric).unwrap().decision
}

#[test]
fn above_means_above_and_a_rounding_error_is_no_gain() {
    let gate = Gate::parse(
        "g",
        "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\nabove = 9.0",
    )
    .unwrap();
    let judge = |visual| {
        gate.judge(&metrics([visual, 9, 9, 9, 9]), &coverage(2, 2), streak(2), &[]).decision
    };
    assert_eq!(judge(9), Decision::Missed);
    assert_eq!(judge(10), Decision::Met);
    let gate = Gate::parse(
        "g",
        "schema = 1\n[[rule]]\nmetric = \"token_extraction.accuracy\"\nat_least = 0.92",
    )
    .unwrap();
    assert_eq!(
        gate.judge(&metrics([9; 5]), &coverage(2, 2), streak(2), &[]).decision,
        Decision::Met
    );
}

#[test]
fn production_wants_everything_scored_and_a_hundred_jobs_without_api_failure() {
    let gate = Gate::load("production", &rubric(SEMANTIC)).unwrap();
    let judge = |scored, planned, streak| {
        gate.judge(&metrics([10; 5]), &coverage(scored, planned), streak, &[])
    };
    assert_eq!(judge(200, 200, streak(200)).decision, Decision::Met);
    let few = judge(18, 18, streak(18));
    assert_eq!(few.decision, Decision::Undecided);
    assert_eq!(decision_of(&few, "consecutive_without_api_failure"), Decision::Undecided);
    let partial = judge(199, 200, streak(200));
    assert_eq!(decision_of(&partial, "coverage.scored"), Decision::Missed);
    assert_eq!(partial.decision, Decision::Missed);
    let mut broken = streak(99);
    broken.add(true);
    (0..99).for_each(|_| broken.add(false));
    let broken = judge(200, 200, broken);
    assert_eq!(decision_of(&broken, "consecutive_without_api_failure"), Decision::Missed);
}

#[test]
fn a_metric_without_data_is_undecided() {
    let rubric = rubric(SEMANTIC);
    let empty = Tally::new(&rubric, false, 1, AveragingPolicy::default()).finish().0;
    let report =
        Gate::load("targets", &rubric).unwrap().judge(&empty, &coverage(0, 0), streak(0), &[]);
    assert_eq!(report.decision, Decision::Undecided);
    assert_eq!(report.rules.len(), 8);
    assert!(report.rules.iter().all(|rule| rule.value.is_none() && rule.n == 0));
}

#[test]
fn a_grading_rubric_must_reach_what_one_item_needs_to_pass() {
    let gate = Gate::load("targets", &rubric(ACRUE)).unwrap();
    let rule = Rule { metric: "semantic.avg_percentage".into(), bound: Bound::AtLeast(70.0) };
    assert_eq!(gate.rules.first(), Some(&rule));
    assert!(gate.rules.iter().all(|rule| rule.metric != "semantic.avg_visual_similarity"));
}

#[test]
fn a_gate_that_cannot_be_understood_is_an_error_that_says_why() {
    let semantic = rubric(SEMANTIC);
    let folder = tempfile::tempdir().unwrap();
    for (text, wanted) in [
        ("schema = 1\nmin_covrage = 1.0", "unknown field `min_covrage`"),
        ("schema = 2\nnew_key = 1", "schema 2, but this program reads schema 1"),
        ("schema = 1", "bounds nothing"),
        ("schema = 1\nmin_coverage = 95", "share from 0 to 1"),
        ("schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"", "either above or at_least"),
        ("schema = 1\n[[rule]]\nmetric = \"*\"\nabove = 0.5", "not_below_median_of_last alone"),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nnot_below_median_of_last = 0",
            "looks at 1 to 1000 runs",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"*\"\nabove = 1\nnot_below_median_of_last = 7",
            "takes one bound, and has two",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"avg_latency_ms\"\nnot_below_median_of_last = 7",
            "better when it is lower",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.beauty\"\nnot_below_median_of_last = 7",
            "no metric \"semantic.beauty\"",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.beauty\"\nabove = 1.0",
            "no metric \"semantic.beauty\"",
        ),
        ("min_coverage = 1.0", "missing field `schema`"),
    ] {
        let path = folder.path().join("gate.toml");
        std::fs::write(&path, text).unwrap();
        let error = Gate::load(path.to_str().unwrap(), &semantic).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let error = Gate::load("prodution", &semantic).unwrap_err().to_string();
    assert!(error.contains("take `targets`, `production`"), "{error}");
}

/// Runs of which each came to this semantic correctness.
fn earlier(values: &[f64]) -> Vec<PastRun> {
    let run = |value: &f64| {
        let mut run = PastRun {
            id: juror_common::id::RunId::new("run"),
            record: crate::test_results::record(SEMANTIC, 2),
            figures: RunFigures {
                metrics: BTreeMap::new(),
                planned: 2,
                scored: 2,
                cost_usd: Money::ZERO,
                simulated: false,
            },
        };
        let metric = PastMetric { value: *value, n: 2, low: None, high: None };
        run.figures.metrics.insert("semantic.avg_semantic_correctness".to_owned(), metric);
        run
    };
    values.iter().map(run).collect()
}

#[test]
fn no_metric_is_worse_than_the_median_of_the_last_runs_beyond_the_margin() {
    let text = |metric: &str| {
        format!(
            "schema = 1\n[[rule]]\nmetric = \"{metric}\"\nnot_below_median_of_last = 5\nmargin = 0.02"
        )
    };
    let gate = Gate::parse("g", &text("semantic.avg_semantic_correctness")).unwrap();
    assert_eq!(gate.earlier_runs(), 5);
    // Nine points of each criterion are 0.9.
    let judge = |values: &[f64]| {
        let report = gate.judge(&metrics([9; 5]), &coverage(2, 2), streak(2), &earlier(values));
        let rule = report.rules[0].clone();
        (rule.decision, rule.earlier.unwrap().median, rule.bound)
    };
    let at_least = |bound| Some(Bound::AtLeast(bound));
    for (values, decision, median, bound) in [
        (&[0.92, 0.9, 0.93][..], Decision::Met, Some(0.92), at_least(0.9)),
        (&[0.93, 0.92, 0.95], Decision::Missed, Some(0.93), at_least(0.91)),
        // An even number has two in the middle; what is older than the last five counts no more.
        (&[0.8, 0.9, 0.94, 0.98], Decision::Met, Some(0.92), at_least(0.9)),
        (
            &[0.8, 0.8, 0.8, 0.8, 0.8, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
            Decision::Met,
            Some(0.8),
            at_least(0.78),
        ),
        (&[1.0, 1.0], Decision::Undecided, Some(1.0), at_least(0.98)),
        (&[], Decision::Undecided, None, None),
    ] {
        assert_eq!(judge(values), (decision, median, bound), "{values:?}");
    }
    let every = Gate::parse("g", &text("*")).unwrap();
    let report = every.judge(&metrics([9; 5]), &coverage(2, 2), streak(2), &earlier(&[1.0; 3]));
    assert_eq!(decision_of(&report, "semantic.avg_semantic_correctness"), Decision::Missed);
    assert_eq!(decision_of(&report, "semantic.avg_visual_similarity"), Decision::Undecided);
    assert!(report.rules.iter().all(|rule| rule.metric != "avg_latency_ms"));
}
