//! Renders and evidence of earlier runs, which are kept.

use super::{
    box_in,
    card::{CARD, Card, blank},
};
use crate::harness::Finished;
use serde_json::json;
use std::fs;

#[test]
fn cached_render_needs_no_browser_page() {
    let card = Card::drawn();
    // The cached render is shown instead of a new one.
    let pages = card.kept_records("page");
    assert!(!pages.is_empty());
    let other = juror_types::id::Digest::from_content(&box_in([1; 3]));
    for (path, mut page) in pages {
        page["picture"] = json!(other);
        fs::write(path, page.to_string()).unwrap();
    }
    fs::write(card.0.path(format!("runs/.renders/{other}")), box_in([1; 3])).unwrap();
    let result = card.run("kept", 0);
    assert_eq!(result["evidence"]["render_size"], json!([96, 64]));
}

#[test]
fn unchanged_item_keeps_its_evidence_and_a_changed_one_is_measured() {
    let card = Card::drawn();
    card.write_code(&CARD.replace("#1d4ed8", "#16a34a"), "html");
    let first = card.run("differs", 0)["evidence"].clone();
    assert_eq!(card.run("again", 0)["evidence"], first);
    // The kept evidence is reported instead of another measurement.
    for (path, mut record) in card.kept_records("evidence") {
        record["evidence"]["delta_e"] = json!(77.0);
        fs::write(path, record.to_string()).unwrap();
    }
    let delta_e = |run: &str| card.run(run, 0)["evidence"]["delta_e"].clone();
    assert_eq!(delta_e("kept"), 77.0);
    card.settings("[evidence]\ntrials = 1\n");
    assert_eq!(delta_e("with-fewer-trials"), first["delta_e"]);
    card.settings("");
    card.write("shot.png", blank());
    let blank = delta_e("of-another-screenshot");
    assert!(blank != 77.0 && blank != first["delta_e"], "{blank}");
}

#[test]
fn cached_renders_are_counted_and_cleared_separately_from_replies() {
    let card = Card::drawn();
    let stats = card.0.juror(&["cache", "stats", "--json"]).exits(0);
    let stats = stats.json();
    assert!(stats["renders"]["images"].as_u64().unwrap() >= 1, "{stats}");
    assert!(stats["renders"]["bytes"].as_u64().unwrap() > 100 && stats["replies"] == 0, "{stats}");
    let replies = card.0.juror(&["cache", "clear", "--only", "replies"]).exits(0);
    assert!(!replies.stdout.contains("of rendered code"), "{}", replies.stdout);
    card.0.juror(&["cache", "stats"]).exits(0).stdout_contains(&[
        "0 replies",
        "of rendered code in",
        "runs/.renders",
    ]);
    let renders = card.0.juror(&["cache", "clear", "--only", "renders"]).exits(0);
    assert!(!renders.stdout.contains("replies"), "{}", renders.stdout);
    renders.stdout_contains(&["of rendered code", "removed"]);
    card.0
        .juror(&["cache", "stats"])
        .exits(0)
        .stdout_contains(&["0 images of rendered code in 0 bytes"]);
}

#[test]
fn other_fonts_miss_the_render_cache() {
    let card = Card::drawn();
    let pages = || card.kept_records("page").len();
    let before = pages();
    card.run("again", 0);
    assert_eq!(pages(), before, "the kept drawing is taken");
    card.0.write_program("fc-list", "#!/bin/sh\necho 'other.ttf 0 65536 Other'\n");
    let mut command = card.0.command(&["run", "manifest.jsonl", "--evidence", "facts"]);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", card.0.path(".").display()));
    Finished::from(command.output().unwrap()).exits(0);
    assert_eq!(pages(), before + 1, "the code is rendered again");
}
