//! `kill -9` of a shard's owner at each step: another worker takes the shard over, and no row is
//! submitted twice.

use super::fleet_fixture::{FleetFixture, all_in_batches};
use crate::harness::proxy::{FaultProxy, Moment, ProxiedProtocol, ScriptStep, Wire};
use juror_simulator::{BatchFault, BatchSettings};
use std::{sync::Arc, time::Duration};

const ITEMS: u32 = 5;
const HOLD_TIMEOUT: Duration = Duration::from_secs(60);
/// Settings that put all items into one batch, however slowly they arrive.
const ONE_BATCH: [(&str, &str); 2] =
    [("JUROR_BATCH_MAX_ROWS", "5"), ("JUROR_BATCH_SEAL_AFTER", "1h")];

/// Kills a worker at the nth occurrence of this moment, and lets another continue.
fn killed_at(moment: Moment, nth: u64) {
    let fleet = FleetFixture::new(ITEMS, BatchSettings::default());
    let wire = Arc::new(Wire::default());
    let judge =
        FaultProxy::start(fleet.fixture.simulator.address.port(), ProxiedProtocol::Http, &wire);
    let (address, port) = fleet.servers.redis.url.rsplit_once(':').unwrap();
    let (port, rest) = port.split_once('/').map_or((port, ""), |(port, rest)| (port, rest));
    let redis = FaultProxy::start(port.parse().unwrap(), ProxiedProtocol::Resp, &wire);
    assert!(address.ends_with("127.0.0.1"), "{address}");
    let through = format!("redis://{}/{rest}", redis.address());
    let url = format!("http://{}/v1", judge.address());
    wire.hold(moment, nth);
    let worker =
        fleet.worker_at(&url, &[&ONE_BATCH[..], &[("JUROR_FLEET_REDIS", &through)]].concat());
    fleet.enqueue(&["--lane", "batch"]);
    assert!(wire.is_held(HOLD_TIMEOUT), "{moment:?} {nth} never came: {wire:?}");
    worker.kill();
    judge.cut();
    redis.cut();
    wire.release();
    let next = fleet.worker_at(&fleet.fixture.simulator.base_url(), &ONE_BATCH);
    let fixture = fleet.reported(ITEMS.into(), vec![next]);
    all_in_batches(&fixture, ITEMS.into());
    assert_eq!(fixture.simulator.count("batches"), 1, "{moment:?} {nth}");
}

#[test]
fn during_shard_filling() {
    let fleet = FleetFixture::new(ITEMS, BatchSettings::default());
    let url = fleet.fixture.simulator.base_url();
    let worker = fleet.worker_at(&url, &[("JUROR_BATCH_SEAL_AFTER", "1h")]);
    fleet.enqueue(&["--lane", "batch"]);
    fleet.await_rows(ITEMS as usize);
    worker.kill();
    let next = fleet.worker_at(&url, &ONE_BATCH);
    let fixture = fleet.reported(ITEMS.into(), vec![next]);
    all_in_batches(&fixture, ITEMS.into());
    assert_eq!(fixture.simulator.count("batches"), 1);
}

kill_at_each_step!(killed_at);

#[test]
fn after_unrecorded_row_settlement() {
    killed_at(Moment::Reply(ScriptStep::Settle), 2);
}

#[test]
fn batch_creation_without_a_response_is_found_again() {
    let faults = vec![BatchFault::CreationLost.into()];
    let fleet = FleetFixture::new(ITEMS, BatchSettings { faults, ..BatchSettings::default() });
    let worker = fleet.worker_at(&fleet.fixture.simulator.base_url(), &ONE_BATCH);
    fleet.enqueue(&["--lane", "batch"]);
    let fixture = fleet.reported(ITEMS.into(), vec![worker]);
    all_in_batches(&fixture, ITEMS.into());
    assert_eq!(fixture.simulator.count("batches"), 1);
}
