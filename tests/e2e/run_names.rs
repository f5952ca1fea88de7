//! A run's name stands for its money and its results.

use crate::harness::{CommandHarness, TestSimulator, write_items};
use juror_simulator::SimulatorConfig;
use std::fs;

#[test]
fn a_name_whose_directory_is_gone_is_not_taken_for_a_new_run() {
    let simulator = TestSimulator::start(SimulatorConfig::default());
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    fs::remove_dir_all(harness.path("runs/first")).unwrap();
    // Its old results would otherwise be handed out as the other model's.
    let again = ["--model", "gpt-4.1"];
    harness.judge(&simulator.base_url(), "manifest.jsonl", &again).exits(2).says(&[
        "run first",
        "juror.db",
        "--run-id",
    ]);
    assert!(!harness.path("runs/first").exists());
    assert_eq!(simulator.requests(), 2);
}

#[test]
fn a_run_that_is_continued_without_a_word_on_its_budget_keeps_it() {
    let simulator = TestSimulator::start(SimulatorConfig::default());
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    let judge = |flags: &[&str]| harness.judge(&simulator.base_url(), "manifest.jsonl", flags);
    judge(&["--budget-usd", "0.001"]).exits(3);
    judge(&[]).exits(3).prints(&["2 skipped"]);
    assert_eq!(simulator.requests(), 0);
    judge(&["--budget-usd", "1"]).exits(0);
    assert_eq!(simulator.requests(), 2);
}

#[test]
fn a_name_that_stands_for_something_else_is_refused_and_left_alone() {
    let harness = CommandHarness::new();
    write_items(&harness, 1);
    let mine = harness.write("runs/golden/manifest.jsonl", "mine\n");
    let notes = harness.write("runs/notes", "mine\n");
    for (name, command) in [
        ("golden", &["run", "manifest.jsonl", "--run-id"][..]),
        ("golden", &["run", "manifest.jsonl", "--resume"]),
        ("golden", &["run", "manifest.jsonl", "--dry-run", "--run-id"]),
        ("golden", &["run", "--resume"]),
        ("notes", &["run", "manifest.jsonl", "--run-id"]),
    ] {
        let says = format!("runs/{name} exists and is not a run directory");
        let refused = harness.juror(&[command, &[name]].concat()).exits(2);
        refused.says(&[&says, "another --run-id"]);
    }
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(notes).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(harness.path("runs/golden")).unwrap().count(), 1);
    assert!(!harness.path("runs/juror.db").exists());
    harness.juror(&["run", "manifest.jsonl", "--run-id", "free"]).exits(0);
    let database = ["run", "manifest.jsonl", "--run-id", "juror.db"];
    harness.juror(&database).exits(2).says(&["juror.db exists and is not a run directory"]);
}

#[test]
fn a_mistyped_name_is_not_started_beside_the_run_that_was_meant() {
    let harness = CommandHarness::new();
    write_items(&harness, 1);
    let run = |flag: &str, name: &str| harness.juror(&["run", "manifest.jsonl", flag, name]);
    run("--run-id", "baseline").exits(0);
    let meant = ["there is no run baselin in runs", "did you mean baseline?", "--run-id baselin"];
    run("--resume", "baselin").exits(2).says(&meant);
    harness.resume("baselin", &[]).exits(2).says(&["did you mean baseline?"]);
    assert!(!harness.path("runs/baselin").exists());
    let said = ["there is no run nightly-2026-11-23 in runs yet: starting it"];
    run("--resume", "nightly-2026-11-23").exits(0).says(&said);
    run("--resume", "nightly-2026-11-24").exits(0).says(&["starting it"]);
}

#[test]
fn every_command_takes_the_directory_of_a_run() {
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    let run = ["run", "manifest.jsonl", "--run-id", "r", "--runs-dir", "elsewhere"];
    harness.juror(&run).exits(0);
    for command in [
        &["report", "elsewhere/r"][..],
        &["report", "elsewhere/r/"],
        &["report", "./elsewhere/r/report.json", "-o", "elsewhere/r/report.html"],
        &["runs", "show", "elsewhere/r"],
        &["run", "--resume", "elsewhere/r"],
        &["retry", "elsewhere/r"],
        &["compare", "elsewhere/r", "elsewhere/r/"],
    ] {
        harness.juror(command).exits(0);
    }
    assert!(!harness.path("runs").exists(), "the path names the runs directory too");
    let says = ["elsewhere is not a run directory", "`juror runs` lists"];
    harness.juror(&["report", "./elsewhere"]).exits(2).says(&says);
    let missing = ["report", "elsewhere/none"];
    harness.juror(&missing).exits(2).says(&["there is no run directory elsewhere/none"]);
}

#[test]
fn a_later_report_says_the_same_of_the_time_that_was_judged() {
    let simulator = TestSimulator::start(SimulatorConfig::default());
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &["--limit", "2"]).exits(0);
    let judging = || harness.report("first")["run"]["judging"].clone();
    let first = judging();
    assert_eq!(first["sessions"], 1, "{first}");
    assert!(first["ended_at"].is_string(), "{first}");
    let printed = harness.juror(&["report", "first"]).exits(0).prints(&["judged in", "/v1"]);
    assert!(!printed.stdout.contains("in 2 sessions"), "{}", printed.stdout);
    assert_eq!(judging(), first);
    harness.resume("first", &[]).exits(0);
    assert_eq!(judging(), first, "a session without a result leaves no trace");
}

#[test]
fn a_run_that_is_resumed_keeps_its_limits_and_goes_without_the_cache() {
    let simulator = TestSimulator::start(SimulatorConfig::default());
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    harness.judge_run(&simulator, "cached", &[]).exits(0);
    let limits = ["--no-cache", "-j", "3", "--rpm", "6000", "--tpm", "9000000"];
    harness.judge_run(&simulator, "r", &[&limits[..], &["--budget-usd", "0"]].concat()).exits(3);
    let record = || -> serde_json::Value {
        serde_json::from_slice(&fs::read(harness.path("runs/r/run.json")).unwrap()).unwrap()
    };
    let calls = serde_json::json!({
        "rpm": 6000, "tpm": 9_000_000, "max_concurrency": 3, "cache": false,
    });
    assert_eq!(record()["calls"], calls);
    let before = simulator.requests();
    harness.resume("r", &["--budget-usd", "1", "-j", "2"]).exits(0);
    assert_eq!(simulator.requests(), before + 2, "the cache has the answers, and is not asked");
    assert_eq!(record()["calls"]["max_concurrency"], 2);
    assert_eq!(record()["calls"]["rpm"], 6000);
    assert_eq!(record()["judging"]["sessions"], 2);
}
