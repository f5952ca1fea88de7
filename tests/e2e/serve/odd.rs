//! Runs directories and folders of datasets that hold what nobody expects there.

use crate::harness::{ApiServer, CommandHarness, Manual, repository, write_items};
use serde_json::json;
use std::{fs, process::Command};

/// Puts a pipe, which nobody ever writes to, in the place of a file.
fn pipe(harness: &CommandHarness, name: &str) {
    let path = harness.path(name);
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn with_free_runs(runs: &[&str]) -> (CommandHarness, ApiServer) {
    let harness = CommandHarness::new();
    write_items(&harness, 1);
    for run in runs {
        harness.juror(&["run", "manifest.jsonl", "--run-id", run]).exits(0);
    }
    let api = ApiServer::open(&harness, &[]);
    (harness, api)
}

#[test]
fn a_pipe_in_the_place_of_a_runs_file_holds_nobody_up() {
    let (harness, api) = with_free_runs(&["record", "journal", "report", "sound"]);
    pipe(&harness, "runs/record/run.json");
    pipe(&harness, "runs/journal/results.jsonl");
    pipe(&harness, "runs/report/report.json");
    let listed = api.get("/api/v1/runs").is(200).json();
    let mut names: Vec<_> =
        listed["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["journal", "report", "sound"]);
    for page in ["/", "/runs", "/runs/sound", "/runs/report"] {
        api.get(page).is(200);
    }
    api.get("/runs/journal").is(500).says(&["results.jsonl", "not a regular file"]);
    api.get("/api/v1/runs/record").is(500).says(&["record/run.json"]);
    api.get("/api/v1/runs/journal").is(500);
}

#[test]
fn an_enormous_report_is_not_read() {
    let (harness, api) = with_free_runs(&["swollen"]);
    let report = fs::OpenOptions::new().write(true).open(harness.path("runs/swollen/report.json"));
    // Sparse: it takes no room, and reading it would take a minute.
    report.unwrap().set_len(1 << 38).unwrap();
    let listed = api.get("/api/v1/runs").is(200).json();
    assert_eq!(listed["runs"][0]["figures"], json!(null));
    api.get("/runs/swollen").is(200);
    api.ask_to_stop();
    api.finish().exits(0).says(&["report.json", "larger than"]);
}

#[test]
fn the_page_of_a_damaged_run_says_what_is_wrong_and_where_no_file_lies() {
    let (harness, api) = with_free_runs(&["damaged"]);
    let journal = harness.path("runs/damaged/results.jsonl");
    let results = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, results + "no result\n").unwrap();
    let page = api.get("/runs/damaged").is(500);
    let page = page.says(&["damaged/results.jsonl, line 2", "damaged record"]);
    let folder = harness.path("").display().to_string();
    assert!(!String::from_utf8_lossy(&page.body).contains(&folder), "a path of this machine");
}

#[test]
fn a_runs_directory_that_is_not_there_is_named() {
    let harness = CommandHarness::new();
    let api = ApiServer::open(&harness, &["--runs-dir", "mistyped"]);
    api.get("/").is(200).says(&["There are no runs yet", "mistyped"]);
    api.ask_to_stop();
    api.finish().exits(0).says(&["mistyped", "no such folder"]);
}

#[test]
fn only_datasets_are_offered_to_be_judged() {
    let harness = CommandHarness::new();
    let golden = [repository("examples/golden/."), harness.path("").display().to_string()];
    assert!(Command::new("cp").arg("-r").args(golden).status().unwrap().success());
    let api = ApiServer::open(&harness, &[]);
    let form = api.get("/start").is(200).says(&["\"manifest.jsonl\"", "acrue/manifest.jsonl"]);
    assert!(!String::from_utf8_lossy(&form.body).contains("verdicts.jsonl"));
}

#[test]
fn every_command_of_the_manuals_pages_opens_the_door() {
    for page in ["dashboard", "demo"] {
        let harness = CommandHarness::new();
        let manual = Manual::page(page);
        for folder in ["datasets", "examples"] {
            fs::create_dir(harness.path(folder)).unwrap();
        }
        let golden =
            [repository("examples/golden"), harness.path("examples").display().to_string()];
        assert!(Command::new("cp").arg("-r").args(golden).status().unwrap().success());
        // What has been installed already, and is tried elsewhere.
        let cargo = harness.write("bin/cargo", "#!/bin/sh\n");
        assert!(Command::new("chmod").arg("+x").arg(cargo).status().unwrap().success());
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
