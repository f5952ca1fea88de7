//! The golden set, drawn by the built-in renderer.

use crate::harness::{Harness, repository};
use juror_services::install;
use serde_json::Value;
use std::fs;

/// Defects that no picture shows.
const INVISIBLE: [&str; 1] = ["missing_accessible_label"];
/// Sound items with a trifle that a picture shows: an icon of 4 px less, a thinner line.
const TRIFLES: [&str; 2] = ["file_upload", "card_stat"];

#[test]
fn every_planted_difference_has_a_region_and_sound_items_are_silent() {
    install::ensure("/usr/bin/chromium", "chromium");
    let harness = Harness::new();
    let stylesheet = repository("examples/golden/page.css");
    let settings = format!("[render]\nstylesheet = \"{stylesheet}\"\n[evidence]\ntrials = 0\n");
    harness.write("juror.toml", settings);
    let manifest = repository("examples/golden/manifest.jsonl");
    harness.juror(&["run", &manifest, "--evidence", "facts", "--run-id", "golden"]).exits(0);
    let items = fs::read_to_string(manifest).unwrap();
    for item in items.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let (id, defect) = (item["id"].as_str().unwrap(), item["defect"].as_str().unwrap());
        let evidence = &harness.result("golden", id)["evidence"];
        if defect == "does_not_parse" {
            assert!(evidence["error"].as_str().unwrap().contains("does not parse"), "{evidence}");
            continue;
        }
        let is_silent = evidence["regions"].as_array().unwrap().is_empty();
        let looks_right = defect == "none" && !TRIFLES.contains(&id) || INVISIBLE.contains(&defect);
        assert_eq!(is_silent, looks_right, "{id}, {defect}: {evidence}");
    }
}
