//! Supported kinds of datasets, each judged through the command.

use crate::harness::{CommandHarness, RunningCommand, TestSimulator, pico, png};
use serde_json::json;
use std::{ffi::OsStr, fs, os::unix::ffi::OsStrExt as _, path::Path};

/// Judges a dataset of two items and returns their ids.
fn judged(harness: &CommandHarness, dataset: &str, flags: &[&str]) -> Vec<String> {
    let simulator = TestSimulator::new();
    harness
        .judge(&simulator.base_url(), dataset, flags)
        .exits(0)
        .stdout_contains(&["2 of 2 scored"]);
    assert_eq!(simulator.requests(), 2);
    assert_eq!(simulator.bill(), pico(&harness.report("first")["cost"]["total_usd"]));
    let mut ids: Vec<String> = harness
        .journal("first")
        .iter()
        .map(|result| result["screenshot_id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

#[test]
fn folder_of_pairs_is_judged() {
    let harness = CommandHarness::new();
    for number in 1..=2 {
        harness.write(&format!("pairs/{number}.png"), png(number, 8, 8));
    }
    harness.write("pairs/1.tsx", "export const A = () => <b>text</b>;");
    harness.write("pairs/2.html", "<p>text</p>");
    harness.write("pairs/1.tokens.json", json!({"size": "8px"}).to_string());
    assert_eq!(judged(&harness, "pairs", &[]), ["1", "2"]);
}

#[test]
fn folder_with_metadata_is_judged() {
    let harness = CommandHarness::new();
    let mut lines = String::new();
    for (number, source) in [(1, "figma"), (2, "figma"), (3, "hand")] {
        let name = format!("shot{number}.png");
        harness.write(&format!("folder/{name}"), png(number, 8, 8));
        let line = json!({"file_name": name, "generated_code": "<p>a</p>", "source": source});
        lines.push_str(&format!("{line}\n"));
    }
    harness.write("folder/metadata.jsonl", lines);
    assert_eq!(judged(&harness, "folder", &["--filter", "source=figma"]), ["shot1", "shot2"]);
}

#[test]
fn csv_table_is_judged() {
    let harness = CommandHarness::new();
    harness.write("shots/a.png", png(1, 8, 8));
    let rows = "id,screenshot,generated_code,quality_score\r\n\
                first,shots/a.png,\"<p>one, \"\"two\"\"</p>\",0.5\r\n\
                second,shots/a.png,<b>b</b>,\r\n";
    harness.write("table.csv", format!("\u{feff}{rows}"));
    assert_eq!(judged(&harness, "table.csv", &[]), ["first", "second"]);
    let wrong = rows.replace("0.5", "much");
    harness.write("table.csv", wrong);
    let run = ["run", "table.csv", "--run-id", "second"];
    harness.juror(&run).exits(2).stderr_contains(&["table.csv, line 2: field \"quality_score\""]);
}

#[test]
fn folder_with_an_unrecordable_name_is_refused_before_any_call() {
    let harness = CommandHarness::new();
    let simulator = TestSimulator::new();
    let folder = harness.path(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("1.png"), png(1, 8, 8)).unwrap();
    fs::write(folder.join("1.html"), "<p>text</p>").unwrap();
    for (current, dataset) in [(harness.path(""), &*folder), (folder.clone(), Path::new("."))] {
        let mut command = harness.judging(&simulator.base_url(), "--quiet", &[]);
        command.current_dir(current).arg(dataset);
        let refused = RunningCommand::start(command).finish().exits(2);
        refused.stderr_contains(&[
            "caf\\xE9",
            "is not valid UTF-8",
            "rename it, or copy the dataset",
        ]);
    }
    assert_eq!(simulator.requests(), 0);
}

#[test]
fn dry_run_warns_of_dataset_weaknesses() {
    let harness = CommandHarness::new();
    harness.write("1.png", png(1, 8, 8));
    let item = |id: &str, cluster: &str| {
        json!({"id": id, "screenshot": "1.png", "generated_code": "<b/>\n", "cluster": cluster})
            .to_string()
            + "\n"
    };
    let dry = |name: &str, text: String| {
        harness.write(name, text);
        harness.juror(&["run", name, "--dry-run"])
    };
    let one = dry("one.jsonl", item("a", "cards") + &item("b", "cards")).exits(0);
    one.stderr_contains(&["all 2 items are in cluster \"cards\"", "name at least two clusters"]);
    let blank = dry("blank.jsonl", item("a", "") + &item("b", "")).exits(0);
    assert!(!blank.stderr.contains("cluster"), "{}", blank.stderr);
    let remote =
        json!({"id": "a", "screenshot": "https://example.com/1.png", "generated_code": "<b/>"});
    dry("remote.jsonl", remote.to_string()).exits(0).stdout_contains(&[
        "1 of 1 items are valid and would be judged in 1 job,",
        "Of these, 1 item cannot be read by this process.",
    ]);
    fs::create_dir(harness.path("code")).unwrap();
    harness.write("code/App.tsx", "");
    for code in ["code/App.vue", "code/App"] {
        let path = json!({"id": "a", "screenshot": "1.png", "generated_code": code});
        let refusal = format!("field \"generated_code\": {code:?} looks like a path");
        dry("path.jsonl", path.to_string()).exits(2).stderr_contains(&[&refusal]);
    }
}
