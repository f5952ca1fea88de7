//! Limit of enqueued tokens, which all batches of an organization share.

use super::{
    BatchFixture,
    fleet_fixture::{FleetFixture, all_in_batches},
};
use juror_simulator::{BatchEnd, BatchFault, BatchSettings, Share};
use rustix::process::Signal;

/// Message of the provider.
const LIMIT_REACHED: &str = "Enqueued token limit reached";
const FLAGS: [&str; 4] = ["--lane", "batch", "--budget-usd", "5"];

#[test]
fn shard_waits_for_the_batch_of_another_run_instead_of_a_split() {
    let fixture = taken_by_another_run(12, 40_000, &[], "500ms");
    let mut running = fixture.harness.start_run(&fixture.simulator, "night", &FLAGS);
    running.await_stderr(LIMIT_REACHED);
    end_the_other_batch(&fixture);
    running.finish().exits(0).stdout_contains(&["12 of 12 scored"]);
    assert_eq!(fixture.simulator.count("batches"), 2, "the shard is one batch");
}

#[test]
fn shard_within_the_stated_limit_waits_however_long_another_batch_takes() {
    // The 48 rows of the other run are nearly as many tokens; the bounds of twelve are within it.
    let fixture = taken_by_another_run(48, 160_000, &[BatchFault::LateTokenLimit.into()], "20ms");
    let flags = [&FLAGS[..], &["--limit", "12"]].concat();
    let running = fixture.harness.start_run(&fixture.simulator, "night", &flags);
    // Each refused batch is polled once; eight refusals split a shard that may be too large.
    fixture.simulator.await_count("batch_polls", 20);
    end_the_other_batch(&fixture);
    running.finish().exits(0).stdout_contains(&["12 of 12 scored"]);
    let batches = fixture.simulator.get("/v1/batches?limit=100");
    let batches = batches["data"].as_array().unwrap();
    let completed = batches.iter().filter(|batch| batch["status"] == "completed");
    assert_eq!(completed.count(), 2, "the shard is one batch");
}

/// Items whose batch in another run uses up this limit of tokens until it is polled again.
fn taken_by_another_run(
    items: u32,
    enqueued_tokens: u64,
    faults: &[Share<BatchFault>],
    pause: &str,
) -> BatchFixture {
    let batches = BatchSettings {
        end: BatchEnd::AfterPolls(1),
        enqueued_tokens: Some(enqueued_tokens),
        faults: faults.to_vec(),
    };
    let fixture = BatchFixture::new(items, batches);
    let poll_every = |pause: &str| {
        let settings = format!("[batch]\npoll_min = \"{pause}\"\npoll_max = \"{pause}\"\n");
        fixture.harness.write("juror.toml", settings);
    };
    poll_every("1h");
    let other = fixture.harness.start_run(&fixture.simulator, "day", &FLAGS);
    fixture.simulator.await_count("batch_polls", 1);
    other.signal(Signal::INT);
    other.finish().exits(3).stderr_contains(&["1 batch continues at the provider"]);
    poll_every(pause);
    fixture
}

/// The second poll ends it.
fn end_the_other_batch(fixture: &BatchFixture) {
    fixture.simulator.get("/v1/batches/batch_simulated00000001");
}

#[test]
fn shard_whose_file_is_on_another_machine_returns_its_jobs_instead_of_a_split() {
    // A row takes about 3,200 tokens, so one fits.
    let batches = BatchSettings { enqueued_tokens: Some(5_000), ..BatchSettings::default() };
    let fleet = FleetFixture::new(2, batches);
    let waiting = [
        ("JUROR_BATCH_MAX_ROWS", "2"),
        ("JUROR_BATCH_SEAL_AFTER", "1h"),
        ("JUROR_BATCH_POLL_MIN", "1h"),
        ("JUROR_BATCH_POLL_MAX", "1h"),
    ];
    let mut first = fleet.worker_at(&fleet.fixture.simulator.base_url(), &waiting);
    fleet.enqueue(&["--lane", "batch"]);
    first.await_stderr(LIMIT_REACHED);
    first.kill();
    let next = fleet.worker();
    let fixture = fleet.reported(2, vec![next]);
    all_in_batches(&fixture, 2);
}

#[test]
fn rows_beyond_the_limit_go_into_another_batch() {
    let limited = Share { of: BatchFault::LimitedRow, share: 0.3 };
    let fixture = BatchFixture::faulty(20, &[limited]);
    let ended = fixture.run(&[]);
    assert!([0, 3].contains(&ended.code), "{}", ended.stderr);
    assert!(fixture.simulator.count("batches") > 1);
    assert_eq!(fixture.count("scored", "") + fixture.count("failed", "api"), 20);
    assert!(fixture.count("scored", "") > 15);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn rows_beyond_the_limit_of_every_batch_fail_with_the_reason() {
    let fixture = BatchFixture::faulty(3, &[BatchFault::LimitedRow.into()]);
    fixture.run(&[]).exits(3);
    assert_eq!((fixture.count("failed", "api"), fixture.simulator.count("batches")), (3, 5));
    let message = fixture.harness.result("night", "item_0001")["error"]["message"].clone();
    assert!(message.as_str().unwrap().contains(LIMIT_REACHED), "{message}");
    fixture.assert_billed_plus_presumed(0);
}
