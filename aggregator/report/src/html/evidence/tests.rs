//! Facts and regions of measured, failed and unmeasured items.

use super::*;
use crate::html::{PairSide, pair_alignment, regions_over};
use indexmap::IndexMap;
use juror_analysis::test_fixtures::{differing, judged};
use juror_types::{
    rubric::builtin_named,
    test_record::finding,
    verdict::{Score, Verdict},
};
use serde_json::json;

#[test]
fn regions_are_numbered_on_both_images_and_link_to_their_facts() {
    let EvidenceOutcome::Measured(evidence) = differing() else { panic!() };
    let sized = Evidence { size: [200, 100], render_size: [200, 100], ..*evidence };
    for side in [PairSide::Screenshot, PairSide::Render] {
        let over = regions_over(&sized, &[], side, "i3-").into_string();
        assert!(over.contains("href=\"#i3-region-1\""), "{over}");
    }
    let outcome = EvidenceOutcome::Measured(Box::new(sized));
    let facts = facts_of(&outcome, &[], Some(3)).into_string();
    assert!(facts.contains("id=\"i3-region-1\""), "{facts}");
    assert!(facts.contains("body &gt; button { background-color: #1D4ED8; }"), "{facts}");
}

#[test]
fn copied_size_is_a_width_and_a_height() {
    let EvidenceOutcome::Measured(evidence) = differing() else { panic!() };
    let written = |value: &str, selector: Option<&str>| {
        let (property, should_be) = (Some("size".to_owned()), Some(value.to_owned()));
        let mut region = EvidenceRegion { property, should_be, ..evidence.regions[0].clone() };
        region.element.as_mut().unwrap().selector = selector.map(str::to_owned);
        repair(&region).unwrap()
    };
    assert_eq!(written("40px", None), "body > button { width: 40px; height: 40px; }");
    let icons = "svg.icon { width: 60px; height: 40px; }";
    assert_eq!(written("60px 40px", Some("svg.icon")), icons);
}

#[test]
fn cited_region_and_its_finding_link_to_each_other() {
    let EvidenceOutcome::Measured(evidence) = differing() else { panic!() };
    let sized = Evidence { size: [200, 100], render_size: [200, 100], ..*evidence };
    let mut verdict = with_two_findings();
    verdict.findings[1].region = Some(1);
    let over = |side| regions_over(&sized, &verdict.findings, side, "i3-").into_string();
    let screenshot = over(PairSide::Screenshot);
    assert!(screenshot.contains("id=\"i3-box-1\" href=\"#i3-finding-2\""), "{screenshot}");
    let render = over(PairSide::Render);
    assert!(render.contains("href=\"#i3-finding-2\"") && !render.contains("id="), "{render}");
    let rubric = builtin_named("semantic-evidence").unwrap().parse().unwrap();
    let found = crate::html::findings(&rubric, &verdict, Some(&sized), "i3-").into_string();
    assert!(found.contains("id=\"i3-finding-2\""), "{found}");
    assert_eq!(found.matches("href=\"#i3-box-1\"").count(), 1, "{found}");
    let outcome = EvidenceOutcome::Measured(Box::new(sized));
    let facts = facts_of(&outcome, &verdict.findings, Some(3)).into_string();
    assert!(facts.contains("href=\"#i3-finding-2\""), "{facts}");
}

fn with_two_findings() -> Verdict {
    let finding = finding("wrong_color", "button", "The button is red");
    let score = Score::Sum {
        semantic_correctness: 0.9,
        scores: IndexMap::new(),
        total_score: 45.0,
        max_score: 50.0,
    };
    let findings = vec![finding.clone(), finding];
    Verdict { findings, ..Verdict::new("semantic-evidence@1", score) }
}

#[test]
fn pair_is_aligned_with_the_measured_offset() {
    let EvidenceOutcome::Measured(evidence) = differing() else { panic!() };
    let (scale, shift, size, render_size) = (2, [8, 4], [200, 100], [90, 40]);
    let (noise, noise_levels) = (0.01, Some(9));
    let evidence = Evidence { scale, shift, size, render_size, noise, noise_levels, ..*evidence };
    let alignment = pair_alignment(Some(&EvidenceOutcome::Measured(Box::new(evidence))));
    let alignment: serde_json::Value = serde_json::from_str(&alignment).unwrap();
    let expected = json!({"scale": 2, "shift": [8, 4], "noise": 0.01, "noise_levels": 9,
        "size": [200, 100], "render_size": [90, 40]});
    assert_eq!(alignment, expected);
    assert_eq!(pair_alignment(None), "{}");
}

#[test]
fn failed_render_has_a_reason() {
    let outcome = EvidenceOutcome::Failed { error: "throws: <x>".into() };
    let facts = facts_of(&outcome, &[], None).into_string();
    assert!(facts.contains("does not render: throws: &lt;x&gt;"), "{facts}");
}

#[test]
fn unmeasured_item_has_a_reason() {
    let result = judged("a", [10; 5], &[], &[]);
    assert!(measured_facts(&result, &[], None).is_none());
    let unmeasured = JobResult { unmeasured: Some("no <browser>".into()), ..result };
    let facts = measured_facts(&unmeasured, &[], None).unwrap().into_string();
    assert!(facts.contains("Not measured: no &lt;browser&gt;"), "{facts}");
}
