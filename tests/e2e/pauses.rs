//! Runs that cannot go on before a person does something: they pause, and lose nothing.

use crate::{
    errors::{books_agree, results, scored},
    harness::{CommandHarness, Finished, Recorder, TestSimulator, pico, write_items},
};
use juror_simulator::{Fault, FaultPlan, SimulatorConfig};
use serde_json::json;

/// A run that no call of can succeed: it pauses at once, says why, and keeps its jobs.
fn pauses(simulator: &TestSimulator, harness: &CommandHarness, reason: &str) -> Finished {
    write_items(harness, 30);
    let paused = harness.judge(&simulator.base_url(), "manifest.jsonl", &["-j", "4"]).exits(1);
    assert!(simulator.requests() <= 4, "no more than were in flight at the first refusal");
    assert_eq!(simulator.bill(), 0);
    assert_eq!(books_agree(harness, simulator), 0);
    let report = harness.report("first");
    assert_eq!(report["coverage"]["scored"], 0);
    assert_eq!(report["coverage"]["failed"], 0);
    assert_eq!(report["coverage"]["pending"], 30, "the jobs are kept");
    assert!(!paused.stdout.contains("no data"), "{}", paused.stdout);
    let paused = paused.prints(&["Paused: ", "0 of 30 scored", "$0.00"]);
    paused.says(&["paused and keeps its jobs", reason, "juror retry first"])
}

#[test]
fn a_wrong_key_pauses_the_run_until_it_is_right() {
    let harness = CommandHarness::new();
    let key = Some("another-key".to_owned());
    let simulator = TestSimulator::start(SimulatorConfig { key, ..SimulatorConfig::default() });
    pauses(&simulator, &harness, "authentication failed; check the API key and the base URL");
    let mended = TestSimulator::replaced(
        simulator,
        SimulatorConfig { key: Some("fleet_harness-key".to_owned()), ..SimulatorConfig::default() },
    );
    harness.juror(&["retry", "first"]).exits(0).prints(&["30 of 30 scored"]);
    assert_eq!(mended.requests(), 30);
    for result in results(&harness, 30) {
        scored(&result, 1);
    }
    assert_eq!(books_agree(&harness, &mended), 0);
}

#[test]
fn an_account_that_may_not_call_pauses_the_run_until_it_may() {
    for (fault, reason) in [
        (Fault::PaymentRequired, "no funds or quota left; add funds at the provider"),
        (Fault::InsufficientQuota, "no funds or quota left; add funds at the provider"),
        (Fault::Forbidden, "may not make this call; check the key's permissions"),
        (Fault::ModelNotFound, "does not offer this model; check the model's name"),
    ] {
        let harness = CommandHarness::new();
        let simulator = TestSimulator::always(fault);
        pauses(&simulator, &harness, reason);
        let other = TestSimulator::start(SimulatorConfig::default());
        harness
            .juror(&["run", "--resume", "first", "--base-url", &other.base_url()])
            .exits(0)
            .prints(&["30 of 30 scored"]);
        assert_eq!(other.requests(), 30);
        assert_eq!(books_agree(&harness, &other), 0);
    }
}

#[test]
fn an_address_where_nobody_judges_pauses_the_run() {
    for (status, body) in
        [(404, json!({"detail": "Not Found"})), (405, json!({})), (302, json!({}))]
    {
        let harness = CommandHarness::new();
        write_items(&harness, 5);
        let elsewhere = Recorder::start(vec![(status, body)]);
        let run = harness.judge(&elsewhere.base_url(), "manifest.jsonl", &["-j", "1"]).exits(1);
        run.says(&["paused and keeps its jobs", "not at this address; check the base URL"]);
        assert_eq!(elsewhere.asked().len(), 1, "{status}");
        assert_eq!(pico(&harness.report("first")["cost"]["total_usd"]), 0);
    }
}

#[test]
fn a_pause_finishes_what_is_in_flight_and_pays_for_nothing_twice() {
    let harness = CommandHarness::new();
    write_items(&harness, 10);
    let faults = [vec![None; 4], vec![Some(Fault::PaymentRequired); 20]].concat();
    let simulator = TestSimulator::failing(FaultPlan { script: faults, ..FaultPlan::default() });
    harness.judge(&simulator.base_url(), "manifest.jsonl", &["-j", "2"]).exits(1);
    assert_eq!(harness.report("first")["coverage"]["scored"], 4);
    let billed = simulator.bill();
    let simulator = simulator.replaced(SimulatorConfig::default());
    harness.juror(&["retry", "first"]).exits(0);
    assert_eq!(simulator.requests(), 6);
    let total = pico(&harness.report("first")["cost"]["total_usd"]);
    assert_eq!(total, billed + simulator.bill());
}
