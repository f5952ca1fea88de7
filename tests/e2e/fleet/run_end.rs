//! Cost of a fleet run at its end, compared with the provider's bill.

use super::{
    servers::Servers,
    worker_fixture::{WorkerFixture, stop},
};
use crate::harness::pico;
use juror_types::id::RunId;

#[test]
fn cancelled_run_of_killed_workers_ends_without_open_leases() {
    let fixture = WorkerFixture::gated(Servers::shared(), 16);
    let WorkerFixture { servers, harness, simulator, gate } = &fixture;
    let run = RunId::new("ended");
    let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", "ended"];
    servers.juror(harness, &enqueue).exits(0);
    let aggregator = servers.start(harness, &["aggregate"]);
    for lives in 1..=2 {
        let killed = fixture.start(&["-j", "4"]);
        simulator.await_count("billed_calls", lives * 4);
        killed.kill();
    }
    let last = fixture.start(&["-j", "2"]);
    // Up to eight of these replies are for workers that were killed.
    gate.allow(14);
    servers.await_progress(&run, |progress| progress.counts.scored >= 6);
    servers.juror(harness, &["cancel", "ended"]).exits(0);
    gate.open();
    servers.await_status(&run, |status| status.is_reported().then_some(()));
    stop(last);
    aggregator.stop();

    let (ledger, bill) = (servers.ledger(&run), simulator.bill());
    assert_eq!(ledger.outstanding.pico(), 0, "no lease outlives the run: {ledger:?}");
    let cost = &harness.report("ended")["cost"];
    assert_eq!(pico(&cost["total_usd"]), ledger.committed.pico());
    assert!(pico(&cost["total_usd"]) >= bill, "{cost} of {bill}");
    let probable = pico(&cost["results_usd"]) + pico(&cost["presumed_probable_usd"]);
    assert!((probable - bill).abs() <= bill / 20, "{probable} of {bill}: {cost}");
}
