//! Comparisons of runs whose code was rendered and measured.

use super::*;
use crate::test_fixtures::{SEMANTIC, comparisons::*};
use juror_types::{
    evidence::{Evidence, EvidenceOutcome, EvidenceSource},
    outcome::JobResult,
    run::RunRecord,
};
use serde_json::json;

const PIXELS: &str = "evidence.pixels_equal";

/// Twenty items rendered by a browser with about this share of equal pixels.
fn drawn(browser: &str, pixels_equal: f64) -> Vec<JobResult> {
    let mut results = twenty(0);
    for (number, result) in results.iter_mut().enumerate() {
        result.evidence = Some(EvidenceOutcome::Measured(Box::new(Evidence {
            browser: Some(browser.to_owned()),
            pixels_equal: pixels_equal - 0.001 * (number % 3) as f64,
            ..Evidence::for_equal_pictures(EvidenceSource::Browser)
        })));
    }
    results
}

fn pixels(comparison: &Comparison) -> (Decision, bool, Option<f64>) {
    let mut metrics = comparison.metrics.iter();
    let found = metrics.find(|metric| metric.metric == PIXELS).unwrap();
    (found.decision, found.decides, found.difference.difference)
}

#[test]
fn measured_metrics_are_paired_and_decide() {
    let found = compared(drawn("Chromium 155", 1.0), drawn("Chromium 155", 0.9), RULES);
    assert_eq!(pixels(&found), (Decision::Worse, true, Some(-0.1)));
    assert_eq!((found.decision, &found.decided_by[..]), (Decision::Worse, &[PIXELS.into()][..]));
    assert_eq!(found.warnings, [""; 0]);
}

#[test]
fn different_browser_or_source_is_a_warning_and_measurements_are_informative() {
    let found = compared(drawn("Chromium 155", 1.0), drawn("Chromium 156", 0.9), RULES);
    let (_, decides, difference) = pixels(&found);
    assert_eq!((decides, difference), (false, Some(-0.1)));
    assert_eq!(found.decision, Decision::Same, "{}", found.reason);
    let [warning] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
    assert!(warning.contains("by Chromium 155 in the base and by Chromium 156 in the head"));

    let mut given = drawn("", 0.9);
    for result in &mut given {
        let Some(EvidenceOutcome::Measured(evidence)) = &mut result.evidence else { panic!() };
        (evidence.source, evidence.browser) = (EvidenceSource::Rendered, None);
    }
    let found = compared(drawn("Chromium 155", 1.0), given, RULES);
    assert_eq!(found.decision, Decision::Same, "{}", found.reason);
    assert!(found.warnings[0].contains("by pictures of the dataset in the head"));
}

#[test]
fn renderers_of_one_browser_differ_by_their_digest() {
    let drawn_by = |renderer: &str, pixels_equal: f64| {
        let mut results = drawn("Chromium 155", pixels_equal);
        for result in &mut results {
            let Some(EvidenceOutcome::Measured(evidence)) = &mut result.evidence else { panic!() };
            evidence.renderer = Some(renderer.to_owned());
        }
        results
    };
    let same = compared(drawn_by("aa11", 1.0), drawn_by("aa11", 0.9), RULES);
    assert_eq!((same.decision, same.warnings.len()), (Decision::Worse, 0));
    let other = compared(drawn_by("aa11", 1.0), drawn_by("bb22", 0.9), RULES);
    assert_eq!(other.decision, Decision::Same, "{}", other.reason);
    assert!(other.warnings[0].contains("Chromium 155 (aa11) in the base"), "{:?}", other.warnings);
}

#[test]
fn fleets_with_the_same_many_browsers_are_comparable_in_any_order() {
    let drawn_by = |number: fn(usize) -> usize| {
        let mut results = drawn("", 1.0);
        for (place, result) in results.iter_mut().enumerate() {
            let Some(EvidenceOutcome::Measured(evidence)) = &mut result.evidence else { panic!() };
            evidence.browser = Some(format!("Chromium {}", number(place)));
        }
        results
    };
    let found = compared(drawn_by(|place| place), drawn_by(|place| 19 - place), RULES);
    assert_eq!(found.warnings, [""; 0]);
    let found = compared(drawn_by(|place| place), drawn_by(|place| place.min(18)), RULES);
    assert!(found.warnings[0].contains("and 12 more in the base"), "{:?}", found.warnings);
}

#[test]
fn newly_failing_renders_decide_unless_nothing_rendered_before() {
    let mut broken = drawn("Chromium 155", 1.0);
    for result in &mut broken {
        result.evidence = Some(EvidenceOutcome::Failed { error: "throws: x".to_owned() });
        result.pipeline_success = Some(false);
        result.generation.as_mut().unwrap().renders = Some(false);
    }
    let found = compared(drawn("Chromium 155", 1.0), broken.clone(), RULES);
    assert_eq!(found.decision, Decision::Worse, "{}", found.reason);
    assert_eq!(found.warnings, [""; 0]);
    let found = compared(twenty(0), broken, RULES);
    let success = found.passes.iter().find(|rate| rate.metric == "pipeline_success_rate").unwrap();
    assert!(!success.decides && found.warnings[0].contains("by no renderer in the base"));
}

/// A run without a judge of twenty items, the first of which has this lowest similarity.
fn measured(browser: &str, ssim_low: f64) -> (RunRecord, Vec<JobResult>) {
    let mut results = drawn(browser, 1.0);
    results.iter_mut().for_each(|result| result.semantic = None);
    let Some(EvidenceOutcome::Measured(evidence)) = &mut results[0].evidence else { panic!() };
    evidence.ssim_low = ssim_low;
    (RunRecord { judge: None, ..run_of(SEMANTIC, 1, &results) }, results)
}

#[test]
fn item_whose_evidence_fell_is_worse_where_neither_run_was_judged() {
    let compared = |browser, ssim_low| {
        let base = measured("Chromium 155", 0.9);
        compared_as(base, measured(browser, ssim_low), RULES).unwrap()
    };
    let found = compared("Chromium 155", 0.4);
    let [worse] = &found.changes.worse.items[..] else { panic!("{:?}", found.changes) };
    assert_eq!((worse.id.as_str(), worse.base, worse.head), ("shot_000", Some(0.9), Some(0.4)));
    assert_eq!((found.items.regressed.len(), found.items.regressed[0].difference), (1, -0.5));
    assert!(found.changes.by_evidence);

    let better = compared("Chromium 155", 1.0);
    assert_eq!((better.changes.worse.items.len(), better.items.improved.len()), (0, 1));
    let other_browser = compared("Chromium 156", 0.4);
    assert_eq!(other_browser.changes.worse.items, []);
    assert_eq!(other_browser.items.regressed, []);
}

#[test]
fn item_in_which_something_differs_anew_is_worse_even_if_it_is_as_similar() {
    let (record, mut results) = measured("Chromium 155", 1.0);
    let Some(EvidenceOutcome::Measured(evidence)) = &mut results[0].evidence else { panic!() };
    let region = json!({
        "box": [0, 0, 9, 9], "render_box": [0, 0, 9, 9], "share": 0.1, "delta_e": 20.0,
        "kind": "color",
    });
    evidence.regions = vec![serde_json::from_value(region).unwrap()];
    let base = measured("Chromium 155", 1.0);
    let found = compared_as(base, (record.clone(), results.clone()), RULES).unwrap();
    let [worse] = &found.changes.worse.items[..] else { panic!("{:?}", found.changes) };
    assert_eq!((worse.id.as_str(), worse.base, worse.head), ("shot_000", Some(1.0), Some(1.0)));
    let same = compared_as((record.clone(), results.clone()), (record, results), RULES).unwrap();
    assert_eq!(same.changes.worse.items, []);
}

#[test]
fn verdicts_and_not_evidence_are_the_scores_of_judged_runs() {
    let head = || {
        let mut head = drawn("Chromium 155", 1.0);
        let Some(EvidenceOutcome::Measured(evidence)) = &mut head[0].evidence else { panic!() };
        evidence.ssim_low = 0.4;
        head
    };
    let found = compared(drawn("Chromium 155", 1.0), head(), RULES);
    assert!(!found.changes.by_evidence && found.changes.worse.items.is_empty());
    let unjudged = measured("Chromium 155", 0.4);
    let one_judged = compared_as((run_of(SEMANTIC, 1, &head()), head()), unjudged, RULES).unwrap();
    assert!(!one_judged.changes.by_evidence && one_judged.changes.worse.items.is_empty());
}

#[test]
fn items_that_were_not_measured_are_no_faults_of_the_code() {
    let without_judge = |results: Vec<JobResult>| {
        let record = RunRecord { judge: None, ..run_of(SEMANTIC, 1, &results) };
        (record, results)
    };
    let mut half = drawn("Chromium 155", 1.0);
    for result in half.iter_mut().take(10) {
        (result.evidence, result.unmeasured) = (None, Some("the browser ended".to_owned()));
    }
    let whole = || without_judge(drawn("Chromium 155", 1.0));
    let found = compared_as(whole(), without_judge(half), RULES).unwrap();
    assert_eq!(found.decision, Decision::Inconclusive, "{}", found.reason);
    assert!(found.lost.iter().all(|lost| lost.failing == 0), "{:?}", found.lost);

    let mut none = drawn("Chromium 155", 1.0);
    for result in &mut none {
        (result.evidence, result.unmeasured) = (None, Some("no browser".to_owned()));
    }
    let found = compared_as(whole(), without_judge(none), RULES).unwrap();
    assert_eq!(found.decision, Decision::Inconclusive, "{}", found.reason);
    assert!(found.has_too_few_pairs && found.decided_by.contains(&"evidence".to_owned()));
}
