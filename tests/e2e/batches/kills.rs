//! `kill -9` at each step of a batch's life: nothing is submitted twice, and each row is billed
//! once.

use super::BatchFixture;
use crate::harness::{
    RunningCommand,
    proxy::{FaultProxy, Moment, ProxiedProtocol, Wire},
};
use juror_simulator::{BatchEnd, BatchFault, BatchSettings};
use std::{sync::Arc, time::Duration};

const ITEMS: u32 = 5;
const HOLD_TIMEOUT: Duration = Duration::from_secs(60);

/// Kills a run at the nth occurrence of this moment, and resumes it.
fn killed_at(moment: Moment, nth: u64) {
    let fixture = BatchFixture::faulty(ITEMS, &[]);
    let _proxy = kill(&fixture, moment, nth);
    fixture.harness.resume("night", &[]).exits(0).stdout_contains(&["5 of 5 scored"]);
    let counts = ["batches", "billed_calls"].map(|name| fixture.simulator.count(name));
    assert_eq!(counts, [1, 5], "{moment:?} {nth}");
    assert_eq!(fixture.harness.journal("night").len(), 5);
    fixture.assert_billed_plus_presumed(0);
}

kill_at_each_step!(killed_at);

#[test]
fn unrecorded_and_not_yet_listed_cancelled_batch_is_found_and_booked() {
    let faults = vec![BatchFault::LateListing.into()];
    let held = BatchSettings { end: BatchEnd::OnRequest, faults, ..BatchSettings::default() };
    let fixture = BatchFixture::new(ITEMS, held);
    let _proxy = kill(&fixture, Moment::Response, 2);
    fixture.harness.juror(&["cancel", "night"]).exits(0).stdout_contains(&["1 batch is cancelled"]);
    fixture.harness.resume("night", &[]).exits(3);
    let scored = fixture.count("scored", "") as u64;
    assert!(scored > 0, "the batch did some of its rows");
    let counts = ["batches", "billed_calls"].map(|name| fixture.simulator.count(name));
    assert_eq!(counts, [1, scored]);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn cancelled_batch_that_may_exist_counts_as_spent() {
    let fixture = BatchFixture::faulty(ITEMS, &[BatchFault::Unlisted.into()]);
    let worst = fixture.worst_batch();
    let _proxy = kill(&fixture, Moment::Response, 2);
    fixture.harness.juror(&["cancel", "night"]).exits(0);
    fixture.harness.resume("night", &[]).exits(0).stdout_contains(&["5 of 5"]);
    assert_eq!(fixture.simulator.count("batches"), 2);
    fixture.assert_presumed(worst);
}

#[test]
fn second_batch_is_recorded_before_the_list_is_searched_for_it() {
    let fixture = BatchFixture::faulty(
        ITEMS,
        &[BatchFault::CreationLost.into(), BatchFault::Unlisted.into()],
    );
    let worst = fixture.worst_batch();
    // Responses to the upload, five searches, the second creation and a search.
    let _proxy = kill(&fixture, Moment::Response, 8);
    assert_eq!(fixture.simulator.count("batches"), 2);
    fixture.harness.resume("night", &[]).exits(0).stdout_contains(&["5 of 5 scored"]);
    assert_eq!(fixture.simulator.count("batches"), 2);
    fixture.assert_presumed(worst);
}

/// Kills a run of this fixture at the nth occurrence of this moment; returns the proxy between run
/// and simulator.
fn kill(fixture: &BatchFixture, moment: Moment, nth: u64) -> FaultProxy {
    let wire = Arc::new(Wire::default());
    let proxy = FaultProxy::start(fixture.simulator.address.port(), ProxiedProtocol::Http, &wire);
    let url = format!("http://{}/v1", proxy.address());
    let arguments = [
        "run",
        "manifest.jsonl",
        "--enable-llm-judge",
        "--base-url",
        &url,
        "--run-id",
        "night",
        "--lane",
        "batch",
        "--budget-usd",
        "1",
    ];
    wire.hold(moment, nth);
    let running = RunningCommand::start(fixture.harness.command(&arguments));
    assert!(wire.is_held(HOLD_TIMEOUT), "{moment:?} {nth} never came: {wire:?}");
    running.kill();
    proxy.cut();
    wire.release();
    proxy
}
