//! Effects of a failed call on its job, its money and its run: one test for each kind of failure.

use crate::harness::{CommandHarness, Finished, Recorder, TestSimulator, pico, write_items};
use juror_simulator::{Fault, FaultPlan, ItemKey, ItemScript, SimulatorConfig};
use serde_json::{Value, json};

/// URL of a port of this machine on which no server listens.
const DEAD: &str = "http://127.0.0.1:1/v1";

/// A plan by which the item of this number meets these faults, one at each call.
pub fn script(items: &[(u32, &[Option<Fault>])]) -> FaultPlan {
    let items = items.iter().map(|(number, faults)| ItemScript {
        item: ItemKey::Text(format!("Number {number}<")),
        faults: faults.to_vec(),
    });
    FaultPlan { items: items.collect(), ..FaultPlan::default() }
}

/// The results of items `item_0000` and so on, in this order.
pub fn results(harness: &CommandHarness, count: u32) -> Vec<Value> {
    (0..count).map(|number| harness.result("first", &format!("item_{number:04}"))).collect()
}

/// Asserts that journal, ledger and bill fit together: nothing is told that was not spent, and
/// nothing was billed that is not told. Answers what is presumed.
#[track_caller]
pub fn books_agree(harness: &CommandHarness, simulator: &TestSimulator) -> i64 {
    let cost = &harness.report("first")["cost"];
    let told: i64 = harness.journal("first").iter().map(|line| pico(&line["cost_usd"])).sum();
    assert_eq!(pico(&cost["results_usd"]), told);
    let (total, presumed) = (pico(&cost["total_usd"]), pico(&cost["presumed_usd"]));
    assert_eq!(total, told + presumed);
    assert!(simulator.bill() <= total, "{} billed, {total} told", simulator.bill());
    assert_eq!(pico(&cost["overrun_usd"]), 0);
    presumed
}

#[track_caller]
fn failed(result: &Value, kind: &str, attempts: u64, says: &str) {
    assert_eq!(result["outcome"], "failed", "{result}");
    assert_eq!(result["error"]["kind"], kind, "{result}");
    assert_eq!(result["attempts"], attempts, "{result}");
    assert_eq!(result["pipeline_success"], false);
    assert_eq!(result["semantic"]["total_score"], 0, "zero scores, which enter no average");
    let message = result["error"]["message"].as_str().unwrap();
    assert!(message.contains(says), "no {says:?} in {message:?}");
}

#[track_caller]
pub fn scored(result: &Value, attempts: u64) {
    assert_eq!(result["outcome"], "scored", "{result}");
    assert_eq!(result["attempts"], attempts, "{result}");
    assert_eq!(result["error"], Value::Null);
}

#[test]
fn what_was_never_sent_costs_nothing_and_fails_after_five_tries() {
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    let run = harness.judge(DEAD, "manifest.jsonl", &["--budget-usd", "1"]).exits(3);
    run.prints(&["0 of 2 scored", "2 failed", "cannot be reached"]).says(&["--resume first"]);
    for result in results(&harness, 2) {
        let host = DEAD.trim_end_matches("/v1");
        let says = format!("the vision API cannot be reached after 5 attempts: {host}: ");
        failed(&result, "api", 5, &says);
        assert_eq!(pico(&result["cost_usd"]), 0);
    }
    let report = harness.report("first");
    assert_eq!(pico(&report["cost"]["total_usd"]), 0);
    assert_eq!(report["overall"]["semantic"]["avg_semantic_correctness"], Value::Null);
}

#[test]
fn a_refusal_by_rate_holds_everybody_back_and_loses_nothing() {
    let harness = CommandHarness::new();
    write_items(&harness, 12);
    let faults = vec![Some(Fault::RateLimit); 6];
    let simulator = TestSimulator::failing(FaultPlan { script: faults, ..FaultPlan::default() });
    harness.judge(&simulator.base_url(), "manifest.jsonl", &["-j", "4"]).exits(0);
    for result in results(&harness, 12) {
        scored(&result, 1);
    }
    assert_eq!(books_agree(&harness, &simulator), 0);
    let stats = simulator.stats();
    assert_eq!(stats["faults"]["rate-limit"], 6);
    assert_eq!(stats["requests"], 18, "each job was asked once more for each refusal of it");
}

#[test]
fn a_limit_that_nobody_told_is_learned_and_kept_to() {
    let harness = CommandHarness::new();
    write_items(&harness, 40);
    let limits = SimulatorConfig { requests_per_minute: Some(900), ..SimulatorConfig::default() };
    let simulator = TestSimulator::start(limits);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    for result in results(&harness, 40) {
        scored(&result, 1);
    }
    assert_eq!(books_agree(&harness, &simulator), 0);
    assert_eq!(simulator.bill(), pico(&harness.report("first")["cost"]["total_usd"]));
}

#[test]
fn what_the_provider_refuses_for_good_fails_without_another_try() {
    let harness = CommandHarness::new();
    write_items(&harness, 4);
    let simulator = TestSimulator::failing(script(&[
        (0, &[Some(Fault::BadRequest)]),
        (1, &[Some(Fault::TooLarge)]),
        (2, &[Some(Fault::ContentPolicy)]),
    ]));
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(3);
    run.prints(&["1 of 4 scored", "3 failed", "(status", "400): the request is malformed"]);
    let results = results(&harness, 4);
    failed(&results[0], "request", 1, "(status 400): the request is malformed");
    failed(&results[1], "request", 1, "(status 413): the request is too large");
    failed(&results[2], "request", 1, "(status 400): the images or texts are not allowed");
    scored(&results[3], 1);
    assert_eq!(simulator.requests(), 4);
    assert_eq!(books_agree(&harness, &simulator), 0);
    assert_eq!(simulator.bill(), pico(&results[3]["cost_usd"]), "refusals cost nothing");
}

#[test]
fn what_was_billed_for_a_refusal_is_booked() {
    let harness = CommandHarness::new();
    write_items(&harness, 3);
    let error = |message: &str| json!({"error": {"message": message, "code": "no"}});
    let mut filtered = error("filtered");
    filtered["usage"] = json!({"prompt_tokens": 1_000, "completion_tokens": 0});
    let answers = vec![(415, error("type")), (422, error("field")), (400, filtered)];
    let judge = Recorder::start(answers);
    harness.judge(&judge.base_url(), "manifest.jsonl", &["-j", "1"]).exits(3);
    assert_eq!(judge.asked().len(), 3);
    let results = results(&harness, 3);
    failed(&results[0], "request", 1, "(status 415): type");
    failed(&results[1], "request", 1, "(status 422): field");
    failed(&results[2], "request", 1, "(status 400): filtered");
    // 1,000 tokens at $2.50 a million.
    assert_eq!(pico(&results[2]["cost_usd"]), 2_500_000_000);
    assert_eq!(pico(&harness.report("first")["cost"]["total_usd"]), 2_500_000_000);
}

#[test]
fn a_provider_in_trouble_is_asked_again_a_few_times() {
    let harness = CommandHarness::new();
    write_items(&harness, 6);
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
    run.prints(&["5 of 6 scored", "1 failed"]);
    let results = results(&harness, 6);
    for result in &results[..5] {
        scored(result, 2);
    }
    failed(&results[5], "api", 5, "failed with status 500 after 5 attempts: the server had");
    assert_eq!(simulator.requests(), 5 * 2 + 5);
    assert_eq!(books_agree(&harness, &simulator), 0);
    assert_eq!(pico(&results[5]["cost_usd"]), 0);
}

#[test]
fn a_call_that_is_cut_is_presumed_spent_and_made_once_more() {
    let harness = CommandHarness::new();
    write_items(&harness, 4);
    let simulator = TestSimulator::failing(script(&[
        (0, &[Some(Fault::Reset)]),
        (1, &[Some(Fault::Cut)]),
        (2, &[Some(Fault::Cut), Some(Fault::Reset), None]),
    ]));
    let flags = ["--budget-usd", "5"];
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(3);
    run.prints(&["3 of 4 scored", "1 failed"]);
    let results = results(&harness, 4);
    scored(&results[0], 2);
    scored(&results[1], 2);
    failed(&results[2], "api", 2, "2 calls were sent without a reply");
    scored(&results[3], 1);
    assert_eq!(simulator.requests(), 7);
    let presumed = books_agree(&harness, &simulator);
    let worst = |result: &Value| pico(&result["estimate"]["worst_case_usd"]);
    assert_eq!(presumed, worst(&results[0]) + worst(&results[1]) + 2 * worst(&results[2]));
    assert_eq!(pico(&results[2]["cost_usd"]), 0, "presumed spending is the run's, not the job's");
}

#[test]
fn a_call_that_hangs_is_given_up_and_made_once_more() {
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    let hang = Some(Fault::Hang);
    let simulator = TestSimulator::failing(script(&[(0, &[hang]), (1, &[hang, hang, None])]));
    let mut command = harness.judging(&simulator.base_url(), "manifest.jsonl", &[]);
    let run = command.env("JUROR_JUDGE_TIMEOUT_SECONDS", "1").output().unwrap();
    Finished::from(run).exits(3).prints(&["1 of 2 scored", "1 failed"]);
    let results = results(&harness, 2);
    scored(&results[0], 2);
    failed(&results[1], "api", 2, "no complete reply within 2 s");
    let presumed = books_agree(&harness, &simulator);
    let worst = |result: &Value| pico(&result["estimate"]["worst_case_usd"]);
    assert_eq!(presumed, worst(&results[0]) + 2 * worst(&results[1]));
}
