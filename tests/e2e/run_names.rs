//! Run names identify costs and results.

use crate::harness::{CommandHarness, TestSimulator};
use std::fs;

#[test]
fn name_with_a_missing_directory_starts_no_new_run() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(2);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    fs::remove_dir_all(harness.path("runs/first")).unwrap();
    // Its old results would otherwise be reused for the other model.
    let again = ["--model", "gpt-4.1"];
    harness.judge(&simulator.base_url(), "manifest.jsonl", &again).exits(2).stderr_contains(&[
        "run first",
        "juror.db",
        "--run-id",
    ]);
    assert!(!harness.path("runs/first").exists());
    assert_eq!(simulator.requests(), 2);
}

#[test]
fn run_resumed_without_a_budget_flag_keeps_its_budget() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(2);
    let judge = |flags: &[&str]| harness.judge(&simulator.base_url(), "manifest.jsonl", flags);
    judge(&["--budget-usd", "0.001"]).exits(3);
    judge(&[]).exits(3).stdout_contains(&["2 skipped"]);
    assert_eq!(simulator.requests(), 0);
    judge(&["--budget-usd", "1"]).exits(0);
    assert_eq!(simulator.requests(), 2);
}

#[test]
fn name_of_a_foreign_directory_is_refused_and_left_unchanged() {
    let harness = CommandHarness::with_items(1);
    let mine = harness.write("runs/golden/manifest.jsonl", "mine\n");
    let notes = harness.write("runs/notes", "mine\n");
    for (name, command) in [
        ("golden", &["run", "manifest.jsonl", "--run-id"][..]),
        ("golden", &["run", "manifest.jsonl", "--resume"]),
        ("golden", &["run", "manifest.jsonl", "--dry-run", "--run-id"]),
        ("golden", &["run", "--resume"]),
        ("notes", &["run", "manifest.jsonl", "--run-id"]),
    ] {
        let message = format!("runs/{name} exists and is not a run directory");
        let refused = harness.juror(&[command, &[name]].concat()).exits(2);
        refused.stderr_contains(&[&message, "another --run-id"]);
    }
    assert_eq!(fs::read_to_string(mine).unwrap(), "mine\n");
    assert_eq!(fs::read_to_string(notes).unwrap(), "mine\n");
    assert_eq!(fs::read_dir(harness.path("runs/golden")).unwrap().count(), 1);
    assert!(!harness.path("runs/juror.db").exists());
    harness.juror(&["run", "manifest.jsonl", "--run-id", "free"]).exits(0);
    let database = ["run", "manifest.jsonl", "--run-id", "juror.db"];
    harness
        .juror(&database)
        .exits(2)
        .stderr_contains(&["juror.db exists and is not a run directory"]);
}

#[test]
fn mistyped_name_starts_no_second_run() {
    let harness = CommandHarness::with_items(1);
    let run = |flag: &str, name: &str| harness.juror(&["run", "manifest.jsonl", flag, name]);
    run("--run-id", "baseline").exits(0);
    let meant = ["there is no run baselin in runs", "did you mean baseline?", "--run-id baselin"];
    run("--resume", "baselin").exits(2).stderr_contains(&meant);
    harness.resume("baselin", &[]).exits(2).stderr_contains(&["did you mean baseline?"]);
    assert!(!harness.path("runs/baselin").exists());
    let output = ["there is no run nightly-2026-11-23 in runs yet: starting it"];
    run("--resume", "nightly-2026-11-23").exits(0).stderr_contains(&output);
    run("--resume", "nightly-2026-11-24").exits(0).stderr_contains(&["starting it"]);
}

#[test]
fn commands_accept_the_directory_of_a_run() {
    let harness = CommandHarness::with_items(2);
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
    let message = ["elsewhere is not a run directory", "`juror runs` lists"];
    harness.juror(&["report", "./elsewhere"]).exits(2).stderr_contains(&message);
    let missing = ["report", "elsewhere/none"];
    harness.juror(&missing).exits(2).stderr_contains(&["there is no run directory elsewhere/none"]);
}

#[test]
fn same_judging_time_in_later_reports() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(2);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &["--limit", "2"]).exits(0);
    let judging = || harness.report("first")["run"]["judging"].clone();
    let first = judging();
    assert_eq!(first["sessions"], 1, "{first}");
    assert!(first["ended_at"].is_string(), "{first}");
    let printed =
        harness.juror(&["report", "first"]).exits(0).stdout_contains(&["judged in", "/v1"]);
    assert!(!printed.stdout.contains("in 2 sessions"), "{}", printed.stdout);
    assert_eq!(judging(), first);
    harness.resume("first", &[]).exits(0);
    assert_eq!(judging(), first, "a session without a result leaves no trace");
}

#[test]
fn resumed_run_keeps_its_limits_and_bypasses_the_cache() {
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(2);
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
    assert_eq!(simulator.requests(), before + 2, "the cache has the replies, and is bypassed");
    assert_eq!(record()["calls"]["max_concurrency"], 2);
    assert_eq!(record()["calls"]["rpm"], 6000);
    assert_eq!(record()["judging"]["sessions"], 2);
}
