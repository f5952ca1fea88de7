//! Outages of the ledger, on a paused clock.

use super::*;
use std::sync::atomic::Ordering::SeqCst;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn calls_are_suspended_without_the_ledger_and_bills_booked_on_return() {
    let (fixture, judge, run) = held_run(1).await;
    fixture.publish(&run, &["0", "1"]).await;
    let worker = fixture.start();
    judge.await_calls(1).await;
    fixture.backend.away.store(true, SeqCst);
    judge.gate.add_permits(2);
    fixture.backend.await_missed(3).await;
    // The outage lasts.
    sleep(fixture::MAX_WAIT).await;
    assert_eq!((judge.calls(), fixture.results.held()), (1, 0));
    fixture.backend.away.store(false, SeqCst);
    let results = fixture.take_results(2).await;
    fixture.stop(worker).await;
    assert_eq!(judge.calls(), 2);
    let ledger = fixture.backend.ledger(&run).await.unwrap().unwrap();
    assert_eq!(ledger.committed, results[0].cost_usd + results[1].cost_usd);
    assert_eq!((ledger.presumed, ledger.outstanding), Default::default());
}

#[tokio::test(start_paused = true)]
async fn worker_without_a_ledger_stops_on_request() {
    let (fixture, judge, run) = held_run(1).await;
    fixture.publish(&run, &["0"]).await;
    let worker = fixture.start();
    judge.await_calls(1).await;
    fixture.backend.away.store(true, SeqCst);
    judge.gate.add_permits(1);
    fixture.backend.await_missed(2).await;
    fixture.shutdown.drain.cancel();
    sleep(100 * fixture::MAX_WAIT).await;
    assert!(!worker.is_finished(), "a bill is not booked yet");
    fixture.shutdown.now.cancel();
    fixture.stop(worker).await;
    assert_eq!((fixture.results.held(), fixture.jobs.held()), (0, 1));
    fixture.backend.away.store(false, SeqCst);
    let ledger = fixture.backend.ledger(&run).await.unwrap().unwrap();
    assert!(ledger.outstanding > ledger.committed, "it counts until its owner is gone");
}
