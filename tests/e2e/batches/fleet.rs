//! Batches of fleet runs: each row is submitted and billed once, by any worker.

use super::{
    end_batches,
    fleet_fixture::{FleetFixture, all_in_batches, held},
};
use crate::harness::pico;
use juror_ledger::redis::test_server::TestRedis;
use juror_simulator::{BatchFault, BatchSettings, Share};
use juror_types::id::RunId;
use rustix::process::Signal;

#[test]
fn two_workers_submit_each_row_once_at_half_price() {
    let fleet = FleetFixture::new(40, BatchSettings::default());
    let limited = [("JUROR_BATCH_MAX_ROWS", "7")];
    let url = fleet.fixture.simulator.base_url();
    let workers = vec![fleet.worker_at(&url, &limited), fleet.worker_at(&url, &limited)];
    fleet.enqueue(&["--lane", "batch"]);
    let fixture = fleet.reported(40, workers);
    all_in_batches(&fixture, 40);
    assert!(fixture.simulator.count("batches") >= 6, "seven rows are in a batch at most");

    let flags = ["--no-cache"];
    fixture.harness.judge_run(&fixture.simulator, "dear", &flags).exits(0);
    let dear = pico(&fixture.harness.report("dear")["cost"]["total_usd"]);
    assert_eq!(pico(&fixture.report()["cost"]["total_usd"]) * 2, dear);
}

#[test]
fn draining_worker_leaves_its_batches_to_other_workers() {
    let (fleet, worker) = FleetFixture::submitted();
    worker.stop();
    end_batches(&fleet.fixture.simulator);
    // No lease timeout applies: the worker has resigned.
    let next = fleet.worker();
    let fixture = fleet.reported(6, vec![next]);
    all_in_batches(&fixture, 6);
    assert_eq!(fixture.simulator.count("batches"), 1);
}

#[test]
fn draining_worker_requeues_unsubmitted_rows() {
    let fleet = FleetFixture::new(6, BatchSettings::default());
    let url = fleet.fixture.simulator.base_url();
    let worker = fleet.worker_at(&url, &[("JUROR_BATCH_SEAL_AFTER", "1h")]);
    fleet.enqueue(&["--lane", "batch"]);
    fleet.await_rows(6);
    worker.stop();
    let next = fleet.worker();
    let fixture = fleet.reported(6, vec![next]);
    all_in_batches(&fixture, 6);
}

#[test]
fn cancelled_run_books_finished_batch_rows() {
    let (fleet, worker) = FleetFixture::submitted();
    fleet.servers.juror(&fleet.fixture.harness, &["cancel", "night"]).exits(0);
    let fixture = fleet.reported(6, vec![worker]);
    assert_eq!((fixture.count("scored", ""), fixture.count("skipped", "cancelled")), (3, 3));
    assert_eq!(fixture.simulator.count("billed_calls"), 3);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn cancelled_run_ends_although_it_was_paused_with_a_batch_of_unknown_outcome() {
    let faults = vec![BatchFault::Forgotten.into()];
    let fleet = FleetFixture::new(6, BatchSettings { faults, ..BatchSettings::default() });
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    fleet.servers.await_pause(&RunId::new("night"));
    fleet.servers.juror(&fleet.fixture.harness, &["cancel", "night"]).exits(0);
    let fixture = fleet.reported(6, vec![worker]);
    assert_eq!(fixture.count("skipped", "cancelled"), 6);
    let cost = &fixture.report()["cost"];
    assert!(pico(&cost["presumed_usd"]) > 0, "{cost}");
    assert!(pico(&cost["total_usd"]) >= fixture.simulator.bill(), "{cost}");
}

#[test]
fn mixed_run_calls_for_rows_that_are_late() {
    let fleet = FleetFixture::held(6);
    let reserve = [("JUROR_BATCH_REALTIME_RESERVE", "1h"), ("JUROR_BATCH_MAX_ROWS", "6")];
    let worker = fleet.worker_at(&fleet.fixture.simulator.base_url(), &reserve);
    fleet.enqueue(&["--lane", "mixed", "--deadline", "3605s"]);
    let fixture = fleet.reported(6, vec![worker]);
    let journal = fixture.harness.journal("night");
    assert_eq!(journal.iter().filter(|result| result["lane"] == "batch").count(), 3);
    assert_eq!(fixture.count("scored", ""), 6);
    assert_eq!(fixture.simulator.requests(), 3);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn deadline_cancels_batches_and_books_finished_rows() {
    let fleet = FleetFixture::held(6);
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch", "--deadline", "5s"]);
    let fixture = fleet.reported(6, vec![worker]);
    assert_eq!((fixture.count("scored", ""), fixture.count("skipped", "deadline")), (3, 3));
    assert_eq!(fixture.simulator.count("billed_calls"), 3);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn failed_rows_join_a_later_batch_of_any_worker() {
    let share = |fault, share| Share { of: fault, share };
    let faults = vec![share(BatchFault::FailedRow, 0.3), share(BatchFault::RefusedRow, 0.3)];
    let fleet = FleetFixture::new(20, BatchSettings { faults, ..BatchSettings::default() });
    let workers = vec![fleet.worker(), fleet.worker()];
    fleet.enqueue(&["--lane", "batch"]);
    let fixture = fleet.reported(20, workers);
    assert!(fixture.simulator.count("batches") > 1);
    assert_eq!(fixture.count("scored", "") + fixture.count("failed", "api"), 20);
    assert!(fixture.count("scored", "") > 10);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn expired_rows_of_a_mixed_run_become_realtime_calls() {
    let faults = vec![Share { of: BatchFault::Expired, share: 0.5 }];
    let fleet = FleetFixture::new(20, BatchSettings { faults, ..BatchSettings::default() });
    let workers = vec![fleet.worker(), fleet.worker()];
    fleet.enqueue(&["--lane", "mixed"]);
    let fixture = fleet.reported(20, workers);
    let journal = fixture.harness.journal("night");
    let in_batch = journal.iter().filter(|result| result["lane"] == "batch").count();
    assert!((3..18).contains(&in_batch), "{in_batch}");
    assert_eq!(fixture.count("scored", ""), 20);
    assert_eq!(fixture.simulator.requests(), 20 - in_batch as u64);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn batch_beyond_the_token_limit_is_split() {
    // A row takes about 1,400 tokens, so five fit.
    let batches = BatchSettings { enqueued_tokens: Some(8_000), ..BatchSettings::default() };
    let fleet = FleetFixture::new(12, batches);
    let worker = fleet.worker();
    fleet.enqueue(&["--lane", "batch"]);
    let fixture = fleet.reported(12, vec![worker]);
    all_in_batches(&fixture, 12);
}

#[test]
fn expired_worker_detects_the_loss_of_its_shards() {
    let (fleet, frozen) = FleetFixture::submitted();
    let simulator = &fleet.fixture.simulator;
    frozen.signal(Signal::STOP);
    // One poll may be in progress.
    let looks = simulator.count("batch_polls") + 1;
    let next = fleet.worker();
    simulator.await_count("batch_polls", looks + 1);
    frozen.signal(Signal::CONT);
    end_batches(simulator);
    let fixture = fleet.reported(6, vec![frozen, next]);
    all_in_batches(&fixture, 6);
    assert_eq!(fixture.simulator.count("batches"), 1);
}

#[test]
fn redis_restart_loses_no_batch() {
    let fleet = FleetFixture::with_redis(6, held(), TestRedis::durable());
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch", "--budget-usd", "1"]);
    fleet.fixture.simulator.await_count("batch_polls", 2);
    fleet.servers.redis.kill();
    fleet.servers.redis.start_again();
    end_batches(&fleet.fixture.simulator);
    let fixture = fleet.reported(6, vec![worker]);
    all_in_batches(&fixture, 6);
    assert_eq!(fixture.simulator.count("batches"), 1);
}

#[test]
fn budget_covers_batch_rows() {
    let fleet = FleetFixture::with_redis(12, BatchSettings::default(), TestRedis::durable());
    let workers = vec![fleet.worker(), fleet.worker()];
    fleet.enqueue(&["--lane", "batch", "--budget-usd", "0.03"]);
    let fixture = fleet.reported(12, workers);
    let (scored, skipped) = (fixture.count("scored", ""), fixture.count("skipped", "budget"));
    assert!(scored > 0 && skipped > 0 && scored + skipped == 12, "{scored} {skipped}");
    assert!(fixture.simulator.bill() <= 30_000_000_000);
    fixture.assert_billed_plus_presumed(0);
}

#[test]
fn provider_refusal_pauses_the_run_and_another_worker_resumes_it() {
    let fleet = FleetFixture::new(6, BatchSettings::default());
    let elsewhere = format!("http://{}/elsewhere", fleet.fixture.simulator.address);
    let refused = fleet.worker_at(&elsewhere, &[("JUROR_BATCH_MAX_ROWS", "6")]);
    fleet.enqueue(&["--lane", "batch"]);
    let reason = fleet.servers.await_pause(&RunId::new("night"));
    assert!(reason.contains("batches cannot continue"), "{reason}");
    refused.stop();
    let worker = fleet.worker();
    fleet.servers.juror(&fleet.fixture.harness, &["retry", "night"]).exits(0);
    let fixture = fleet.reported(6, vec![worker]);
    all_in_batches(&fixture, 6);
}

#[test]
fn run_resumed_in_another_lane_bills_no_row_twice() {
    let (fleet, worker) = FleetFixture::submitted();
    let resume = ["enqueue", "--resume", "night", "--lane", "realtime"];
    let output = fleet.servers.juror(&fleet.fixture.harness, &resume).exits(0);
    output.stderr_contains(&["in the lane realtime from now on; before: batch"]);
    let fixture = fleet.reported(6, vec![worker]);
    assert_eq!(fixture.count("scored", ""), 6);
    assert_eq!(fixture.simulator.requests(), 3, "half of the batch was done");
    assert_eq!(fixture.simulator.count("billed_calls"), 6);
    fixture.assert_billed_plus_presumed(0);
}
