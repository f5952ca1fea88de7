//! Replies without a verdict, and servers without response formats.

use crate::{
    errors::{check_costs, results, script},
    harness::{CommandHarness, Recorder, TestSimulator, completion, pico, verdict},
};
use juror_simulator::{Fault, ResponseFormats, SimulatorConfig};
use serde_json::{Value, json};

/// Faults of a reply's content that leave no verdict, with the expected messages.
const UNUSABLE: [(Fault, &str); 9] = [
    (Fault::Truncated, ""),
    (Fault::Refusal, "the judge refused to answer: I cannot help with this picture."),
    (Fault::Length, "truncated at the output limit; raise judge.max_output_tokens"),
    (Fault::ContentFilter, "content filter withheld the reply"),
    (Fault::OutOfRange, "outside the scale of 0 to 10"),
    (Fault::Fractional, ""),
    (Fault::StringScores, ""),
    (Fault::MissingKeys, "lacks scores.visual_similarity"),
    (Fault::Empty, ""),
];

#[test]
fn unusable_reply_is_billed_and_retried() {
    let harness = CommandHarness::with_items(9);
    let scripts: Vec<_> = UNUSABLE.iter().map(|(fault, _)| [Some(*fault), None]).collect();
    let scripts: Vec<_> = scripts.iter().zip(0..).map(|(faults, n)| (n, &faults[..])).collect();
    let simulator = TestSimulator::failing(script(&scripts));
    harness.judge(&simulator.base_url(), "manifest.jsonl", &["--budget-usd", "5"]).exits(0);
    for (result, (fault, _)) in results(&harness, 9).iter().zip(UNUSABLE) {
        assert_eq!(result["outcome"], "scored", "{fault}: {result}");
        assert_eq!(result["attempts"], 2, "{fault}");
        assert!(result["semantic"]["total_score"].as_i64().is_some());
    }
    assert_eq!(simulator.requests(), 18);
    assert_eq!(check_costs(&harness, &simulator), 0);
    let total = pico(&harness.report("first")["cost"]["total_usd"]);
    assert_eq!(total, simulator.bill(), "both replies are booked exactly");
}

#[test]
fn three_unusable_replies_are_unscorable_and_never_a_score() {
    let harness = CommandHarness::with_items(10);
    let scripts: Vec<_> = UNUSABLE.iter().map(|(fault, _)| [Some(*fault); 4]).collect();
    let scripts: Vec<_> = scripts.iter().zip(0..).map(|(faults, n)| (n, &faults[..])).collect();
    let simulator = TestSimulator::failing(script(&scripts));
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(3);
    run.stdout_contains(&["1 of 10 scored", "9 unscorable"]).stderr_contains(&["--resume first"]);
    for (result, (fault, expected_text)) in results(&harness, 9).iter().zip(UNUSABLE) {
        // The output limit is doubled once, and the third reply would be truncated as well.
        let answers = if fault == Fault::Length { 2 } else { 3 };
        assert_eq!(result["outcome"], "unscorable", "{fault}: {result}");
        assert_eq!(result["attempts"], answers, "{fault}");
        assert_eq!(result["semantic"], Value::Null, "{fault}");
        assert_eq!(result["pipeline_success"], false);
        assert_eq!(result["error"]["kind"], "reply");
        let message = result["error"]["message"].as_str().unwrap();
        let begins = format!("none of {answers} replies is usable; the last: ");
        assert!(message.starts_with(&begins), "{message}");
        assert!(message.contains(expected_text), "{fault}: {message}");
    }
    assert_eq!(simulator.requests(), 8 * 3 + 2 + 1);
    assert_eq!(check_costs(&harness, &simulator), 0);
    let report = harness.report("first");
    assert_eq!(pico(&report["cost"]["total_usd"]), simulator.bill());
    let only = harness.result("first", "item_0009");
    assert_eq!(
        report["overall"]["semantic"]["avg_semantic_correctness"],
        only["semantic"]["semantic_correctness"],
        "the average is of the one item that has a score"
    );
}

#[test]
fn verdict_in_a_code_fence_or_prose_is_parsed() {
    let harness = CommandHarness::with_items(2);
    let faults = script(&[(0, &[Some(Fault::Fenced)]), (1, &[Some(Fault::Prose)])]);
    let simulator = TestSimulator::failing(faults);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    assert_eq!(simulator.requests(), 2);
    assert_eq!(check_costs(&harness, &simulator), 0);
}

#[test]
fn server_without_response_formats_still_judges() {
    for (response_formats, reported) in [
        (ResponseFormats::JsonObject, "is asked for from now on"),
        (ResponseFormats::TextOnly, "is asked for from now on"),
    ] {
        let harness = CommandHarness::with_items(6);
        let config = SimulatorConfig { response_formats, ..SimulatorConfig::default() };
        let simulator = TestSimulator::start(config);
        let flags = ["-j", "1"];
        let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(0);
        run.stdout_contains(&["6 of 6 scored"]).stderr_contains(&[reported]);
        assert!(simulator.requests() <= 8, "only the first request is refused");
        assert_eq!(check_costs(&harness, &simulator), 0);
        assert_eq!(harness.result("first", "item_0000")["attempts"], 1);
    }
}

#[test]
fn implausible_usage_is_booked_at_its_bound() {
    let mut impossible = completion(&verdict(9), 0, 0);
    impossible.1["usage"] = json!({"prompt_tokens": i64::MAX, "completion_tokens": i64::MAX});
    let mut silent = completion(&verdict(9), 0, 0);
    silent.1["usage"].take();
    let no_answer = (200, json!("welcome to this site"));
    let harness = CommandHarness::with_items(3);
    let judge = Recorder::start(vec![impossible, silent, no_answer]);
    harness.judge(&judge.base_url(), "manifest.jsonl", &["-j", "1"]).exits(3);
    let outcomes = [("scored", 1), ("scored", 1), ("failed", 0)];
    for (result, (outcome, calls)) in results(&harness, 3).iter().zip(outcomes) {
        assert_eq!(result["outcome"], outcome);
        let worst = pico(&result["estimate"]["worst_case_usd"]);
        assert_eq!(pico(&result["cost_usd"]), calls * worst);
    }
}

#[test]
fn bill_above_its_bound_is_booked_and_stops_the_run() {
    let harness = CommandHarness::with_items(3);
    let judge = Recorder::start(vec![completion(&verdict(9), 200_000, 60)]);
    let flags = ["-j", "1", "--budget-usd", "0.3"];
    let run = harness.judge(&judge.base_url(), "manifest.jsonl", &flags).exits(3);
    run.stdout_contains(&[
        "1 of 3 scored",
        "$0.5006 of a budget of $0.3000, which is exceeded",
        "2 skipped",
        "a bill",
        "correct the model's",
        "price or image formula",
    ]);
    assert_eq!(judge.requests().len(), 1);
    let cost = &harness.report("first")["cost"];
    // 200,000 tokens at $2.50 and 60 at $10 a million.
    assert_eq!(pico(&cost["total_usd"]), 500_600_000_000);
    let worst = pico(&harness.result("first", "item_0000")["estimate"]["worst_case_usd"]);
    assert_eq!(pico(&cost["overrun_usd"]), 500_600_000_000 - worst);
    let warnings = harness.report("first")["warnings"].to_string();
    assert!(warnings.contains("$0.2006 above its budget of $0.3000: the vision API"), "{warnings}");
}
