//! The golden set, rendered by the built-in renderer.

use crate::harness::{CommandHarness, repository};
use juror_services::install;
use serde_json::Value;
use std::fs;

/// A box in pixels of the screenshot: x, y, width, height.
type Place = [u32; 4];

/// Boxes of the planted visual defects by item; where the render has content that the screenshot
/// lacks, its box in the render. Two items are sound except for a minor deviation: the icon of
/// `file_upload` has 36 pixels instead of 40, and the line of `card_stat` is half a pixel too thin.
const DEFECTS: [(&str, &[Place]); 19] = [
    ("button_secondary", &[[109, 38, 102, 44]]),
    ("button_danger", &[[94, 51, 18, 18]]),
    ("button_icon_right", &[[191, 51, 18, 18]]),
    ("form_login", &[[52, 52, 336, 376]]),
    ("form_signup", &[[72, 332, 296, 61]]),
    ("search_bar", &[[54, 50, 20, 20]]),
    ("file_upload", &[[220, 104, 40, 40]]),
    // The shadow below the card.
    ("card_image", &[[40, 389, 320, 16]]),
    ("card_pricing", &[[70, 356, 240, 46]]),
    ("card_profile", &[[148, 63, 84, 84]]),
    ("card_stat", &[[65, 132, 232, 36]]),
    ("sidebar", &[[24, 167, 18, 18]]),
    ("tabs", &[[63, 48, 67, 11]]),
    // The cells above and below the middle row, which does not move.
    ("table_orders", &[[33, 77, 654, 113], [33, 190, 654, 112]]),
    // The text of each badge.
    (
        "badge_set",
        &[[66, 56, 39, 9], [139, 56, 51, 12], [225, 56, 49, 9], [309, 56, 56, 9], [398, 56, 56, 9]],
    ),
    ("empty_state", &[[236, 267, 162, 42]]),
    // The upper and the lower edge of the dialog.
    ("modal_confirm", &[[90, 59, 420, 28], [90, 293, 420, 28]]),
    ("progress_steps", &[[40, 39, 560, 62]]),
    ("comment_thread", &[[53, 64, 40, 40], [105, 170, 40, 40]]),
];

/// Minimum share of a defect's box that one region covers.
const MIN_COVERED: f64 = 0.5;

fn defects(id: &str) -> &'static [Place] {
    DEFECTS.iter().find(|(known, _)| *known == id).map_or(&[], |(_, places)| places)
}

/// Share of a box that a region covers.
fn covered([x, y, width, height]: Place, region: &Value) -> f64 {
    let side = |index: usize| region["box"][index].as_u64().unwrap() as u32;
    let overlap = |start: u32, length: u32, other: u32, other_length: u32| {
        (start + length).min(other + other_length).saturating_sub(start.max(other))
    };
    let [across, down] =
        [overlap(x, width, side(0), side(2)), overlap(y, height, side(1), side(3))];
    f64::from(across * down) / f64::from(width * height)
}

#[test]
fn planted_differences_have_a_region_and_sound_items_have_none() {
    install::ensure("/usr/bin/chromium", "chromium");
    let harness = CommandHarness::new();
    let stylesheet = repository("examples/golden/page.css");
    let settings = format!("[render]\nstylesheet = \"{stylesheet}\"\n[evidence]\ntrials = 0\n");
    harness.write("juror.toml", settings);
    let manifest = repository("examples/golden/manifest.jsonl");
    harness.juror(&["run", &manifest, "--evidence", "facts", "--run-id", "golden"]).exits(0);
    let items = fs::read_to_string(manifest).unwrap();
    let mut placed = 0;
    for item in items.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let (id, defect) = (item["id"].as_str().unwrap(), item["defect"].as_str().unwrap());
        let evidence = &harness.result("golden", id)["evidence"];
        if defect == "does_not_parse" {
            assert!(evidence["error"].as_str().unwrap().contains("does not parse"), "{evidence}");
            continue;
        }
        let regions = evidence["regions"].as_array().unwrap();
        let places = defects(id);
        assert_eq!(regions.is_empty(), places.is_empty(), "{id}, {defect}: {evidence}");
        for place in places {
            let best = regions.iter().map(|region| covered(*place, region)).fold(0.0, f64::max);
            assert!(best >= MIN_COVERED, "{id}: {best} of {place:?}: {evidence}");
            placed += 1;
        }
    }
    assert_eq!(placed, DEFECTS.iter().map(|(_, places)| places.len()).sum::<usize>());
}
