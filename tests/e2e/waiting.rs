//! Providers without usable replies, with endless refusals or low concurrency limits: the run
//! pauses, waits until its deadline, or makes fewer calls, and reports it.

use crate::harness::{CommandHarness, Recorder, TestSimulator, completion, pico, verdict};
use juror_simulator::{Fault, FaultPlan, Latency, Quirk, Share, SimulatorConfig, TokenCount};
use serde_json::{Value, json};
use std::time::Duration;

/// Simulator that refuses every call with a rate limit and this retry delay in seconds.
fn refusing(seconds: u64) -> TestSimulator {
    let rates = vec![Share { of: Fault::RateLimit, share: 1.0 }];
    TestSimulator::start(SimulatorConfig {
        faults: FaultPlan { rates, ..FaultPlan::default() },
        fault_retry_after: Duration::from_secs(seconds),
        ..SimulatorConfig::default()
    })
}

#[test]
fn run_is_paused_if_every_reply_is_truncated() {
    let harness = CommandHarness::with_items(200);
    let simulator = TestSimulator::always(Fault::Length);
    let flags = ["-j", "4", "--budget-usd", "5"];
    let paused = harness.judge_run(&simulator, "cut", &flags).exits(1);
    paused.stderr_contains(&[
        "paused: 10 items in a row got no usable reply",
        "paused and keeps its jobs",
        "truncated at the output limit",
        "juror retry cut",
    ]);
    let calls = simulator.count("billed_calls");
    assert!(calls <= 28, "{calls} calls: two for each of ten items, and those in flight");
    let report = harness.report("cut");
    assert_eq!(pico(&report["cost"]["total_usd"]), simulator.bill());
    assert!(pico(&report["cost"]["worst_case_usd"]) >= simulator.bill());
    assert!(report["coverage"]["pending"].as_u64().unwrap() >= 185, "the jobs are kept");

    let mended = TestSimulator::new();
    let retry = ["retry", "cut", "--base-url", &mended.base_url(), "-j", "8"];
    harness.juror(&retry).exits(0).stdout_contains(&["200 of 200 scored"]);
    assert_eq!(mended.count("billed_calls"), 200);
}

#[test]
fn zero_failure_bound_never_pauses_the_run() {
    let harness = CommandHarness::with_items(15);
    let simulator = TestSimulator::always(Fault::Length);
    harness.write("juror.toml", "[judge]\nmax_unusable_in_a_row = 0\n");
    harness.judge_run(&simulator, "vain", &[]).exits(3).stdout_contains(&["15 unscorable"]);
    assert_eq!(simulator.count("billed_calls"), 30);
}

#[test]
fn truncated_reply_is_retried_with_twice_the_output_limit() {
    let harness = CommandHarness::with_items(1);
    let mut cut = completion("{\"scores\": {", 100, 1_000);
    cut.1["choices"][0]["finish_reason"] = "length".into();
    let judge = Recorder::start(vec![cut, completion(&verdict(9), 100, 60)]);
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &["--budget-usd", "5"]);
    run.exits(0).stdout_contains(&["1 of 1 scored"]);
    let limits: Vec<_> = judge.requests().iter().map(|asked| asked["max_tokens"].clone()).collect();
    assert_eq!(limits, [2_500, 5_000]);
    // Both replies, at $2.50 and $10 per million tokens.
    let cost = &harness.report("first")["cost"];
    assert_eq!(pico(&cost["total_usd"]), 2 * 250_000_000 + 10_600_000_000);
    assert!(pico(&cost["worst_case_usd"]) > pico(&cost["total_usd"]));
}

#[test]
fn one_hour_retry_after_pauses_the_run_immediately() {
    let harness = CommandHarness::with_items(3);
    let simulator = refusing(3_600);
    let paused = harness.judge_run(&simulator, "later", &["-j", "1"]).exits(1);
    paused.stderr_contains(&[
        "paused: no call is accepted for the next 60 minutes",
        "paused and keeps its jobs",
    ]);
    assert_eq!(simulator.requests(), 1);
}

#[test]
fn reply_in_another_api_format_is_booked() {
    let harness = CommandHarness::with_items(1);
    let usage = json!({"input_tokens": 900, "output_tokens": 90});
    let content = json!([{"type": "text", "text": verdict(9)}]);
    let answer = json!({"type": "message", "content": content, "usage": usage});
    let judge = Recorder::start(vec![(200, answer); 5]);
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &["--budget-usd", "5"]);
    run.exits(3).stdout_contains(&["1 unscorable"]);
    let calls = judge.requests().len() as u64;
    assert!((2..=3).contains(&calls), "{calls}");
    let cost = &harness.report("first")["cost"];
    assert_eq!(
        (cost["calls"].as_u64(), cost["unmetered_calls"].as_u64()),
        (Some(calls), Some(calls))
    );
    assert!(pico(&cost["total_usd"]) >= calls as i64 * 3_150_000_000, "{cost}");
}

#[test]
fn endless_refusals_are_reported_and_end_at_the_deadline() {
    let harness = CommandHarness::with_items(20);
    let simulator = refusing(30);
    let flags = ["-j", "2", "--deadline", "1s"];
    let ended = harness.judge_run(&simulator, "refused", &flags).exits(3);
    ended.stdout_contains(&["0 of 20 scored", "20 skipped"]).stderr_contains(&[
        "the provider refused a call (429: too many requests in a minute); next attempt at ",
        "the deadline has passed: 20 jobs skipped",
        "juror run --resume refused",
    ]);
    assert!(simulator.requests() <= 2);
    for result in harness.journal("refused") {
        assert_eq!(
            (&result["outcome"], &result["error"]["kind"]),
            (&"skipped".into(), &"deadline".into())
        );
    }
    assert_eq!(harness.report("refused")["coverage"]["errors"]["deadline"], 20);

    let simulator = simulator.restart_with(SimulatorConfig::default());
    harness.resume("refused", &[]).exits(0).stdout_contains(&["20 of 20 scored"]);
    assert_eq!(simulator.count("billed_calls"), 20);
}

#[test]
fn daily_and_image_refusals_pause_the_run() {
    for (quirk, reason) in [
        (Quirk::WrappedQuota, "no funds or quota left"),
        (Quirk::GeminiDayLimit, "daily limit is reached"),
        (Quirk::OpenrouterDayLimit, "daily limit is reached"),
        (Quirk::NoImageEndpoints, "this model does not accept images"),
    ] {
        let harness = CommandHarness::with_items(5);
        let simulator = TestSimulator::start(SimulatorConfig::with_quirks(&[quirk]));
        let paused = harness.judge_run(&simulator, "paused", &["-j", "1"]).exits(1);
        paused.stderr_contains(&["paused and keeps its jobs", reason]);
        assert_eq!(simulator.requests(), 1, "{quirk}");
    }
}

#[test]
fn invalid_deadline_is_refused() {
    let harness = CommandHarness::with_items(1);
    for text in ["soon", "25:00"] {
        let refused = harness.juror(&["run", "manifest.jsonl", "--deadline", text]).exits(2);
        let problem = format!("\"{text}\" is not a deadline: give a time of day");
        refused.stderr_contains(&["--deadline", &problem]);
    }
}

#[test]
fn concurrency_adapts_to_a_provider_with_a_low_limit() {
    for flags in [&["-j", "24"][..], &[]] {
        let harness = CommandHarness::with_items(120);
        let simulator = TestSimulator::start(SimulatorConfig {
            max_parallel: Some(4),
            latency: Latency::fixed(Duration::from_millis(20)),
            ..SimulatorConfig::default()
        });
        let run = harness.judge_run(&simulator, "narrow", flags).exits(0);
        run.stdout_contains(&["120 of 120 scored"]).stderr_contains(&[
            "the number of concurrent calls is lowered",
            "-j",
            "--rpm",
        ]);
        assert_eq!(simulator.count("billed_calls"), 120);
        let refused = simulator.requests() - 120;
        assert!(refused <= 40, "{refused} refusals");
    }
}

#[test]
fn token_limit_is_used_by_the_count_of_the_provider() {
    for count in [TokenCount::Input, TokenCount::Max] {
        let harness = CommandHarness::with_items(400);
        let simulator = TestSimulator::start(SimulatorConfig {
            tokens_per_minute: Some(6_000_000),
            token_count: Some(count),
            latency: Latency::fixed(Duration::from_millis(20)),
            ..SimulatorConfig::default()
        });
        harness.judge_run(&simulator, "counted", &["-j", "64"]).exits(0);
        let stats: Value = simulator.stats();
        let refused = stats["refusals"]["rate_limit_exceeded"].as_u64().unwrap_or(0);
        assert!(refused <= 40, "{count:?}: {refused} refusals");
        assert_eq!(stats["billed_calls"], 400, "{count:?}");
    }
}

#[test]
fn remaining_budgets_are_shown_and_checked() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    harness.judge_run(&simulator, "paid", &["--budget-usd", "1"]).exits(0);
    let spent = simulator.bill();
    let shown = harness.juror(&["budget", "show", "paid", "--json"]).exits(0);
    let states: Vec<Value> = serde_json::from_str(&shown.stdout).unwrap();
    let scopes: Vec<_> = states.iter().map(|state| state["scope"].as_str().unwrap()).collect();
    assert_eq!(scopes[0], "run:paid");
    assert!(scopes[1].starts_with("day:") && scopes[2].starts_with("month:"), "{scopes:?}");
    assert_eq!(pico(&states[0]["left_usd"]), 1_000_000_000_000 - spent);
    assert_eq!(states[1]["cap_usd"], Value::Null);
    let shown = harness.juror(&["budget", "show", "paid"]).exits(0);
    shown.stdout_contains(&[
        "Run paid:",
        " of a budget of $1.00, ",
        " left",
        "Today:",
        ", no budget set",
    ]);
    harness
        .juror(&["budget", "show", "none"])
        .exits(2)
        .stderr_contains(&["run none is not in the ledger"]);

    let doctor = ["doctor", "--base-url", &simulator.base_url()];
    harness.juror(&doctor).exits(0).stdout_contains(&["day and month have no cap"]);
    let capped = "[budget]\nday_usd = \"0.001\"\n";
    harness.write("juror.toml", capped);
    let ill = harness.juror(&doctor).exits(1);
    ill.stdout_contains(&["BAD   budget", "$0.00 of $0.0010 left", "juror budget set day AMOUNT"]);
}

#[test]
fn doctor_reports_server_differences() {
    let harness = CommandHarness::with_items(1);
    let simulator = TestSimulator::new();
    let root = simulator.base_url().trim_end_matches("/v1").to_owned();
    // Azure lists models, and calls name deployments.
    harness.write("juror.toml", "[prices.\"my-deployment\"]\ninput = 0\noutput = 0\n");
    let azure = format!("{root}/openai/v1");
    let found = harness.juror(&["doctor", "--base-url", &azure, "--model", "my-deployment"]);
    found.exits(0).stdout_contains(&["must be the name of one", "a run can start"]);
    let unpriced = harness.juror(&["doctor", "--base-url", &azure, "--model", "llava"]).exits(1);
    unpriced.stdout_contains(&["0 for a server of your own"]);
}
