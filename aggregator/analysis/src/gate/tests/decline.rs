//! Rules about declines from the level of earlier runs.

use super::*;
use crate::history::{PastMetric, RunFigures};
use juror_types::usage::Money;
use std::collections::BTreeMap;

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
    let watching = |metric: &str| {
        gate(&format!(
            "metric = \"{metric}\"\nno_decline = true\nanchor_runs = 3\nfalse_alarm_rate = 0.5"
        ))
    };
    let gate = watching("semantic.avg_semantic_correctness");
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
    let report = evaluate(
        &watching("*"),
        &metrics([9; 5]),
        &coverage(2, 2),
        streak(2),
        series(&earlier(&fallen)),
    );
    assert_eq!(decision_of(&report, "semantic.avg_semantic_correctness"), GateDecision::Missed);
    assert_eq!(decision_of(&report, "semantic.avg_visual_similarity"), GateDecision::Undecided);
    assert!(report.rules.iter().all(|rule| rule.metric != "avg_latency_ms"));
}

#[test]
fn watched_metric_that_the_run_lacks_fails_the_gate() {
    let mut past = earlier(&[0.9; 3]);
    for run in &mut past {
        let metric = PastMetric { value: 0.97, n: 2, low: None, high: None };
        run.figures.metrics.insert("evidence.ssim".to_owned(), metric);
    }
    let judge = |metric: &str, planned: u64| {
        let measured = MeasuredCoverage { measured: 0, planned };
        let series = series(&past);
        let gate = gate(&format!("metric = \"{metric}\"\nno_decline = true"));
        gate.evaluate(&metrics([9; 5]), &coverage(2, 2), measured, streak(2), series)
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
    let gate = gate("metric = \"*\"\nno_decline = true");
    let report =
        evaluate(&gate, &metrics_of([]), &coverage(0, 2), streak(2), series(&earlier(&[0.9; 3])));
    assert_eq!(report.rules.len(), 1);
    assert_eq!(decision_of(&report, "semantic.avg_semantic_correctness"), GateDecision::Missed);
}
