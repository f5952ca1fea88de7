//! Comparisons of runs whose code was rendered and measured.

use super::*;
use crate::test_results::comparisons::*;
use juror_types::evidence::{Evidence, EvidenceOutcome, EvidenceSource};

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
    assert!(!success.decides && found.warnings[0].contains("by nothing in the base"));
}
