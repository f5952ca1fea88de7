//! Rules that decide a comparison in addition to the interval of the score.

use crate::harness::{CommandHarness, TestSimulator};
use serde_json::{Value, json};
use std::fs;

/// Runs without a judge: `base`, and `head` after a change of the manifest's text.
fn unjudged_runs(items: u32, change: impl Fn(String) -> String) -> CommandHarness {
    let harness = CommandHarness::with_items(items);
    harness.juror(&["run", "manifest.jsonl", "--run-id", "base"]).exits(0);
    let manifest = fs::read_to_string(harness.path("manifest.jsonl")).unwrap();
    harness.write("manifest.jsonl", change(manifest));
    harness
}

#[test]
fn code_that_no_longer_compiles_is_a_regression_without_a_judge() {
    let broken = |text: String| text.replace("</button>", "");
    let harness = unjudged_runs(12, broken);
    let run = ["run", "manifest.jsonl", "--run-id", "head", "--baseline", "base"];
    let reported = "Worse: Pipeline Success 100% → 0%";
    harness.juror(&run).exits(100).stdout_contains(&["WORSE", reported]);
    for strict in [&[][..], &["--strict"]] {
        let compare = [&["compare", "base", "head"], strict].concat();
        harness.juror(&compare).exits(100).stdout_contains(&["WORSE", reported]);
    }
    let outputs = ["report", "head", "--baseline", "base", "-o", "out.md", "-o", "out.html"];
    harness.juror(&outputs).exits(100);
    for file in ["out.md", "out.html"] {
        let text = fs::read_to_string(harness.path(file)).unwrap();
        assert!(text.contains(reported), "{file}");
    }
    let comparison = &harness.report("head")["comparison"];
    assert_eq!(comparison["decided_by"][0], "pipeline_success_rate");
    harness.juror(&["compare", "head", "base"]).exits(0).stdout_contains(&["BETTER"]);
    harness.juror(&["compare", "base", "base"]).exits(0).stdout_contains(&["SAME"]);
}

#[test]
fn items_lost_in_the_head_decide() {
    let harness =
        unjudged_runs(12, |text| text.lines().take(9).map(|line| format!("{line}\n")).collect());
    harness.juror(&["run", "manifest.jsonl", "--run-id", "head"]).exits(0);
    let reported = "Inconclusive: Pipeline Success lost in 3 of 12 items";
    let compare = ["compare", "base", "head"];
    harness.juror(&compare).exits(0).stdout_contains(&[reported, "max_lost"]);
    harness.juror(&[&compare[..], &["--strict"]].concat()).exits(4).stdout_contains(&[reported]);
    harness
        .juror(&[&compare[..], &["--max-lost", "0.3"]].concat())
        .exits(0)
        .stdout_contains(&["SAME"]);
    harness
        .juror(&[&compare[..], &["--max-lost", "3"]].concat())
        .exits(2)
        .stderr_contains(&["max_lost"]);
    let found = harness.juror(&[&compare[..], &["--json"]].concat()).exits(0).stdout;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["decided_by"], json!(["lost_items"]));
    assert_eq!(found["lost"][0]["absent"], 3);
}

#[test]
fn pipeline_without_output_is_a_regression_without_a_judge() {
    let harness = unjudged_runs(12, |text| {
        let line = |line: &str| {
            let mut item: Value = serde_json::from_str(line).unwrap();
            item.as_object_mut().unwrap().remove("generated_code");
            format!("{item}\n")
        };
        text.lines().map(line).collect()
    });
    harness.juror(&["run", "manifest.jsonl", "--run-id", "head"]);
    harness
        .juror(&["compare", "base", "head"])
        .exits(100)
        .stdout_contains(&["Worse: Compilation lost in 12 of 12 items"]);
}

#[test]
fn flags_of_a_comparison_need_a_baseline() {
    let harness = CommandHarness::with_items(2);
    let simulator = TestSimulator::new();
    harness
        .judge_run(&simulator, "first", &["--strict"])
        .exits(2)
        .stderr_contains(&["add --baseline RUN"]);
    let margin = harness.judge_run(&simulator, "first", &["--margin", "0.1"]).exits(2);
    margin.stderr_contains(&["--margin needs a comparison"]);
    assert!(!harness.path("runs/first").exists());
    harness.write("juror.toml", "schema = 1\n[compare]\nstrict = true\n");
    harness.judge_run(&simulator, "first", &[]).exits(0);
    harness.juror(&["report", "first", "--strict"]).exits(2).stderr_contains(&["--baseline"]);
    harness.judge_run(&simulator, "second", &["--baseline", "first"]).exits(0);
    harness.juror(&["report", "second", "--strict"]).exits(0);
    harness.resume("second", &["--strict"]).exits(0);
}

#[test]
fn other_samples_of_one_dataset_are_no_evidence_that_nothing_changed() {
    let harness = CommandHarness::with_items(60);
    let sampled = |run: &str, seed: &str| {
        let flags = ["--run-id", run, "--sample", "12", "--seed", seed];
        harness.juror(&[&["run", "manifest.jsonl"], &flags[..]].concat()).exits(0);
    };
    sampled("base", "0");
    sampled("head", "4");
    let compare = ["compare", "base", "head"];
    harness.juror(&compare).exits(0).stdout_contains(&["INCONCLUSIVE", "of 12 items not compared"]);
    harness.juror(&[&compare[..], &["--strict"]].concat()).exits(4);
    let gate = "schema = 1\n[[rule]]\nmetric = \"changes.new.items\"\nat_most = 0\n";
    harness.write("gate.toml", gate);
    let gated = ["run", "--resume", "head", "--baseline", "base", "--gate", "gate.toml"];
    harness.juror(&gated).exits(100).stdout_contains(&["New Items"]);
}
