//! `juror prune` removes old runs and nothing that is still needed.

use crate::harness::{CommandHarness, Finished, TestSimulator, write_items};
use serde_json::Value;
use std::{fs, time::SystemTime};

fn prune(harness: &CommandHarness, flags: &[&str]) -> Finished {
    harness.juror(&[&["runs", "prune"], flags].concat())
}

/// Names of the remaining runs, in order.
fn runs(harness: &CommandHarness) -> Vec<String> {
    let listed = harness.juror(&["runs", "list", "--json"]).exits(0);
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    let mut names: Vec<String> =
        listed.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn runs_are_pruned_by_age_and_size_and_needed_ones_are_kept() {
    let harness = CommandHarness::with_items(2);
    let simulator = TestSimulator::new();
    for night in ["n1", "n2", "n3", "n4", "n5"] {
        harness.judge_run(&simulator, night, &[]).exits(0);
    }
    harness.juror(&["bless", "n2"]).exits(0);
    prune(&harness, &[]).exits(2).stderr_contains(&["--keep-days", "prune.max_mb"]);
    // By default the first twenty of a series are kept.
    let kept = prune(&harness, &["--max-mb", "0"]).exits(0);
    kept.stdout_contains(&["0 runs removed", "among the first"])
        .stderr_contains(&["more than --max-mb 0"]);

    harness.write("juror.toml", "[prune]\nkeep_first = 1\n");
    let wished = prune(&harness, &["--max-mb", "0", "--dry-run"]).exits(0);
    wished.stdout_contains(&["n3", "n4", "2 runs would be removed", "1 blessed", "1 the newest"]);
    harness.write("runs/n3/calibration.json", "{}");
    let calibrated = prune(&harness, &["--max-mb", "0", "--dry-run"]).exits(0);
    calibrated.stdout_contains(&["1 run would be removed", "1 with a calibration"]);
    fs::remove_file(harness.path("runs/n3/calibration.json")).unwrap();
    for days in ["1", "3000000000"] {
        prune(&harness, &["--keep-days", days]).exits(0).stdout_contains(&["0 runs removed"]);
    }
    assert_eq!(runs(&harness), ["n1", "n2", "n3", "n4", "n5"]);

    let spent = || {
        let shown = harness.juror(&["budget", "show", "--json"]).exits(0);
        let budgets: Vec<Value> = serde_json::from_str(&shown.stdout).unwrap();
        budgets.iter().map(|budget| budget["spent_usd"].clone()).collect::<Vec<_>>()
    };
    let (before, calls) = (spent(), simulator.requests());
    prune(&harness, &["--keep-days", "0"]).exits(0).stdout_contains(&["2 runs removed", "3 kept"]);
    assert_eq!(runs(&harness), ["n1", "n2", "n5"]);
    assert_eq!(spent(), before, "days and months keep their spending");

    // The name is available again, and the cache still has the verdicts.
    harness.judge_run(&simulator, "n3", &[]).exits(0);
    assert_eq!(simulator.requests(), calls);
    harness.juror(&["compare", "main", "n5"]).exits(0);
}

#[test]
fn useful_verdicts_stay_in_the_cache() {
    let harness = CommandHarness::with_items(2);
    let simulator = TestSimulator::new();
    harness.judge_run(&simulator, "n1", &[]).exits(0);
    let cached = || {
        let reported = harness.juror(&["cache", "stats", "--json"]).exits(0);
        serde_json::from_str::<Value>(&reported.stdout).unwrap()["replies"].as_u64().unwrap()
    };
    prune(&harness, &["--keep-reply-days", "0"]).exits(0).stdout_contains(&["0 runs removed"]);
    assert_eq!(cached(), 2, "they were of use today");
    prune(&harness, &["--keep-reply-days", "0", "--dry-run"])
        .exits(0)
        .stdout_contains(&["0 runs would"]);
    prune(&harness, &["--keep-reply-days", "many"])
        .exits(2)
        .stderr_contains(&["--keep-reply-days"]);
}

#[test]
fn run_with_calls_in_progress_in_another_ledger_is_kept() {
    let harness = CommandHarness::new();
    let (simulator, gate) = TestSimulator::gated();
    write_items(&harness, 2);
    let elsewhere = ["--state", "elsewhere", "--no-cache"];
    let killed = harness.start_run(&simulator, "killed", &elsewhere);
    simulator.await_requests(1);
    killed.kill();
    gate.open();
    harness.judge_run(&simulator, "ended", &elsewhere).exits(0);
    harness.judge_run(&simulator, "newest", &["--no-cache"]).exits(0);
    harness.write("juror.toml", "[prune]\nkeep_first = 0\n");
    let pruned = prune(&harness, &["--keep-days", "0"]).exits(0);
    pruned
        .stdout_contains(&["1 run removed"])
        .stderr_contains(&["run killed has calls or batches in progress and is kept"]);
    assert_eq!(runs(&harness), ["killed", "newest"]);
}

#[test]
fn copy_of_a_run_is_not_taken_for_it() {
    let harness = CommandHarness::with_items(1);
    for night in ["n1", "n2", "n3"] {
        harness.juror(&["run", "manifest.jsonl", "--run-id", night]).exits(0);
    }
    let [run, copy] = ["runs/n2", "runs/n2.bak"].map(|folder| harness.path(folder));
    fs::create_dir(&copy).unwrap();
    for file in ["run.json", "results.jsonl", "report.json"] {
        fs::copy(run.join(file), copy.join(file)).unwrap();
        let old = fs::File::options().write(true).open(copy.join(file)).unwrap();
        old.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let listed = harness.juror(&["runs", "list"]).exits(1);
    listed.stderr_contains(&["run.json, line 1: it is that of another run, n2"]);
    harness.write("juror.toml", "[prune]\nkeep_first = 0\n");
    prune(&harness, &["--keep-days", "30"]).exits(0).stdout_contains(&["0 runs removed"]);
    assert!(run.join("run.json").exists() && copy.join("run.json").exists());
}
