//! Calls that are bought in the lane `flex`.

use super::*;

/// Judges four items in the lane `flex` and returns the harness, the simulator and the run.
fn flex(quirks: &[Quirk]) -> (CommandHarness, TestSimulator, Finished) {
    let simulator = TestSimulator::start(SimulatorConfig::with_quirks(quirks));
    let harness = CommandHarness::with_items(4);
    let flags = ["--model", "gpt-5.4", "--lane", "flex"];
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags);
    (harness, simulator, run)
}

#[test]
fn flex_lane_costs_half_and_is_reported_in_every_result() {
    let (harness, simulator, run) = flex(&[]);
    let run = run.exits(0);
    assert!(!run.stderr.contains("lane"), "{}", run.stderr);
    assert_eq!(total(&harness), simulator.bill());
    for result in results(&harness, 4) {
        assert_eq!(result["lane"], "flex");
    }
    let record = fs::read_to_string(harness.path("runs/first/run.json")).unwrap();
    assert!(
        record.contains("\"lane\":\"flex\"") || record.contains("\"lane\": \"flex\""),
        "{record}"
    );
    let (full, ordinary, run) = judge(Quirk::IgnoredTier, 4, &["--model", "gpt-5.4"]);
    run.exits(0);
    assert_eq!(total(&full), ordinary.bill());
    assert_eq!(ordinary.bill(), 2 * simulator.bill());
}

#[test]
fn server_that_ignores_the_lane_is_reported_and_billed_in_full() {
    let (harness, simulator, run) = flex(&[Quirk::IgnoredTier]);
    let run = run.exits(0).stderr_contains(&["replies in the lane realtime in place of flex"]);
    assert_eq!(run.stderr.matches("in place of flex").count(), 1, "said once");
    assert_eq!(total(&harness), simulator.bill());
    for result in results(&harness, 4) {
        let reserved = pico(&result["estimate"]["worst_case_usd"]);
        assert!(pico(&result["cost_usd"]) <= reserved, "the reservation holds all the same");
        assert_eq!(result["lane"], "realtime");
    }
}

#[test]
fn flex_capacity_is_waited_for_and_unsupported_models_are_refused() {
    let (harness, simulator, run) = flex(&[Quirk::FlexUnavailable]);
    run.exits(0);
    assert_eq!((simulator.requests(), total(&harness)), (8, simulator.bill()));
    let flags = ["--lane", "flex"];
    let refused = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(2);
    refused.stderr_contains(&["gpt-4o", "no price in the lane flex"]);
}
