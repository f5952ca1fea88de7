//! Runs directories and dataset folders with unexpected content.

use crate::harness::{ApiServer, CommandHarness, Manual};
use serde_json::json;
use std::{fs, process::Command};

/// Replaces a file by a named pipe without a writer.
fn pipe(harness: &CommandHarness, name: &str) {
    let path = harness.path(name);
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn with_free_runs(runs: &[&str]) -> (CommandHarness, ApiServer) {
    let harness = CommandHarness::with_items(1);
    for run in runs {
        harness.juror(&["run", "manifest.jsonl", "--run-id", run]).exits(0);
    }
    let api = ApiServer::open(&harness, &[]);
    (harness, api)
}

#[test]
fn named_pipe_in_a_run_directory_does_not_block_the_server() {
    let (harness, api) = with_free_runs(&["record", "journal", "report", "sound"]);
    pipe(&harness, "runs/record/run.json");
    pipe(&harness, "runs/journal/results.jsonl");
    pipe(&harness, "runs/report/report.json");
    let listed = api.get("/api/v1/runs").has_status(200).json();
    let mut names: Vec<_> =
        listed["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["journal", "report", "sound"]);
    for page in ["/", "/runs", "/runs/sound", "/runs/report"] {
        api.get(page).has_status(200);
    }
    api.get("/runs/journal")
        .has_status(500)
        .body_contains(&["results.jsonl", "not a regular file"]);
    api.get("/api/v1/runs/record").has_status(500).body_contains(&["record/run.json"]);
    api.get("/api/v1/runs/journal").has_status(500);
}

#[test]
fn oversized_report_is_not_read() {
    let (harness, api) = with_free_runs(&["swollen"]);
    let report = fs::OpenOptions::new().write(true).open(harness.path("runs/swollen/report.json"));
    // Sparse: it takes no space, and reading it would take a minute.
    report.unwrap().set_len(1 << 38).unwrap();
    let listed = api.get("/api/v1/runs").has_status(200).json();
    assert_eq!(listed["runs"][0]["figures"], json!(null));
    api.get("/runs/swollen").has_status(200);
    api.request_stop();
    api.finish().exits(0).stderr_contains(&["report.json", "larger than"]);
}

#[test]
fn damaged_run_page_has_the_error_without_paths() {
    let (harness, api) = with_free_runs(&["damaged"]);
    let journal = harness.path("runs/damaged/results.jsonl");
    let results = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, results + "no result\n").unwrap();
    let page = api.get("/runs/damaged").has_status(500);
    let page = page.body_contains(&["damaged/results.jsonl, line 2", "damaged record"]);
    let folder = harness.path("").display().to_string();
    assert!(!String::from_utf8_lossy(&page.body).contains(&folder), "a path of this machine");
}

#[test]
fn missing_runs_directory_is_reported() {
    let harness = CommandHarness::new();
    let api = ApiServer::open(&harness, &["--runs-dir", "mistyped"]);
    api.get("/").has_status(200).body_contains(&["There are no runs yet", "mistyped"]);
    api.request_stop();
    api.finish().exits(0).stderr_contains(&["mistyped", "no such folder"]);
}

#[test]
fn only_datasets_are_offered_in_the_form() {
    let harness = CommandHarness::new();
    harness.copy_golden_set("");
    let api = ApiServer::open(&harness, &[]);
    let form = api
        .get("/start")
        .has_status(200)
        .body_contains(&["\"manifest.jsonl\"", "acrue/manifest.jsonl"]);
    assert!(!String::from_utf8_lossy(&form.body).contains("verdicts.jsonl"));
}

#[test]
fn documented_serve_commands_start_the_server() {
    for page in ["dashboard", "demo"] {
        let harness = CommandHarness::new();
        let manual = Manual::page(page);
        for folder in ["datasets", "examples"] {
            fs::create_dir(harness.path(folder)).unwrap();
        }
        harness.copy_golden_set("examples/golden");
        // Commands that require an installation, which other tests cover.
        harness.write_program("bin/cargo", "#!/bin/sh\n");
        let tokens = harness.path("juror-").display().to_string();
        if let Some(settings) = manual.blocks("toml").first() {
            harness.write("juror.toml", settings.replace("/run/secrets/juror-", &tokens));
            harness.write("juror-read", "a-token-that-reads-0123456789");
            harness.write("juror-write", "a-token-that-writes-0123456789");
        }
        manual.run(&harness, &[]);
        let shown = harness.path("shown");
        assert_eq!(shown.join("tuesday/report.json").is_file(), page == "demo");
    }
}
