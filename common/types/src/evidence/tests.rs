use super::*;
use serde_json::{Value, json};

fn specified() -> Value {
    json!({
        "schema": 1, "source": "browser", "browser": "Chromium 156", "scale": 1,
        "shift": [0, 0], "frame": {"padding": 24, "color": "#F8FAFC"},
        "size": [320, 200], "render_size": [320, 200], "noise": 0.0,
        "partial": [], "pixels_equal": 0.982, "ssim": 0.97, "ssim_low": 0.81,
        "block_match": 0.99, "block_position": 0.99, "delta_e": 6.1, "explained": 0.97,
        "regions": [{
            "box": [57, 55, 80, 30], "render_box": [57, 55, 80, 30], "share": 0.013,
            "delta_e": 6.1, "kind": "color",
            "element": {
                "tag": "button", "id": null, "text": "Save",
                "path": "body > main > button:nth-child(2)", "box": [57, 55, 80, 30], "alike": 3
            },
            "property": "background-color", "is": "#2563EB", "should_be": "#1D4ED8",
            "explains": 0.97, "alternatives": []
        }],
        "tokens": [{
            "key": "color.primary", "expected": "#1D4ED8",
            "screenshot_delta_e": 0.2, "render_delta_e": 6.1
        }]
    })
}

#[test]
fn specified_record_round_trips() {
    let outcome: EvidenceOutcome = serde_json::from_value(specified()).unwrap();
    let evidence = outcome.measured().unwrap();
    assert_eq!(evidence.source, EvidenceSource::Browser);
    assert_eq!(evidence.regions[0].element.as_ref().unwrap().alike, 3);
    assert_eq!(outcome.error(), None);
    assert_eq!(serde_json::to_value(&outcome).unwrap(), specified());
}

#[test]
fn failure_serializes_as_its_reason() {
    let record = json!({"error": "throws: x is not a function"});
    let outcome: EvidenceOutcome = serde_json::from_value(record.clone()).unwrap();
    assert_eq!(outcome.error(), Some("throws: x is not a function"));
    assert_eq!(outcome.measured(), None);
    assert_eq!(serde_json::to_value(&outcome).unwrap(), record);
}

#[test]
fn incomplete_evidence_is_refused_by_the_missing_field() {
    let mut record = specified();
    record.as_object_mut().unwrap().remove("ssim");
    for (record, missing) in [(record, "`ssim`"), (json!({}), "`schema`")] {
        let error = serde_json::from_value::<EvidenceOutcome>(record).unwrap_err();
        assert!(error.to_string().contains(missing), "{error}");
    }
    assert!(serde_json::from_value::<EvidenceOutcome>(json!("none")).is_err());
}

#[test]
fn image_without_a_page_has_no_elements() {
    let evidence = Evidence::for_equal_pictures(EvidenceSource::Rendered);
    let record = serde_json::to_value(&evidence).unwrap();
    assert_eq!(record["explained"], Value::Null);
    assert_eq!(serde_json::from_value::<Evidence>(record).unwrap(), evidence);
}
