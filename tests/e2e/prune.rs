//! Old runs are taken away, and nothing that somebody still needs.

use crate::harness::{CommandHarness, Finished, TestSimulator, write_items};
use juror_simulator::SimulatorConfig;
use serde_json::Value;

fn prune(harness: &CommandHarness, flags: &[&str]) -> Finished {
    harness.juror(&[&["runs", "prune"], flags].concat())
}

/// Names of the runs that are left, in order.
fn runs(harness: &CommandHarness) -> Vec<String> {
    let listed = harness.juror(&["runs", "list", "--json"]).exits(0);
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    let mut names: Vec<String> =
        listed.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

#[test]
fn runs_go_by_age_and_size_and_those_that_are_needed_stay() {
    let harness = CommandHarness::new();
    let simulator = TestSimulator::start(SimulatorConfig::default());
    write_items(&harness, 2);
    for night in ["n1", "n2", "n3", "n4", "n5"] {
        harness.judge_run(&simulator, night, &[]).exits(0);
    }
    harness.juror(&["bless", "n2"]).exits(0);
    prune(&harness, &[]).exits(2).says(&["--keep-days", "prune.max_mb"]);
    // By default the first twenty of a series stay.
    let kept = prune(&harness, &["--max-mb", "0"]).exits(0);
    kept.prints(&["0 runs removed", "among the first"]).says(&["more than --max-mb 0"]);

    harness.write("juror.toml", "[prune]\nkeep_first = 1\n");
    let wished = prune(&harness, &["--max-mb", "0", "--dry-run"]).exits(0);
    wished.prints(&["n3", "n4", "2 runs would be removed", "1 blessed", "1 the newest"]);
    for days in ["1", "3000000000"] {
        prune(&harness, &["--keep-days", days]).exits(0).prints(&["0 runs removed"]);
    }
    assert_eq!(runs(&harness), ["n1", "n2", "n3", "n4", "n5"]);

    let spent = || {
        let shown = harness.juror(&["budget", "show", "--json"]).exits(0);
        let budgets: Vec<Value> = serde_json::from_str(&shown.stdout).unwrap();
        budgets.iter().map(|budget| budget["spent_usd"].clone()).collect::<Vec<_>>()
    };
    let (before, asked) = (spent(), simulator.requests());
    prune(&harness, &["--keep-days", "0"]).exits(0).prints(&["2 runs removed", "3 kept"]);
    assert_eq!(runs(&harness), ["n1", "n2", "n5"]);
    assert_eq!(spent(), before, "days and months keep what was spent");

    // The name is free again, and the cache still knows the verdicts.
    harness.judge_run(&simulator, "n3", &[]).exits(0);
    assert_eq!(simulator.requests(), asked);
    harness.juror(&["compare", "main", "n5"]).exits(0);
}

#[test]
fn verdicts_that_are_of_use_stay_in_the_cache() {
    let harness = CommandHarness::new();
    let simulator = TestSimulator::start(SimulatorConfig::default());
    write_items(&harness, 2);
    harness.judge_run(&simulator, "n1", &[]).exits(0);
    let cached = || {
        let told = harness.juror(&["cache", "stats", "--json"]).exits(0);
        serde_json::from_str::<Value>(&told.stdout).unwrap()["replies"].as_u64().unwrap()
    };
    prune(&harness, &["--keep-reply-days", "0"]).exits(0).prints(&["0 runs removed"]);
    assert_eq!(cached(), 2, "they were of use today");
    prune(&harness, &["--keep-reply-days", "0", "--dry-run"]).exits(0).prints(&["0 runs would"]);
    prune(&harness, &["--keep-reply-days", "many"]).exits(2).says(&["--keep-reply-days"]);
}
