//! Commands of a new user's first minutes.

use crate::harness::{CommandHarness, TestSimulator};
use serde_json::Value;
use std::fs;

#[test]
fn init_writes_a_runnable_project_and_overwrites_nothing() {
    let harness = CommandHarness::new();
    let message = ["two example items", "cd quality", "juror estimate dataset/manifest.jsonl"];
    harness.juror(&["init", "quality"]).exits(0).stderr_contains(&message);
    let run = |arguments: &[&str]| {
        let mut command = harness.command(arguments);
        crate::harness::Finished::from(
            command.current_dir(harness.path("quality")).output().unwrap(),
        )
    };
    run(&["run", "dataset/manifest.jsonl"]).exits(0).stderr_contains(&["2 of 2 scored"]);
    let simulator = TestSimulator::new();
    let judged = ["run", "dataset/manifest.jsonl", "--enable-llm-judge", "--base-url"];
    run(&[&judged[..], &[&simulator.base_url()]].concat()).exits(0).stderr_contains(&["of $1.00"]);

    let settings = harness.path("quality/juror.toml");
    fs::write(&settings, "schema = 1").unwrap();
    fs::remove_dir_all(harness.path("quality/dataset")).unwrap();
    harness.juror(&["init", "quality"]).exits(2).stderr_contains(&["quality/juror.toml exists"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), "schema = 1");
    assert!(!harness.path("quality/dataset").exists(), "nothing is written beside what exists");
    let written = harness.juror(&["init", "other", "--json", "--quiet"]).exits(0).stdout;
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["written"][0], "other/juror.toml");
}

#[test]
fn settings_are_printed_as_their_manual_or_as_json() {
    let harness = CommandHarness::new();
    let manual = harness.juror(&["settings"]).exits(0);
    manual.stdout_contains(&["schema = 1", "[judge]", "# "]);
    let values = harness.juror(&["settings", "--json"]).exits(0).stdout;
    let values: Value = serde_json::from_str(&values).unwrap();
    assert_eq!((&values["schema"], &values["run"]["runs_dir"]), (&1.into(), &"runs".into()));
}

#[test]
fn last_line_of_a_run_summarizes_it() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    let judged = harness.judge(&simulator.base_url(), "manifest.jsonl", &["--budget-usd", "1"]);
    let judged = judged.exits(0);
    let last = judged.stderr.lines().last().unwrap();
    let parts = ["3 of 3 scored, Semantic Correctness ", "n=3", "no gate set", " of $1.00"];
    for part in parts {
        assert!(last.contains(part), "{part}: {last}");
    }
    assert!(last.ends_with("; report: runs/first/report.json"), "{last}");
    let free = harness.juror(&["run", "manifest.jsonl", "--run-id", "free"]).exits(0);
    assert!(!free.stderr.lines().last().unwrap().contains('$'), "{}", free.stderr);
    assert!(!free.stderr.contains("without effect"), "{}", free.stderr);
    let unjudged =
        ["run", "manifest.jsonl", "--run-id", "unjudged", "--budget-usd", "1", "--lane", "batch"];
    let warning = "--lane, --budget-usd without effect: no model judges; add --enable-llm-judge";
    harness.juror(&unjudged).exits(0).stderr_contains(&[warning]);
}

#[test]
fn completions_and_manual_pages_name_every_command() {
    let harness = CommandHarness::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        harness.juror(&["completions", shell]).exits(0).stdout_contains(&["estimate", "calibrate"]);
    }
    harness.juror(&["man"]).exits(0).stdout_contains(&[".TH juror 1", "estimate"]);
    harness.juror(&["man", "pages"]).exits(0);
    let page = fs::read_to_string(harness.path("pages/juror-run.1")).unwrap();
    assert!(page.contains("Examples") && page.contains("Exit codes"), "{page}");
    let pages = fs::read_dir(harness.path("pages")).unwrap().count();
    assert!(pages > 20, "{pages} pages");
}
