//! Effects of failed calls on job, cost and run: one test per kind of failure.

use crate::harness::{CommandHarness, Finished, Recorder, TestSimulator, pico};
use juror_simulator::{Fault, FaultPlan, ItemKey, ItemScript, SimulatorConfig};
use serde_json::{Value, json};

/// URL of a port of this machine on which no server listens.
const DEAD: &str = "http://127.0.0.1:1/v1";

/// Plan in which the item of this number meets these faults, one per call.
pub fn script(items: &[(u32, &[Option<Fault>])]) -> FaultPlan {
    let items = items.iter().map(|(number, faults)| ItemScript {
        item: ItemKey::Text(format!("Number {number}<")),
        faults: faults.to_vec(),
    });
    FaultPlan { items: items.collect(), ..FaultPlan::default() }
}

/// Results of items `item_0000` and so on, in order.
pub fn results(harness: &CommandHarness, count: u32) -> Vec<Value> {
    (0..count).map(|number| harness.result("first", &format!("item_{number:04}"))).collect()
}

/// Asserts that journal and ledger match the bill; returns the presumed amount.
#[track_caller]
pub fn check_costs(harness: &CommandHarness, simulator: &TestSimulator) -> i64 {
    let cost = &harness.report("first")["cost"];
    let reported: i64 = harness.journal("first").iter().map(|line| pico(&line["cost_usd"])).sum();
    assert_eq!(pico(&cost["results_usd"]), reported);
    let (total, presumed) = (pico(&cost["total_usd"]), pico(&cost["presumed_usd"]));
    assert_eq!(total, reported + presumed);
    assert!(simulator.bill() <= total, "{} billed, {total} reported", simulator.bill());
    assert_eq!(pico(&cost["overrun_usd"]), 0);
    presumed
}

#[track_caller]
fn assert_failed(result: &Value, kind: &str, attempts: u64, expected_text: &str) {
    assert_eq!(result["outcome"], "failed", "{result}");
    assert_eq!(result["error"]["kind"], kind, "{result}");
    assert_eq!(result["attempts"], attempts, "{result}");
    assert_eq!(result["pipeline_success"], false);
    assert_eq!(result["semantic"]["total_score"], 0, "zero scores, which enter no average");
    let message = result["error"]["message"].as_str().unwrap();
    assert!(message.contains(expected_text), "no {expected_text:?} in {message:?}");
}

#[track_caller]
pub fn assert_scored(result: &Value, attempts: u64) {
    assert_eq!(result["outcome"], "scored", "{result}");
    assert_eq!(result["attempts"], attempts, "{result}");
    assert_eq!(result["error"], Value::Null);
}

#[test]
fn unsent_call_costs_nothing_and_fails_after_five_attempts() {
    let harness = CommandHarness::with_items(2);
    let run = harness.judge(DEAD, "manifest.jsonl", &["--budget-usd", "1"]).exits(3);
    run.stdout_contains(&["0 of 2 scored", "2 failed", "cannot be reached"])
        .stderr_contains(&["--resume first"]);
    for result in results(&harness, 2) {
        let host = DEAD.trim_end_matches("/v1");
        let expected_text = format!("the vision API cannot be reached after 5 attempts: {host}: ");
        assert_failed(&result, "api", 5, &expected_text);
        assert_eq!(pico(&result["cost_usd"]), 0);
    }
    let report = harness.report("first");
    assert_eq!(pico(&report["cost"]["total_usd"]), 0);
    assert_eq!(report["overall"]["semantic"]["avg_semantic_correctness"], Value::Null);
}

#[test]
fn rate_limit_refusal_pauses_all_calls_and_loses_no_job() {
    let harness = CommandHarness::with_items(12);
    let faults = vec![Some(Fault::RateLimit); 6];
    let simulator = TestSimulator::failing(FaultPlan { script: faults, ..FaultPlan::default() });
    harness.judge(&simulator.base_url(), "manifest.jsonl", &["-j", "4"]).exits(0);
    for result in results(&harness, 12) {
        assert_scored(&result, 1);
    }
    assert_eq!(check_costs(&harness, &simulator), 0);
    let stats = simulator.stats();
    assert_eq!(stats["faults"]["rate-limit"], 6);
    assert_eq!(stats["requests"], 18, "each refusal of a job caused one retry");
}

#[test]
fn undeclared_limit_is_learned_and_respected() {
    let harness = CommandHarness::with_items(40);
    let limits = SimulatorConfig { requests_per_minute: Some(900), ..SimulatorConfig::default() };
    let simulator = TestSimulator::start(limits);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    for result in results(&harness, 40) {
        assert_scored(&result, 1);
    }
    assert_eq!(check_costs(&harness, &simulator), 0);
    assert_eq!(simulator.bill(), pico(&harness.report("first")["cost"]["total_usd"]));
}

#[test]
fn permanent_refusal_fails_without_a_retry() {
    let harness = CommandHarness::with_items(4);
    let simulator = TestSimulator::failing(script(&[
        (0, &[Some(Fault::BadRequest)]),
        (1, &[Some(Fault::TooLarge)]),
        (2, &[Some(Fault::ContentPolicy)]),
    ]));
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(3);
    run.stdout_contains(&[
        "1 of 4 scored",
        "3 failed",
        "(status",
        "400): the request is malformed",
    ]);
    let results = results(&harness, 4);
    assert_failed(&results[0], "request", 1, "(status 400): the request is malformed");
    assert_failed(&results[1], "request", 1, "(status 413): the request is too large");
    assert_failed(&results[2], "request", 1, "(status 400): the images or texts are not allowed");
    assert_scored(&results[3], 1);
    assert_eq!(simulator.requests(), 4);
    assert_eq!(check_costs(&harness, &simulator), 0);
    assert_eq!(simulator.bill(), pico(&results[3]["cost_usd"]), "refusals cost nothing");
}

#[test]
fn billed_refusal_is_booked() {
    let harness = CommandHarness::with_items(3);
    let error = |message: &str| json!({"error": {"message": message, "code": "no"}});
    let mut filtered = error("filtered");
    filtered["usage"] = json!({"prompt_tokens": 1_000, "completion_tokens": 0});
    let answers = vec![(415, error("type")), (422, error("field")), (400, filtered)];
    let judge = Recorder::start(answers);
    harness.judge(&judge.base_url(), "manifest.jsonl", &["-j", "1"]).exits(3);
    assert_eq!(judge.requests().len(), 3);
    let results = results(&harness, 3);
    assert_failed(&results[0], "request", 1, "(status 415): type");
    assert_failed(&results[1], "request", 1, "(status 422): field");
    assert_failed(&results[2], "request", 1, "(status 400): filtered");
    // 1,000 tokens at $2.50 a million.
    assert_eq!(pico(&results[2]["cost_usd"]), 2_500_000_000);
    assert_eq!(pico(&harness.report("first")["cost"]["total_usd"]), 2_500_000_000);
}

#[test]
fn server_errors_are_retried_a_few_times() {
    let harness = CommandHarness::with_items(6);
    let once = |fault| vec![Some(fault), None];
    let scripts: Vec<_> = [
        once(Fault::Timeout),
        once(Fault::Conflict),
        once(Fault::ServerError),
        once(Fault::Unavailable),
        once(Fault::Overloaded),
        vec![Some(Fault::ServerError); 9],
    ]
    .into_iter()
    .enumerate()
    .map(|(number, faults)| (number as u32, faults))
    .collect();
    let scripts: Vec<_> = scripts.iter().map(|(number, f)| (*number, f.as_slice())).collect();
    let simulator = TestSimulator::failing(script(&scripts));
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &["-j", "6"]).exits(3);
    run.stdout_contains(&["5 of 6 scored", "1 failed"]);
    let results = results(&harness, 6);
    for result in &results[..5] {
        assert_scored(result, 2);
    }
    assert_failed(&results[5], "api", 5, "failed with status 500 after 5 attempts: the server had");
    assert_eq!(simulator.requests(), 5 * 2 + 5);
    assert_eq!(check_costs(&harness, &simulator), 0);
    assert_eq!(pico(&results[5]["cost_usd"]), 0);
}

#[test]
fn interrupted_call_is_presumed_spent_and_retried_once() {
    let harness = CommandHarness::with_items(4);
    let simulator = TestSimulator::failing(script(&[
        (0, &[Some(Fault::Reset)]),
        (1, &[Some(Fault::Cut)]),
        (2, &[Some(Fault::Cut), Some(Fault::Reset), None]),
    ]));
    let flags = ["--budget-usd", "5"];
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(3);
    run.stdout_contains(&["3 of 4 scored", "1 failed"]);
    let results = results(&harness, 4);
    assert_scored(&results[0], 2);
    assert_scored(&results[1], 2);
    assert_failed(&results[2], "api", 2, "2 calls were sent without a reply");
    assert_scored(&results[3], 1);
    assert_eq!(simulator.requests(), 7);
    let presumed = check_costs(&harness, &simulator);
    let worst = |result: &Value| pico(&result["estimate"]["worst_case_usd"]);
    assert_eq!(presumed, worst(&results[0]) + worst(&results[1]) + 2 * worst(&results[2]));
    assert_eq!(pico(&results[2]["cost_usd"]), 0, "presumed spending is the run's, not the job's");
}

#[test]
fn hanging_call_times_out_and_is_retried_once() {
    let harness = CommandHarness::with_items(2);
    let hang = Some(Fault::Hang);
    let simulator = TestSimulator::failing(script(&[(0, &[hang]), (1, &[hang, hang, None])]));
    let mut command = harness.judging(&simulator.base_url(), "manifest.jsonl", &[]);
    let run = command.env("JUROR_JUDGE_TIMEOUT_SECONDS", "1").output().unwrap();
    Finished::from(run).exits(3).stdout_contains(&["1 of 2 scored", "1 failed"]);
    let results = results(&harness, 2);
    assert_scored(&results[0], 2);
    assert_failed(&results[1], "api", 2, "no complete reply within 2 s");
    let presumed = check_costs(&harness, &simulator);
    let worst = |result: &Value| pico(&result["estimate"]["worst_case_usd"]);
    assert_eq!(presumed, worst(&results[0]) + 2 * worst(&results[1]));
}
