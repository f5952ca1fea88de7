//! A Redis that comes back empty: what was spent before is not spent again, and what was judged
//! before is not judged again.

use super::servers::Servers;
use crate::harness::{CommandHarness, RunningCommand, TestSimulator, write_items};
use juror_ledger::redis::test_server::TestRedis;
use juror_simulator::SimulatorConfig;
use juror_types::id::RunId;
use rustix::process::Signal;

const ITEMS: u32 = 6;

#[test]
fn a_run_enqueued_again_elsewhere_waits_for_what_the_journal_tells() {
    let servers = Servers::with(TestRedis::own(&[]));
    let simulator = TestSimulator::start(SimulatorConfig::default());
    let (first, other) = (CommandHarness::new(), CommandHarness::new());
    let run = RunId::new("wiped");
    let url = simulator.base_url();
    let work = ["worker", "--base-url", &url, "--data-root", "."];
    let aggregate = || {
        let mut aggregator = servers.start(&first, &["aggregate"]);
        aggregator.await_words("active: writing the results of fleet");
        aggregator
    };
    let budget = ["--budget-usd", "1", "--allow-volatile-redis"];
    let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", "wiped"];
    let enqueue = [&enqueue[..], &budget].concat();
    write_items(&first, ITEMS);
    write_items(&other, ITEMS);

    let aggregator = aggregate();
    let worker = servers.start(&first, &work);
    servers.juror(&first, &enqueue).exits(0);
    servers.await_report(&run, ITEMS.into());
    stop(worker);
    stop(aggregator);
    let billed = simulator.bill();

    servers.redis.command(&["FLUSHALL"]);
    servers
        .juror(&other, &enqueue)
        .exits(0)
        .says(&["calls of run wiped are suspended until the ledger is reconciled"]);
    let mut worker = servers.start(&other, &work);
    worker.await_words("calls are suspended until the ledger is reconciled");
    assert_eq!(simulator.requests(), u64::from(ITEMS), "nobody is asked before the journal tells");
    let mut aggregator = aggregate();
    servers.await_report(&run, ITEMS.into());
    aggregator.await_words("the ledger is reconciled and calls are resumed");
    stop(worker);
    stop(aggregator);
    assert_eq!(simulator.requests(), u64::from(ITEMS), "what the journal has is not asked again");
    assert_eq!(simulator.bill(), billed);
    assert_eq!(servers.ledger(&run).committed.pico(), billed);
}

#[test]
fn a_run_that_only_a_journal_knows_is_no_new_run_once_the_ledger_is_reconciled() {
    let servers = Servers::with(TestRedis::own(&[]));
    let simulator = TestSimulator::start(SimulatorConfig::default());
    let (first, other) = (CommandHarness::new(), CommandHarness::new());
    let url = simulator.base_url();
    let enqueue = |harness: &CommandHarness, run: &str| {
        let flags = ["--budget-usd", "1", "--allow-volatile-redis", "--run-id", run];
        let own = ["enqueue", "manifest.jsonl", "--enable-llm-judge"];
        servers.juror(harness, &[&own[..], &flags].concat())
    };
    write_items(&first, ITEMS);
    write_items(&other, ITEMS);
    let aggregator = servers.start(&first, &["aggregate"]);
    let worker = servers.start(&first, &["worker", "--base-url", &url, "--data-root", "."]);
    enqueue(&first, "spent").exits(0);
    servers.await_report(&RunId::new("spent"), ITEMS.into());
    servers.redis.command(&["FLUSHALL"]);
    // Another run wakes the ledger.
    enqueue(&other, "next").exits(0);
    servers.await_report(&RunId::new("next"), ITEMS.into());
    enqueue(&other, "spent").exits(2).says(&["still counts in the ledger", "juror retry spent"]);
    stop(worker);
    stop(aggregator);
}

fn stop(process: RunningCommand) {
    process.signal(Signal::TERM);
    process.finish().exits(0);
}
