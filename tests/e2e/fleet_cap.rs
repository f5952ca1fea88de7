//! A budget that many processes spend concurrently: completely, and never beyond.

use crate::harness::{
    CommandHarness, FleetHarness, FleetServers, Size, TestSimulator, pico, write_items_numbered,
};
use juror_simulator::{Latency, SimulatorConfig};
use std::time::Duration;

const ITEMS: u32 = 400;
/// Worst cases of all items over the cap.
const TOO_MUCH: i64 = 20;
const MAX_WAIT: Duration = Duration::from_secs(120);

#[test]
fn eight_workers_spend_exactly_a_budget() {
    let harness = CommandHarness::new();
    // Numbers of equal length give every call the same worst case.
    write_items_numbered(&harness, 1_000..1_000 + ITEMS);
    let latency = Latency::fixed(Duration::from_millis(20));
    let simulator = TestSimulator::start(SimulatorConfig { latency, ..SimulatorConfig::default() });
    let estimate = harness.juror(&["estimate", "manifest.jsonl", "--enable-llm-judge", "--json"]);
    let estimate = estimate.exits(0).json();
    let worst = pico(&estimate["models"][0]["worst_one_call_usd"]);
    let (cap, each) = (worst / TOO_MUCH, worst / i64::from(ITEMS));

    let size = Size { workers: 8, aggregators: 1, at_once: 4 };
    let mut fleet = FleetHarness::new(&size, FleetServers::shared_broker(), harness, simulator);
    fleet.start();
    let budget = format!("{}.{:012}", cap / 1_000_000_000_000, cap % 1_000_000_000_000);
    let mut producer = fleet.producer("capped", &["--budget-usd", &budget]);
    producer.start();
    assert_eq!(producer.await_exit(MAX_WAIT), 0, "{}", producer.output());
    let progress = fleet.await_report("capped", MAX_WAIT);
    fleet.stop();

    let billed = fleet.simulator.bill();
    assert!(billed <= cap, "{billed} of {cap} were billed");
    let unused = cap - billed;
    assert!(unused < each, "{unused} of {cap} are unused, a call is {each} at worst");
    let calls = fleet.simulator.count("billed_calls");
    assert_eq!(
        (progress.counts.scored, progress.counts.scored + progress.counts.skipped),
        (calls, ITEMS.into())
    );
    let ledger = fleet.servers.ledger("capped");
    assert_eq!((ledger.committed.pico(), ledger.outstanding.pico()), (billed, 0));
    for result in fleet.harness.journal("capped") {
        let kind = &result["error"]["kind"];
        assert!(result["outcome"] == "scored" || kind == "budget", "{result}");
    }
}
