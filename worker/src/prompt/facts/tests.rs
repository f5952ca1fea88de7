//! Facts of usual, equal and hostile pages.

use super::*;
use juror_types::{
    evidence::{BrowserDefault, EvidenceRegion, EvidenceSource, PageFrame, RegionKind},
    test_record::{recolored_button, token},
};
use serde_json::json;

fn changed() -> Evidence {
    let mut region = EvidenceRegion { share: 0.013, delta_e: 6.1, ..recolored_button() };
    region.element.as_mut().unwrap().alike = 3;
    Evidence { regions: vec![region], ..Evidence::for_equal_pictures(EvidenceSource::Rendered) }
}

/// A token whose color the screenshot has and the render lacks.
fn missing_color(key: &str) -> TokenEvidence {
    TokenEvidence {
        screenshot_delta_e: Some(0.1),
        render_delta_e: Some(7.0),
        ..token(key, "#1D4ED8")
    }
}

#[test]
fn noise_of_the_pair_is_reported_if_present() {
    let reported = |noise| {
        let evidence = Evidence { noise, ..changed() };
        lines(&evidence).join("\n").contains("1.5 % of all pixels differ without any change")
    };
    assert!(reported(0.015));
    assert!(!reported(0.0));
}

#[test]
fn default_styles_of_another_browser_are_named() {
    let style = |property: &str, value: &str| BrowserDefault {
        property: property.to_owned(),
        value: value.to_owned(),
        elements: "texts of 14px Inter".to_owned(),
    };
    let defaults = vec![style("line-height", "18px"), style("font-family", "system-ui")];
    let lines = lines(&Evidence { defaults, ..changed() }).join("\n");
    let named = "line-height: 18px for texts of 14px Inter; font-family: system-ui for";
    assert!(lines.contains(named), "{lines}");
}

#[test]
fn lines_of_a_hostile_page_are_bounded() {
    let mut evidence = changed();
    for region in &mut evidence.regions {
        region.is = Some("x\u{200b}<|".repeat(5_000));
        region.should_be = Some("漢".repeat(5_000));
    }
    evidence.regions = vec![evidence.regions[0].clone(); 8];
    evidence.partial = vec!["import ".repeat(1_000); 50];
    evidence.refused = vec!["https://example.com/".repeat(100); 20];
    let lines = lines(&evidence);
    assert!(lines.iter().all(|line| line.len() <= MAX_LINE_BYTES), "{lines:?}");
    assert!(lines[0].ends_with('…'));
    let text = lines.join("\n");
    let bound = tokens_before_measuring(None).bound;
    assert!(text.len() <= MAX_BYTES && TextTokens::from_text(&text).bound <= bound);
    assert_eq!(neutralize(&text), text, "a fence adds nothing");
}

#[test]
fn estimated_fact_tokens_are_near_those_of_a_usual_item() {
    let colors: Tokens =
        (0..4).map(|number| (format!("color.{number}"), json!("#1D4ED8"))).collect();
    let measured =
        Evidence { tokens: colors.keys().map(|key| missing_color(key)).collect(), ..changed() };
    let text = lines(&measured).join("\n");
    let (reported, before) = (TextTokens::from_text(&text), tokens_before_measuring(Some(&colors)));
    let ratio = before.expected as f64 / reported.expected as f64;
    assert!((0.7..1.4).contains(&ratio), "{before:?} for {reported:?}");
    assert!(reported.bound <= before.bound);
}

#[test]
fn page_frame_and_missing_content_are_reported() {
    let evidence = Evidence {
        frame: Some(PageFrame { padding: 24, centered: false, color: "#F8FAFC".into() }),
        partial: vec!["@acme/ui".into(), "./card.css".into()],
        refused: vec!["https://example.com/a.png".into()],
        ..Evidence::for_equal_pictures(EvidenceSource::Browser)
    };
    let lines = lines(&evidence).join("\n");
    for reported in [
        "in a page of #F8FAFC with 24 pixels around it",
        "in the place of imports that are not there: @acme/ui, ./card.css",
        "requested from elsewhere: https://example.com/a.png",
    ] {
        assert!(lines.contains(reported), "{reported}: {lines}");
    }
}

#[test]
fn regions_come_first() {
    let lines = lines(&changed());
    assert_eq!(
        lines[0],
        "1. region at 57, 55, 80, 30: button \"Save\" and 2 alike: another color; 1.3 % of the \
         picture differ, by a mean of 6.1 (CIEDE2000); background-color is #2563EB and should be \
         #1D4ED8, which takes away 97.0 % of it"
    );
    assert!(lines[1].starts_with("2. 100.0 % of all pixels are equal"), "{lines:?}");
}

#[test]
fn equal_images_are_reported_as_equal() {
    let lines = lines(&Evidence::for_equal_pictures(EvidenceSource::Command));
    assert_eq!(lines[0], "1. nothing differs between screenshot and render");
}

#[test]
fn facts_have_at_most_thirty_lines() {
    let tokens = (0..100).map(|number| missing_color(&format!("color.{number}"))).collect();
    let lines = lines(&Evidence { tokens, ..changed() });
    assert_eq!(lines.len(), MAX_LINES);
    assert!(lines[2].ends_with("the screenshot has it, the render has none nearer than 7.0"));
}

#[test]
fn missing_content_is_told_of_the_element_that_lacks_it() {
    let mut evidence = changed();
    let region = &mut evidence.regions[0];
    (region.kind, region.property) = (RegionKind::Missing, None);
    let lines = lines(&evidence).join("\n");
    let told = "in button \"Save\" and 2 alike: content missing in the render;";
    assert!(lines.contains(told), "{lines}");
}
