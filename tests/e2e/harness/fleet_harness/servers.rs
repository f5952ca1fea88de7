//! Servers of a test's fleet, and access to their records.

use juror_ledger::{
    admission::{Admission as _, RunAccount},
    redis::{RedisLedger, RunProgress, RunStatus, test_server::TestRedis},
};
use juror_queue::rabbitmq::test_namespace::TestNamespace;
use juror_services::rabbitmq::{Broker, shared_port};
use juror_types::id::RunId;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// RabbitMQ and durable Redis with a namespace for one test.
pub struct FleetServers {
    /// None where other tests use it too.
    own_broker: Option<Broker>,
    /// Namespace to delete in a broker that others use.
    _namespace: Option<TestNamespace>,
    redis: TestRedis,
    runtime: Runtime,
}

impl FleetServers {
    /// Dedicated servers, which can be restarted.
    pub fn own() -> Self {
        Self::with(Some(Broker::start()))
    }

    /// The broker that all tests share.
    pub fn shared_broker() -> Self {
        Self::with(None)
    }

    fn with(own_broker: Option<Broker>) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let redis = TestRedis::durable();
        let shared =
            own_broker.is_none().then(|| format!("amqp://guest:guest@127.0.0.1:{}", shared_port()));
        let _namespace = shared.map(|url| TestNamespace::named(&redis.namespace, &url));
        Self { own_broker, _namespace, redis, runtime }
    }

    pub fn namespace(&self) -> &str {
        &self.redis.namespace
    }

    pub fn broker_port(&self) -> u16 {
        self.own_broker.as_ref().map_or_else(shared_port, Broker::port)
    }

    pub fn redis_port(&self) -> u16 {
        self.redis.url.rsplit(':').next().unwrap().parse().unwrap()
    }

    /// Kills the broker and starts it again over the same files.
    pub fn restart_broker(&mut self) {
        self.own_broker.as_mut().unwrap().restart();
    }

    /// Kills Redis and starts it again over the same files.
    pub fn restart_redis(&self) {
        self.redis.kill();
        self.redis.start_again();
    }

    /// Expires the heartbeats of these owners, so that their calls are presumed spent.
    pub fn expire_owners(&self, owners: &[String]) {
        for owner in owners {
            let heartbeats = format!("{}:owners", self.namespace());
            self.redis.command(&["ZADD", &heartbeats, "XX", "1", owner]);
        }
        self.with_backend(async |backend| backend.sweep().await.unwrap());
    }

    /// Ledger of a run's budget.
    pub fn ledger(&self, run: &str) -> RunAccount {
        self.with_backend(async |backend| backend.ledger(&RunId::new(run)).await.unwrap().unwrap())
    }

    /// Status of a run in the fleet.
    pub fn status(&self, run: &str) -> Option<RunStatus> {
        self.with_backend(async |backend| backend.run_status(&RunId::new(run)).await.unwrap())
    }

    /// Progress of a run once its report is complete; `None` after the time limit.
    pub fn await_report(&self, run: &str, within: Duration) -> Option<RunProgress> {
        self.redis.await_value(&format!("run:{run}"), within, || {
            let status = self.status(run)?;
            status.progress.filter(|progress| {
                progress.reported_at.is_some() && progress.reported_at >= status.expected
            })
        })
    }

    /// Number of owners that hold leases.
    pub fn holders(&self) -> String {
        let pattern = format!("{}:held:*", self.namespace());
        self.redis.command(&["EVAL", "return #redis.call('KEYS', ARGV[1])", "0", &pattern])
    }

    fn with_backend<T>(&self, work: impl AsyncFnOnce(&RedisLedger) -> T) -> T {
        self.runtime.block_on(async {
            let backend = RedisLedger::open(self.redis.settings()).await.unwrap();
            let done = work(&backend).await;
            backend.close().await;
            done
        })
    }
}
