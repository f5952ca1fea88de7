use super::*;
use crate::{
    metrics::{FailurePolicy, Tally},
    test_results::{ACRUE, SEMANTIC, judged, rubric},
};

fn metrics(scores: [u32; 5]) -> Vec<Metric> {
    let rubric = rubric(SEMANTIC);
    let mut tally = Tally::new(&rubric, true, 1, FailurePolicy::Exclude);
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
    let judge =
        |visual| gate.judge(&metrics([visual, 9, 9, 9, 9]), &coverage(2, 2), streak(2)).decision;
    assert_eq!(judge(9), Decision::Missed);
    assert_eq!(judge(10), Decision::Met);
    let gate = Gate::parse(
        "g",
        "schema = 1\n[[rule]]\nmetric = \"token_extraction.accuracy\"\nat_least = 0.92",
    )
    .unwrap();
    assert_eq!(gate.judge(&metrics([9; 5]), &coverage(2, 2), streak(2)).decision, Decision::Met);
}

#[test]
fn production_wants_everything_scored_and_a_hundred_jobs_without_api_failure() {
    let gate = Gate::load("production", &rubric(SEMANTIC)).unwrap();
    let judge =
        |scored, planned, streak| gate.judge(&metrics([10; 5]), &coverage(scored, planned), streak);
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
    let empty = Tally::new(&rubric, false, 1, FailurePolicy::Exclude).finish().0;
    let report = Gate::load("targets", &rubric).unwrap().judge(&empty, &coverage(0, 0), streak(0));
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
