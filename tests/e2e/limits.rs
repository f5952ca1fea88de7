//! Learned and configured rate limits, and calls in flight.

use crate::harness::{CommandHarness, TestSimulator};
use juror_simulator::SimulatorConfig;

/// Twenty calls per second, with a burst of twenty.
const PER_MINUTE: u64 = 1_200;
const ITEMS: u32 = 50;

fn fixture() -> (CommandHarness, TestSimulator) {
    let harness = CommandHarness::with_items(ITEMS);
    let config =
        SimulatorConfig { requests_per_minute: Some(PER_MINUTE), ..SimulatorConfig::default() };
    (harness, TestSimulator::start(config))
}

fn refused(simulator: &TestSimulator) -> u64 {
    simulator.stats()["refusals"]["rate_limit_exceeded"].as_u64().unwrap_or(0)
}

#[test]
fn limits_are_learned_from_response_headers() {
    let (harness, simulator) = fixture();
    harness.judge_run(&simulator, "learned", &[]).exits(0).stdout_contains(&["50 of 50 scored"]);
    assert!(refused(&simulator) <= 2, "{} refusals", refused(&simulator));
    assert_eq!(simulator.count("billed_calls"), u64::from(ITEMS));
}

#[test]
fn configured_limits_are_respected() {
    let (harness, simulator) = fixture();
    let flags = ["--rpm", "1200", "-j", "50"];
    harness.judge_run(&simulator, "given", &flags).exits(0).stdout_contains(&["50 of 50 scored"]);
    assert_eq!(refused(&simulator), 0);
    assert_eq!(simulator.requests(), u64::from(ITEMS));
}

#[test]
fn excess_concurrency_costs_few_refusals_and_no_item() {
    let (harness, simulator) = fixture();
    harness
        .judge_run(&simulator, "greedy", &["-j", "40"])
        .exits(0)
        .stdout_contains(&["50 of 50 scored"]);
    // Forty calls started before a response reported the limit, and twenty of them could pass.
    assert!(refused(&simulator) <= 24, "{} refusals", refused(&simulator));
    assert_eq!(simulator.count("billed_calls"), u64::from(ITEMS));
}

#[test]
fn calls_in_flight_reach_but_never_exceed_the_limit() {
    for (flags, at_once) in [(&["-j", "7"][..], 7), (&["-j", "1"], 1), (&[], 16)] {
        let harness = CommandHarness::with_items(24);
        let (simulator, gate) = TestSimulator::gated();
        let running = harness.start_run(&simulator, "parallel", flags);
        simulator.await_count("in_flight", at_once);
        gate.allow(1);
        simulator.await_requests(at_once + 1);
        assert_eq!(simulator.count("max_in_flight"), at_once);
        gate.open();
        running.finish().exits(0).stdout_contains(&["24 of 24 scored"]);
        if !flags.is_empty() {
            assert_eq!(simulator.count("max_in_flight"), at_once);
        }
    }
}
