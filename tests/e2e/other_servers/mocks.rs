//! Mock servers of providers: aimock and fakellm.

use super::available;
use crate::{
    errors::results,
    harness::{CommandHarness, Finished, pico, verdict},
};
use juror_services::other_servers::OtherServer;
use serde_json::json;

const ITEMS: u32 = 14;
const CANNED: &str = "All of it looks fine to me.";
const KEY: &str = "a-key-of-aimock";

fn dataset() -> CommandHarness {
    CommandHarness::with_items(ITEMS)
}

fn aimock(harness: &CommandHarness, answer: &str) -> Option<OtherServer> {
    let fixture = json!({"match": {}, "response": {"content": answer}});
    let fixtures = harness.write("fixtures.json", json!({"fixtures": [fixture]}).to_string());
    available("aimock", OtherServer::aimock(&fixtures, Some(KEY)))
}

fn fakellm(harness: &CommandHarness, answer: &str) -> Option<OtherServer> {
    let rule = json!({"name": "any", "respond": {"content": answer}});
    let config = json!({"version": 1, "rules": [rule]}).to_string();
    let config = harness.write("fakellm.yaml", config);
    available("fakellm", OtherServer::fakellm(&config))
}

fn command(harness: &CommandHarness, arguments: &[&str], key: &str) -> Finished {
    harness.command(arguments).env("OPENAI_API_KEY", key).output().unwrap().into()
}

fn judge(harness: &CommandHarness, server: &OtherServer, key: &str) -> Finished {
    let url = server.base_url();
    let run = ["run", "manifest.jsonl", "--enable-llm-judge", "--run-id", "first", "-j", "1"];
    command(harness, &[&run[..], &["--base-url", &url]].concat(), key)
}

/// Asserts that the circuit breaker paused the run, and that every reply is booked by its reported
/// usage.
fn circuit_breaker_pauses_the_run(harness: &CommandHarness, run: Finished) {
    let run = run.exits(1).stderr_contains(&["10 items in a row got no usable reply"]);
    run.stderr_contains(&["the judge's reply is not JSON", "judge.max_unusable_in_a_row"]);
    let coverage = &harness.report("first")["coverage"];
    assert_eq!((&coverage["unscorable"], &coverage["pending"]), (&json!(10), &json!(4)));
    costs_match_the_usage(harness);
}

/// gpt-4o costs $2.50 per million input tokens and $10 per million output tokens.
fn costs_match_the_usage(harness: &CommandHarness) {
    let mut sum = 0;
    for result in harness.journal("first") {
        let tokens = |name: &str| result["usage"][name].as_i64().unwrap();
        let cost = tokens("input_tokens") * 2_500_000 + tokens("output_tokens") * 10_000_000;
        assert!(cost > 0 && pico(&result["cost_usd"]) == cost, "{result}");
        sum += cost;
    }
    assert_eq!(pico(&harness.report("first")["cost"]["total_usd"]), sum);
}

fn all_are_scored(harness: &CommandHarness, run: Finished) {
    run.exits(0).stdout_contains(&["14 of 14 scored"]);
    for result in results(harness, ITEMS) {
        assert_eq!(result["semantic"]["semantic_correctness"], 0.8, "{result}");
        assert_eq!(result["judge"]["simulated"], false);
    }
    costs_match_the_usage(harness);
}

#[test]
fn aimock_judges_with_scripted_verdicts() {
    let canned = dataset();
    let Some(server) = aimock(&canned, CANNED) else { return };
    let url = server.base_url();
    let doctor = |key: &str| command(&canned, &["doctor", "--base-url", &url], key);
    doctor(KEY).exits(0).stdout_contains(&["a run can start"]);
    doctor("wrong").exits(1).stdout_contains(&["authentication failed"]);
    judge(&canned, &server, "wrong").exits(1).stderr_contains(&["authentication failed"]);
    assert_eq!(pico(&canned.report("first")["cost"]["total_usd"]), 0);
    std::fs::remove_dir_all(canned.path("runs")).unwrap();
    circuit_breaker_pauses_the_run(&canned, judge(&canned, &server, KEY));
    let judging = dataset();
    let Some(server) = aimock(&judging, &verdict(8)) else { return };
    all_are_scored(&judging, judge(&judging, &server, KEY));
}

#[test]
fn fakellm_judges_with_scripted_verdicts() {
    let canned = dataset();
    let Some(server) = fakellm(&canned, CANNED) else { return };
    let doctor = command(&canned, &["doctor", "--base-url", &server.base_url()], KEY);
    doctor.exits(0).stdout_contains(&["returned no list of models", "a run can start"]);
    circuit_breaker_pauses_the_run(&canned, judge(&canned, &server, KEY));
    let judging = dataset();
    let Some(server) = fakellm(&judging, &verdict(8)) else { return };
    all_are_scored(&judging, judge(&judging, &server, KEY));
}
