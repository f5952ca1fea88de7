//! Fleet that buys a run's calls in batches.

use super::BatchFixture;
use crate::{
    fleet::servers::Servers,
    harness::{Finished, RunningCommand},
};
use juror_ledger::{
    batches::{BatchRecords as _, RowState},
    redis::test_server::TestRedis,
};
use juror_simulator::{BatchEnd, BatchSettings};
use juror_types::id::RunId;

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

    pub fn with_redis(items: u32, batches: BatchSettings, redis: TestRedis) -> Self {
        let fixture = BatchFixture::new(items, batches);
        fixture.harness.write("juror.toml", SETTINGS);
        let servers = Servers::with(redis);
        let aggregator = servers.start(&fixture.harness, &["aggregate"]);
        Self { fixture, servers, aggregator }
    }

    pub fn held(items: u32) -> Self {
        Self::new(items, held())
    }

    /// Run of six items whose batch is in progress and ends on request.
    pub fn submitted() -> (Self, RunningCommand) {
        let fleet = Self::held(6);
        let worker = fleet.worker_for("6");
        fleet.enqueue(&["--lane", "batch"]);
        fleet.fixture.simulator.await_count("batch_polls", 2);
        (fleet, worker)
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
    pub fn worker_for(&self, items: &str) -> RunningCommand {
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
        self.servers.await_value("batch_shards", || shards().is_empty().then_some(()));
        for worker in workers {
            worker.stop();
        }
        self.aggregator.stop();
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
        self.servers.await_value("batch_", || (self.servers.run(count()) >= rows).then_some(()));
    }
}

/// Batches that end on request.
pub fn held() -> BatchSettings {
    BatchSettings { end: BatchEnd::OnRequest, ..BatchSettings::default() }
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
