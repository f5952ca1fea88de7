//! A fleet's runs are compared with their baselines by the aggregator.

use crate::harness::{CommandHarness, FleetHarness, FleetServers, Size, TestSimulator};
use serde_json::Value;
use std::{fs, time::Duration};

const MAX_WAIT: Duration = Duration::from_secs(60);

#[test]
fn aggregator_compares_a_run_with_its_recorded_baseline() {
    let harness = CommandHarness::with_items(6);
    let simulator = TestSimulator::new();
    let size = Size { workers: 1, aggregators: 1, at_once: 2 };
    let mut fleet = FleetHarness::new(&size, FleetServers::shared_broker(), harness, simulator);
    fleet.start();
    let mut judge = |run: &str, flags: &[&str]| {
        let mut producer = fleet.producer(run, flags);
        producer.start();
        assert_eq!(producer.await_exit(MAX_WAIT), 0, "{}", producer.output());
        fleet.await_report(run, MAX_WAIT);
        fleet.harness.report(run)
    };
    judge("first", &[]);
    let early = judge("early", &["--baseline", "main"]);
    assert!(early["comparison"].is_null());
    let warnings = early["warnings"].to_string();
    assert!(warnings.contains("not compared with its baseline") && warnings.contains("main"));
    fleet.juror(&["bless", "first"]).exits(0);
    let mut producer = fleet.producer("night", &["--baseline", "main"]);
    producer.start();
    assert_eq!(producer.await_exit(MAX_WAIT), 0, "{}", producer.output());
    fleet.await_report("night", MAX_WAIT);
    fleet.stop();

    let night = fleet.harness.report("night");
    assert_eq!(night["comparison"]["base"]["run"], "first", "{}", night["comparison"]);
    assert_eq!(night["comparison"]["paired"], 6);
    let record = fs::read(fleet.harness.path("runs/night/run.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&record).unwrap()["baseline"], "main");
}
