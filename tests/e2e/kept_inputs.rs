//! `--keep-inputs`: judged inputs are stored and shown after the dataset has changed.

use crate::harness::{ApiServer, CommandHarness, TestSimulator, png};
use juror_types::id::Digest;
use serde_json::{Value, json};
use std::fs;

const REMARK: &str = "changed since; shown as it was judged";

/// A dataset of one item with a file for each input.
fn write_one(harness: &CommandHarness) {
    harness.write("shot.png", png(1, 64, 32));
    harness.write("a.tsx", "\u{feff}export const A = () => <b>judged</b>;");
    harness.write("t.json", r#"{"gap": {"small": "4px"}}"#);
    let line = json!({"id": "a", "screenshot": "shot.png", "generated_code": "a.tsx",
                      "expected_tokens": "t.json", "extracted_tokens": {"gap.small": "5px"},
                      "expected_pattern": "card"});
    harness.write("manifest.jsonl", format!("{line}\n"));
}

fn page(harness: &CommandHarness) -> String {
    harness.juror(&["report", "r", "-o", "page.html"]).exits(0);
    fs::read_to_string(harness.path("page.html")).unwrap()
}

fn kept(harness: &CommandHarness) -> Vec<String> {
    let entries = fs::read_dir(harness.path("runs/r/inputs")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Dashboard data of the item, and its image.
fn shown(api: &ApiServer) -> (Value, Vec<u8>) {
    let mut item = api.get("/api/v1/runs/r/items/a").has_status(200).json();
    item["remarks"].take();
    let url = item["images"][0]["url"].as_str().unwrap().to_owned();
    (item, api.get(&url).has_status(200).body)
}

#[test]
fn judged_inputs_are_shown_after_changes_and_removal() {
    let harness = CommandHarness::new();
    write_one(&harness);
    let simulator = TestSimulator::new();
    harness.judge_run(&simulator, "r", &["--keep-inputs"]).exits(0);
    let contents = [
        png(1, 64, 32),
        b"export const A = () => <b>judged</b>;".to_vec(),
        br#"{"gap.small":"4px"}"#.to_vec(),
        br#"{"gap.small":"5px"}"#.to_vec(),
    ];
    let mut names = contents.map(|bytes| Digest::from_content(&bytes).to_string());
    names.sort();
    assert_eq!(kept(&harness), names);
    let api = ApiServer::open(&harness, &[]);
    let (judged, image) = shown(&api);
    assert_eq!(image, png(1, 64, 32));
    assert!(!page(&harness).contains(REMARK), "nothing has changed yet");

    harness.write("shot.png", png(2, 64, 32));
    harness.write("a.tsx", "export const A = () => <b>newer</b>;");
    harness.write("t.json", r#"{"gap": {"small": "9px"}}"#);
    let changed = page(&harness);
    assert_eq!(changed.matches(REMARK).count(), 2, "picture and code");
    assert!(changed.contains("&lt;b&gt;judged&lt;/b&gt;") && !changed.contains("newer"));
    assert_eq!(shown(&api), (judged.clone(), image.clone()));
    let remarks = api.get("/api/v1/runs/r/items/a").has_status(200).json()["remarks"].to_string();
    for part in ["screenshot", "code", "tokens", "prompt"] {
        assert!(remarks.contains(&format!("\"{part}: {REMARK}\"")), "{part}: {remarks}");
    }
    api.get("/runs/r/items/a").has_status(200).body_contains(&[REMARK, "judged", "4px"]);

    for name in ["shot.png", "a.tsx", "t.json", "manifest.jsonl"] {
        fs::remove_file(harness.path(name)).unwrap();
    }
    let gone = page(&harness);
    assert!(gone.contains("cannot be read on this machine; shown as it was judged"), "{gone}");
    assert!(gone.contains("&lt;b&gt;judged&lt;/b&gt;") && gone.contains("data:image/png"));
    assert_eq!(shown(&api), (judged, image));
}

#[test]
fn unstorable_input_pauses_the_run_before_any_cost_until_resumed() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    // A folder blocks the path at which the first screenshot would be stored.
    let blocked = format!("runs/r/inputs/{}", Digest::from_content(&png(0, 64, 32)));
    harness.write("runs/r/.lock", "");
    fs::create_dir_all(harness.path(&blocked)).unwrap();
    let paused = harness.judge_run(&simulator, "r", &["--keep-inputs", "-j", "1"]);
    paused.exits(1).stderr_contains(&[
        "inputs cannot be kept in",
        "free some space, or check the folder's permissions",
    ]);
    assert_eq!(simulator.requests(), 0);
    fs::remove_dir(harness.path(&blocked)).unwrap();

    harness.resume("r", &[]).exits(0).stdout_contains(&["3 of 3 scored"]);
    // Three screenshots, three code texts, and the tokens shared by all items, in both variants.
    assert_eq!(kept(&harness).len(), 8);
    for name in kept(&harness) {
        let bytes = fs::read(harness.path(format!("runs/r/inputs/{name}"))).unwrap();
        assert_eq!(Digest::from_content(&bytes).to_string(), name);
    }
    let url = simulator.base_url();
    harness.juror(&["report", "r", "-o", "runs/r/inputs/report.html"]).exits(2);
    let without = ["manifest.jsonl", "--enable-llm-judge", "--base-url", &url];
    harness.resume("plain", &without).exits(0);
    assert!(!harness.path("runs/plain/inputs").exists());
}

#[test]
fn pipeline_output_code_is_stored_and_shown() {
    let harness = CommandHarness::with_items(1);
    let answer = r#"{"generated_code": "export const Made = 1;", "language": "ts"}"#;
    let settings =
        format!("[run]\nkeep_inputs = true\n[stages]\npipeline_command = [\"echo\", '{answer}']\n");
    harness.write("juror.toml", settings);
    harness.juror(&["run", "manifest.jsonl", "--run-id", "r"]).exits(0);
    let page = page(&harness);
    assert!(page.contains("export const Made = 1;") && !page.contains("No code"), "{page}");
    assert!(page.contains("Generated code (ts)"));
}

#[test]
fn fleet_reports_that_inputs_are_not_stored() {
    let harness = CommandHarness::with_items(1);
    let refused = "a fleet's run cannot keep inputs";
    harness
        .juror(&["enqueue", "manifest.jsonl", "--keep-inputs"])
        .exits(2)
        .stderr_contains(&[refused]);
    harness.write("juror.toml", "[run]\nkeep_inputs = true\n");
    harness.juror(&["enqueue", "manifest.jsonl"]).exits(2).stderr_contains(&[refused]);
}
