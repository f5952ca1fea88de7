//! Runs that pause until an external problem is fixed, without losses.

use crate::{
    errors::{assert_scored, check_costs, results},
    harness::{CommandHarness, Finished, Recorder, TestSimulator, pico, write_items},
};
use juror_simulator::{Fault, FaultPlan, SimulatorConfig};
use serde_json::json;

/// Asserts that a run without a possible successful call pauses immediately with the reason, and
/// keeps its jobs.
fn pauses(simulator: &TestSimulator, harness: &CommandHarness, reason: &str) -> Finished {
    write_items(harness, 30);
    let paused = harness.judge(&simulator.base_url(), "manifest.jsonl", &["-j", "4"]).exits(1);
    assert!(simulator.requests() <= 4, "no more than were in flight at the first refusal");
    assert_eq!(simulator.bill(), 0);
    assert_eq!(check_costs(harness, simulator), 0);
    let report = harness.report("first");
    assert_eq!(report["coverage"]["scored"], 0);
    assert_eq!(report["coverage"]["failed"], 0);
    assert_eq!(report["coverage"]["pending"], 30, "the jobs are kept");
    assert!(!paused.stdout.contains("no data"), "{}", paused.stdout);
    let paused = paused.stdout_contains(&["Paused: ", "0 of 30 scored", "$0.00"]);
    paused.stderr_contains(&["paused and keeps its jobs", reason, "juror retry first"])
}

#[test]
fn wrong_key_pauses_the_run_until_corrected() {
    let harness = CommandHarness::new();
    let key = Some("another-key".to_owned());
    let simulator = TestSimulator::start(SimulatorConfig { key, ..SimulatorConfig::default() });
    pauses(&simulator, &harness, "authentication failed; check the API key and the base URL");
    let mended = TestSimulator::restart_with(
        simulator,
        SimulatorConfig { key: Some("test-key".to_owned()), ..SimulatorConfig::default() },
    );
    harness.juror(&["retry", "first"]).exits(0).stdout_contains(&["30 of 30 scored"]);
    assert_eq!(mended.requests(), 30);
    for result in results(&harness, 30) {
        assert_scored(&result, 1);
    }
    assert_eq!(check_costs(&harness, &mended), 0);
}

#[test]
fn suspended_account_pauses_the_run_until_reinstated() {
    for (fault, reason) in [
        (Fault::PaymentRequired, "no funds or quota left; add funds at the provider"),
        (Fault::InsufficientQuota, "no funds or quota left; add funds at the provider"),
        (Fault::Forbidden, "may not make this call; check the key's permissions"),
        (Fault::ModelNotFound, "does not offer this model; check the model's name"),
    ] {
        let harness = CommandHarness::new();
        let simulator = TestSimulator::always(fault);
        pauses(&simulator, &harness, reason);
        let other = TestSimulator::new();
        harness
            .juror(&["run", "--resume", "first", "--base-url", &other.base_url()])
            .exits(0)
            .stdout_contains(&["30 of 30 scored"]);
        assert_eq!(other.requests(), 30);
        assert_eq!(check_costs(&harness, &other), 0);
    }
}

#[test]
fn unreachable_judge_pauses_the_run() {
    for (status, body) in
        [(404, json!({"detail": "Not Found"})), (405, json!({})), (302, json!({}))]
    {
        let harness = CommandHarness::with_items(5);
        let elsewhere = Recorder::start(vec![(status, body)]);
        let run = harness.judge(&elsewhere.base_url(), "manifest.jsonl", &["-j", "1"]).exits(1);
        run.stderr_contains(&[
            "paused and keeps its jobs",
            "not at this address; check the base URL",
        ]);
        assert_eq!(elsewhere.requests().len(), 1, "{status}");
        assert_eq!(pico(&harness.report("first")["cost"]["total_usd"]), 0);
    }
}

#[test]
fn pause_finishes_calls_in_flight_and_bills_nothing_twice() {
    let harness = CommandHarness::with_items(10);
    let faults = [vec![None; 4], vec![Some(Fault::PaymentRequired); 20]].concat();
    let simulator = TestSimulator::failing(FaultPlan { script: faults, ..FaultPlan::default() });
    harness.judge(&simulator.base_url(), "manifest.jsonl", &["-j", "2"]).exits(1);
    assert_eq!(harness.report("first")["coverage"]["scored"], 4);
    let billed = simulator.bill();
    let simulator = simulator.restart_with(SimulatorConfig::default());
    harness.juror(&["retry", "first"]).exits(0);
    assert_eq!(simulator.requests(), 6);
    let total = pico(&harness.report("first")["cost"]["total_usd"]);
    assert_eq!(total, billed + simulator.bill());
}
