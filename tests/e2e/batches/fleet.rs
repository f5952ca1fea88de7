//! Batches of fleet runs: each row is submitted and billed once, by any worker.

use super::{BatchFixture, end_batches};
use crate::{
    fleet::servers::{Servers, await_some},
    harness::{Finished, RunningCommand, pico},
};
use juror_ledger::{
    batches::{BatchRecords as _, RowState},
    redis::test_server::TestRedis,
};
use juror_simulator::{BatchEnd, BatchFault, BatchSettings, Share};
use juror_types::id::RunId;
use rustix::process::Signal;

/// Settings of every worker: frequent polling and an early takeover of shards.
const SETTINGS: &str = "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\nseal_after = \"200ms\"\n\
                        owner_timeout = \"1s\"\n";

/// Run of this many items, and a fleet for it.
pub struct FleetFixture {
    pub fixture: BatchFixture,
    pub servers: Servers,
    aggregator: RunningCommand,
}

impl FleetFixture {
    pub fn new(items: u32, batches: BatchSettings) -> Self {
        Self::with_redis(items, batches, TestRedis::shared())
    }

    fn with_redis(items: u32, batches: BatchSettings, redis: TestRedis) -> Self {
        let fixture = BatchFixture::new(items, batches);
        fixture.harness.write("juror.toml", SETTINGS);
        let servers = Servers::with(redis);
        let aggregator = servers.start(&fixture.harness, &["aggregate"]);
        Self { fixture, servers, aggregator }
    }

    fn held(items: u32) -> Self {
        Self::new(items, held())
    }

    /// Starts a worker with this base URL and further settings.
    pub fn worker_at(&self, url: &str, settings: &[(&str, &str)]) -> RunningCommand {
        let arguments = ["worker", "--base-url", url, "--data-root", "."];
        let mut command = self.servers.command(&self.fixture.harness, &arguments);
        command.envs(settings.iter().copied());
        let mut worker = RunningCommand::start(command);
        worker.await_stderr("ready: ");
        worker
    }

    pub fn worker(&self) -> RunningCommand {
        self.worker_at(&self.fixture.simulator.base_url(), &[])
    }

    /// Worker whose batches have exactly this many items.
    fn worker_for(&self, items: &str) -> RunningCommand {
        let one_batch = [("JUROR_BATCH_MAX_ROWS", items), ("JUROR_BATCH_SEAL_AFTER", "1h")];
        self.worker_at(&self.fixture.simulator.base_url(), &one_batch)
    }

    pub fn enqueue(&self, more: &[&str]) -> Finished {
        let own = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", "night"];
        self.servers.juror(&self.fixture.harness, &[&own[..], more].concat()).exits(0)
    }

    /// Waits for the report of this many results, and stops the fleet.
    pub fn reported(self, results: u64, workers: Vec<RunningCommand>) -> BatchFixture {
        let run = RunId::new("night");
        self.servers.await_report(&run, results);
        let shards = || self.servers.run(self.servers.backend.shards(&run)).unwrap();
        await_some(|| shards().is_empty().then_some(()), "every shard is collected");
        for worker in workers {
            stop(worker);
        }
        self.aggregator.signal(Signal::TERM);
        self.aggregator.finish().exits(0);
        assert_eq!(self.servers.ledger(&run).outstanding.pico(), 0, "nothing is held");
        self.fixture
    }

    /// Waits until shards have this many rows.
    pub fn await_rows(&self, rows: usize) {
        let run = RunId::new("night");
        let count = async || {
            let mut count = 0;
            for (number, _) in self.servers.backend.shards(&run).await.unwrap() {
                let open =
                    self.servers.backend.rows(&run, number, RowState::Open, None, 1_000).await;
                count += open.unwrap().len();
            }
            count
        };
        await_some(|| (self.servers.run(count()) >= rows).then_some(()), "rows stand in shards");
    }
}

/// Batches that end on request.
fn held() -> BatchSettings {
    BatchSettings { end: BatchEnd::OnRequest, ..BatchSettings::default() }
}

/// Drains a worker.
pub fn stop(worker: RunningCommand) {
    worker.signal(Signal::TERM);
    worker.finish().exits(0);
}

/// Asserts that each item has one scored result from a batch, and was submitted and billed once.
pub fn all_in_batches(fixture: &BatchFixture, items: u64) {
    let journal = fixture.harness.journal("night");
    assert_eq!(journal.len() as u64, items);
    let is_in_batch =
        |result: &&serde_json::Value| result["outcome"] == "scored" && result["lane"] == "batch";
    assert_eq!(journal.iter().filter(is_in_batch).count() as u64, items, "{journal:#?}");
    assert_eq!(fixture.simulator.count("billed_calls"), items);
    assert_eq!(fixture.simulator.requests(), 0, "no ordinary call");
    fixture.assert_billed_plus_presumed(0);
}

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
    let fleet = FleetFixture::held(6);
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    fleet.fixture.simulator.await_count("batch_polls", 2);
    stop(worker);
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
    stop(worker);
    let next = fleet.worker();
    let fixture = fleet.reported(6, vec![next]);
    all_in_batches(&fixture, 6);
}

#[test]
fn cancelled_run_books_finished_batch_rows() {
    let fleet = FleetFixture::held(6);
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    fleet.fixture.simulator.await_count("batch_polls", 2);
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
    let status = || fleet.servers.status(&RunId::new("night")).unwrap();
    await_some(|| status().paused, "the run is paused");
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
    let fleet = FleetFixture::held(6);
    let simulator = &fleet.fixture.simulator;
    let frozen = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    simulator.await_count("batch_polls", 2);
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
    let paused = || fleet.servers.status(&RunId::new("night")).unwrap().paused;
    let reason = await_some(paused, "the run is paused");
    assert!(reason.contains("batches cannot continue"), "{reason}");
    stop(refused);
    let worker = fleet.worker();
    fleet.servers.juror(&fleet.fixture.harness, &["retry", "night"]).exits(0);
    let fixture = fleet.reported(6, vec![worker]);
    all_in_batches(&fixture, 6);
}

#[test]
fn run_resumed_in_another_lane_bills_no_row_twice() {
    let fleet = FleetFixture::held(6);
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    fleet.fixture.simulator.await_count("batch_polls", 2);
    let resume = ["enqueue", "--resume", "night", "--lane", "realtime"];
    let output = fleet.servers.juror(&fleet.fixture.harness, &resume).exits(0);
    output.stderr_contains(&["in the lane realtime from now on; before: batch"]);
    let fixture = fleet.reported(6, vec![worker]);
    assert_eq!(fixture.count("scored", ""), 6);
    assert_eq!(fixture.simulator.requests(), 3, "half of the batch was done");
    assert_eq!(fixture.simulator.count("billed_calls"), 6);
    fixture.assert_billed_plus_presumed(0);
}
