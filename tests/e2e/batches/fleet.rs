//! Batches of a fleet's runs: each row is handed in once and billed once, whoever works on it.

use super::{BatchFixture, end_batches};
use crate::{
    fleet::servers::{Servers, await_some},
    harness::{Finished, RunningCommand, pico},
};
use juror_ledger::{batches::BatchRecords as _, redis::test_server::TestRedis};
use juror_simulator::{BatchEnd, BatchFault, BatchSettings, Share};
use juror_types::id::RunId;
use rustix::process::Signal;

/// Settings of every worker: looks at batches often, and takes shards over soon.
const SETTINGS: &str = "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\nseal_after = \"200ms\"\n\
                        owner_timeout = \"1s\"\n";

/// A run of so many items, and a fleet for it.
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

    /// Starts a worker that asks at this address, with more settings.
    pub fn worker_at(&self, url: &str, settings: &[(&str, &str)]) -> RunningCommand {
        let arguments = ["worker", "--base-url", url, "--data-root", "."];
        let mut command = self.servers.command(&self.fixture.harness, &arguments);
        command.envs(settings.iter().copied());
        let mut worker = RunningCommand::start(command);
        worker.await_words("ready: ");
        worker
    }

    pub fn worker(&self) -> RunningCommand {
        self.worker_at(&self.fixture.simulator.base_url(), &[])
    }

    /// One that hands in so many items at once, and no fewer.
    fn worker_for(&self, items: &str) -> RunningCommand {
        let one_batch = [("JUROR_BATCH_MAX_ROWS", items), ("JUROR_BATCH_SEAL_AFTER", "1h")];
        self.worker_at(&self.fixture.simulator.base_url(), &one_batch)
    }

    pub fn enqueue(&self, more: &[&str]) -> Finished {
        let own = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", "night"];
        self.servers.juror(&self.fixture.harness, &[&own[..], more].concat()).exits(0)
    }

    /// Waits for the report of so many results, and stops the fleet.
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

    /// Waits until so many rows stand in shards.
    pub fn await_rows(&self, rows: usize) {
        let run = RunId::new("night");
        let count = async || {
            let mut count = 0;
            for (number, _) in self.servers.backend.shards(&run).await.unwrap() {
                let open = self.servers.backend.rows(&run, number, true, None, 1_000).await;
                count += open.unwrap().len();
            }
            count
        };
        await_some(|| (self.servers.run(count()) >= rows).then_some(()), "rows stand in shards");
    }
}

/// Batches that end when they are told to.
fn held() -> BatchSettings {
    BatchSettings { end: BatchEnd::OnRequest, ..BatchSettings::default() }
}

/// Stops a worker softly.
pub fn stop(worker: RunningCommand) {
    worker.signal(Signal::TERM);
    worker.finish().exits(0);
}

/// Asserts that each of these many items has one scored result of a batch, and that each was handed
/// in and billed once.
pub fn all_in_batches(fixture: &BatchFixture, items: u64) {
    let journal = fixture.harness.journal("night");
    assert_eq!(journal.len() as u64, items);
    let is_in_batch =
        |result: &&serde_json::Value| result["outcome"] == "scored" && result["lane"] == "batch";
    assert_eq!(journal.iter().filter(is_in_batch).count() as u64, items, "{journal:#?}");
    assert_eq!(fixture.simulator.count("billed_calls"), items);
    assert_eq!(fixture.simulator.requests(), 0, "no ordinary call");
    fixture.costs_the_bill_and_presumed(0);
}

#[test]
fn two_workers_hand_each_row_in_once_and_pay_half() {
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
fn a_draining_worker_leaves_its_batches_to_the_next() {
    let fleet = FleetFixture::held(6);
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    fleet.fixture.simulator.await_count("batch_polls", 2);
    stop(worker);
    end_batches(&fleet.fixture.simulator);
    // Its time is not waited for: it has resigned.
    let next = fleet.worker();
    let fixture = fleet.reported(6, vec![next]);
    all_in_batches(&fixture, 6);
    assert_eq!(fixture.simulator.count("batches"), 1);
}

#[test]
fn a_draining_worker_gives_back_what_it_has_not_handed_in() {
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
fn a_cancelled_run_pays_for_what_its_batches_did() {
    let fleet = FleetFixture::held(6);
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    fleet.fixture.simulator.await_count("batch_polls", 2);
    fleet.servers.juror(&fleet.fixture.harness, &["cancel", "night"]).exits(0);
    let fixture = fleet.reported(6, vec![worker]);
    assert_eq!((fixture.count("scored", ""), fixture.count("skipped", "cancelled")), (3, 3));
    assert_eq!(fixture.simulator.count("billed_calls"), 3);
    fixture.costs_the_bill_and_presumed(0);
}

#[test]
fn a_mixed_run_asks_what_is_not_back_in_time() {
    let fleet = FleetFixture::held(6);
    let reserve = [("JUROR_BATCH_REALTIME_RESERVE", "1h"), ("JUROR_BATCH_MAX_ROWS", "6")];
    let worker = fleet.worker_at(&fleet.fixture.simulator.base_url(), &reserve);
    fleet.enqueue(&["--lane", "mixed", "--deadline", "3605s"]);
    let fixture = fleet.reported(6, vec![worker]);
    let journal = fixture.harness.journal("night");
    assert_eq!(journal.iter().filter(|result| result["lane"] == "batch").count(), 3);
    assert_eq!(fixture.count("scored", ""), 6);
    assert_eq!(fixture.simulator.requests(), 3);
    fixture.costs_the_bill_and_presumed(0);
}

#[test]
fn a_deadline_cancels_batches_and_pays_for_what_was_done() {
    let fleet = FleetFixture::held(6);
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch", "--deadline", "5s"]);
    let fixture = fleet.reported(6, vec![worker]);
    assert_eq!((fixture.count("scored", ""), fixture.count("skipped", "deadline")), (3, 3));
    assert_eq!(fixture.simulator.count("billed_calls"), 3);
    fixture.costs_the_bill_and_presumed(0);
}

#[test]
fn rows_that_failed_go_into_another_batch_of_whoever_takes_them() {
    let share = |fault, share| Share { of: fault, share };
    let faults = vec![share(BatchFault::FailedRow, 0.3), share(BatchFault::RefusedRow, 0.3)];
    let fleet = FleetFixture::new(20, BatchSettings { faults, ..BatchSettings::default() });
    let workers = vec![fleet.worker(), fleet.worker()];
    fleet.enqueue(&["--lane", "batch"]);
    let fixture = fleet.reported(20, workers);
    assert!(fixture.simulator.count("batches") > 1);
    assert_eq!(fixture.count("scored", "") + fixture.count("failed", "api"), 20);
    assert!(fixture.count("scored", "") > 10);
    fixture.costs_the_bill_and_presumed(0);
}

#[test]
fn expired_rows_of_a_mixed_run_are_asked_in_ordinary_calls() {
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
    fixture.costs_the_bill_and_presumed(0);
}

#[test]
fn a_batch_beyond_the_token_limit_is_split() {
    // A row takes some 1,400 tokens: five fit.
    let batches = BatchSettings { enqueued_tokens: Some(8_000), ..BatchSettings::default() };
    let fleet = FleetFixture::new(12, batches);
    let worker = fleet.worker();
    fleet.enqueue(&["--lane", "batch"]);
    let fixture = fleet.reported(12, vec![worker]);
    all_in_batches(&fixture, 12);
}

#[test]
fn a_worker_that_was_out_of_sight_notices_that_it_has_lost_its_shards() {
    let fleet = FleetFixture::held(6);
    let simulator = &fleet.fixture.simulator;
    let frozen = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    simulator.await_count("batch_polls", 2);
    frozen.signal(Signal::STOP);
    // One look may be on its way.
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
fn a_redis_that_is_restarted_forgets_no_batch() {
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
fn a_budget_holds_for_rows() {
    let fleet = FleetFixture::with_redis(12, BatchSettings::default(), TestRedis::durable());
    let workers = vec![fleet.worker(), fleet.worker()];
    fleet.enqueue(&["--lane", "batch", "--budget-usd", "0.03"]);
    let fixture = fleet.reported(12, workers);
    let (scored, skipped) = (fixture.count("scored", ""), fixture.count("skipped", "budget"));
    assert!(scored > 0 && skipped > 0 && scored + skipped == 12, "{scored} {skipped}");
    assert!(fixture.simulator.bill() <= 30_000_000_000);
    fixture.costs_the_bill_and_presumed(0);
}

#[test]
fn a_provider_that_refuses_pauses_the_run_and_another_worker_goes_on() {
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
fn a_run_that_goes_on_in_another_lane_pays_no_row_twice() {
    let fleet = FleetFixture::held(6);
    let worker = fleet.worker_for("6");
    fleet.enqueue(&["--lane", "batch"]);
    fleet.fixture.simulator.await_count("batch_polls", 2);
    let resume = ["enqueue", "--resume", "night", "--lane", "realtime"];
    let told = fleet.servers.juror(&fleet.fixture.harness, &resume).exits(0);
    told.says(&["in the lane realtime from now on; before: batch"]);
    let fixture = fleet.reported(6, vec![worker]);
    assert_eq!(fixture.count("scored", ""), 6);
    assert_eq!(fixture.simulator.requests(), 3, "half of the batch was done");
    assert_eq!(fixture.simulator.count("billed_calls"), 6);
    fixture.costs_the_bill_and_presumed(0);
}
