//! Servers of a test's fleet in their own namespace.

mod messages;

pub use messages::Taken;

use crate::harness::{CommandHarness, Finished, RunningCommand};
use juror_ledger::{
    admission::{Admission as _, Budget, RunAccount},
    redis::{RedisLedger, RunProgress, RunStatus, test_server::TestRedis},
};
use juror_queue::rabbitmq::{RabbitQueues, RabbitSettings, test_namespace::TestNamespace};
use juror_tls::TlsFiles;
use juror_types::{event::Events, id::RunId, run::RunRecord};
use std::{process::Command, time::Duration};
use tokio::runtime::{Builder, Runtime};

/// Time limit of a wait.
const MAX_WAIT: Duration = Duration::from_secs(120);

/// Message of an aggregator that becomes active.
pub const ACTIVE: &str = "active: writing the results of fleet";

pub struct Servers {
    pub redis: TestRedis,
    pub backend: RedisLedger,
    broker: String,
    max_length: Option<u32>,
    queues: Option<RabbitQueues>,
    runtime: Runtime,
    _namespace: TestNamespace,
}

impl Servers {
    /// The broker and the Redis that all tests share.
    pub fn shared() -> Self {
        Self::with(TestRedis::shared())
    }

    /// The shared broker and this Redis.
    pub fn with(redis: TestRedis) -> Self {
        Self::open(redis, juror_services::rabbitmq::shared_port(), None)
    }

    /// The broker at this local port and this Redis.
    pub fn with_broker(redis: TestRedis, port: u16) -> Self {
        Self::open(redis, port, None)
    }

    /// Servers whose priority queues accept about this many jobs until some are consumed.
    pub fn cramped(max_length: u32) -> Self {
        let port = juror_services::rabbitmq::shared_port();
        Self::open(TestRedis::shared(), port, Some(max_length))
    }

    fn open(redis: TestRedis, port: u16, max_length: Option<u32>) -> Self {
        let broker = format!("amqp://guest:guest@127.0.0.1:{port}");
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let settings = RabbitSettings {
            url: broker.clone(),
            tls: TlsFiles::default(),
            namespace: redis.namespace.clone(),
            max_length,
            max_wait: MAX_WAIT,
        };
        let _namespace = TestNamespace::named(&redis.namespace, &broker);
        let (queues, backend) = runtime.block_on(async {
            let queues = RabbitQueues::connect(&settings, Events::silent()).await.unwrap();
            (queues, RedisLedger::open(redis.settings()).await.unwrap())
        });
        Self { redis, backend, broker, max_length, queues: Some(queues), runtime, _namespace }
    }

    /// Command of the fleet, not started.
    pub fn command(&self, harness: &CommandHarness, arguments: &[&str]) -> Command {
        let mut command = harness.command(arguments);
        command
            .env("JUROR_FLEET_BROKER", &self.broker)
            .env("JUROR_FLEET_REDIS", &self.redis.url)
            .env("JUROR_FLEET_NAMESPACE", &self.redis.namespace);
        if let Some(length) = self.max_length {
            command.env("JUROR_FLEET_MAX_QUEUE_LENGTH", length.to_string());
        }
        command
    }

    /// URL of the broker, with its account.
    pub fn broker(&self) -> &str {
        &self.broker
    }

    /// Runs a command of the fleet to its end.
    pub fn juror(&self, harness: &CommandHarness, arguments: &[&str]) -> Finished {
        self.start(harness, arguments).finish()
    }

    /// Starts an aggregator, and waits until it is active.
    pub fn start_aggregator(&self, harness: &CommandHarness) -> RunningCommand {
        let mut aggregator = self.start(harness, &["aggregate"]);
        aggregator.await_stderr(ACTIVE);
        aggregator
    }

    /// Starts a command of the fleet and does not wait.
    pub fn start(&self, harness: &CommandHarness, arguments: &[&str]) -> RunningCommand {
        RunningCommand::start(self.command(harness, arguments))
    }

    /// Announces a run, with an unlimited budget by default.
    pub fn announce(&self, record: &RunRecord) {
        let budget = record.budget_usd.map_or(Budget::Unlimited, Budget::Cap);
        self.run(async {
            self.backend.open_run(&record.run_id, budget).await.unwrap();
            self.backend.announce_run(record).await.unwrap();
        });
    }

    pub fn close(&self, run: &RunId, expected: u64) {
        assert!(self.run(self.backend.close_run(run, expected)).unwrap());
    }

    pub fn status(&self, run: &RunId) -> Option<RunStatus> {
        self.run(self.backend.run_status(run)).unwrap()
    }

    pub fn ledger(&self, run: &RunId) -> RunAccount {
        self.run(self.backend.ledger(run)).unwrap().unwrap()
    }

    /// Waits until this progress of a run is reported.
    #[track_caller]
    pub fn await_progress(
        &self,
        run: &RunId,
        has_come_so_far: impl Fn(&RunProgress) -> bool,
    ) -> RunProgress {
        self.await_status(run, |status| status.progress.filter(&has_come_so_far))
    }

    /// Waits until a run is paused, and returns the reason.
    #[track_caller]
    pub fn await_pause(&self, run: &RunId) -> String {
        self.await_status(run, |status| status.paused)
    }

    /// Waits until the status of a run has a value.
    #[track_caller]
    pub fn await_status<T>(&self, run: &RunId, value: impl Fn(RunStatus) -> Option<T>) -> T {
        self.await_value(&format!("run:{run}"), || self.status(run).and_then(&value))
    }

    /// Waits for a value that `look` finds, which looks again at each change of a key whose name in
    /// the namespace begins with `keys`.
    #[track_caller]
    pub fn await_value<T>(&self, keys: &str, look: impl FnMut() -> Option<T>) -> T {
        let found = self.redis.await_value(keys, MAX_WAIT, look);
        found.unwrap_or_else(|| panic!("timed out: a change of {keys}"))
    }

    /// Waits for the report of this many results.
    #[track_caller]
    pub fn await_report(&self, run: &RunId, results: u64) -> RunProgress {
        self.await_progress(run, |progress| progress.reported_at == Some(results))
    }

    /// Waits for a future on the runtime.
    pub fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    pub fn queues(&self) -> &RabbitQueues {
        self.queues.as_ref().unwrap()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let queues = self.queues.take().unwrap();
        self.runtime.block_on(async {
            queues.close().await;
            self.backend.close().await;
        });
    }
}
