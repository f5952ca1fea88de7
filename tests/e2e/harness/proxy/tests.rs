//! Tests of the proxies between real servers and their adapters.

use super::*;
use juror_ledger::{
    job_store::{Claim, ClaimKey, JobStore},
    redis::{RedisLedger, RedisSettings, test_server::TestRedis},
};
use juror_queue::{
    Delivery, Priority, Queue, QueueError, Subscription,
    rabbitmq::{RabbitQueues, test_namespace::TestNamespace},
};
use juror_types::{
    id::{JobId, OwnerId, RunId},
    job::Job,
};
use serde_json::json;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);

/// Backend behind a proxy, and the server itself.
struct Redis {
    server: TestRedis,
    wire: Arc<Wire>,
    proxy: FaultProxy,
}

impl Redis {
    fn start() -> Self {
        let server = TestRedis::shared();
        let wire = Arc::new(Wire::default());
        let port = server.url.rsplit(':').next().unwrap().parse().unwrap();
        let proxy = FaultProxy::start(port, ProxiedProtocol::Resp, &wire);
        Self { server, wire, proxy }
    }

    async fn near(&self) -> Arc<RedisLedger> {
        let url = format!("redis://{}", self.proxy.address());
        let settings = RedisSettings { url, ..self.server.settings() };
        Arc::new(RedisLedger::open(settings).await.unwrap())
    }

    async fn direct(&self) -> RedisLedger {
        RedisLedger::open(self.server.settings()).await.unwrap()
    }
}

/// Claims the job and returns the number of its unfinished starts.
async fn claim(backend: &RedisLedger, owner: &str) -> u32 {
    let key = ClaimKey { run: RunId::new("run"), job: JobId::new("job"), round: 0, fence: 0 };
    match backend.claim(&key, &OwnerId::new(owner)).await.unwrap() {
        Claim::Granted { unfinished_starts, .. } => unfinished_starts,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn command_is_held_before_and_after_execution() {
    let redis = Redis::start();
    let (near, direct) = (redis.near().await, redis.direct().await);
    for (moment, starts_before, starts_after) in
        [(Moment::Request(ScriptStep::Claim), 0, 1), (Moment::Reply(ScriptStep::Claim), 3, 2)]
    {
        redis.wire.hold(moment, 1);
        let backend = Arc::clone(&near);
        let claiming = tokio::spawn(async move { claim(&backend, "near").await });
        assert!(redis.wire.is_held(LONG), "{moment:?}");
        assert_eq!(redis.wire.owner().as_deref(), Some("near"));
        assert_eq!(claim(&direct, "direct").await, starts_before, "{moment:?}");
        redis.wire.release();
        assert_eq!(claiming.await.unwrap(), starts_after, "{moment:?}");
    }
    near.close().await;
    direct.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn message_held_at_disconnect_never_arrives() {
    let redis = Redis::start();
    let (near, direct) = (redis.near().await, redis.direct().await);
    redis.wire.hold(Moment::Request(ScriptStep::Claim), 2);
    assert_eq!(claim(&near, "near").await, 0, "the first one passes");
    let backend = Arc::clone(&near);
    let claiming = tokio::spawn(async move { claim(&backend, "near").await });
    assert!(redis.wire.is_held(LONG));
    claiming.abort();
    assert!(claiming.await.unwrap_err().is_cancelled());
    redis.proxy.shut();
    redis.wire.reset();
    assert_eq!(claim(&direct, "direct").await, 1);
    assert!(
        RedisLedger::open(RedisSettings::new(format!("redis://{}", redis.proxy.address())))
            .await
            .is_err()
    );
    assert!(redis.wire.count(Moment::Refusal) > 0);
    redis.proxy.restore();
    assert_eq!(claim(&near, "near").await, 2);
    near.close().await;
    direct.close().await;
}

/// Queues that are reached through a proxy.
struct Rabbit {
    namespace: TestNamespace,
    wire: Arc<Wire>,
    proxy: FaultProxy,
    queues: RabbitQueues,
}

impl Rabbit {
    async fn start() -> Self {
        let wire = Arc::new(Wire::default());
        let port = juror_services::rabbitmq::shared_port();
        let proxy = FaultProxy::start(port, ProxiedProtocol::Amqp, &wire);
        let namespace = TestNamespace::new(&format!("amqp://guest:guest@127.0.0.1:{port}"));
        let queues = namespace.connect(&format!("amqp://guest:guest@{}", proxy.address())).await;
        Self { namespace, wire, proxy, queues }
    }

    fn publish(&self, id: &str) -> JoinHandle<Result<(), QueueError>> {
        let (jobs, job) = (self.queues.jobs(), job(id));
        tokio::spawn(async move { jobs.publish(job, Priority::Normal).await })
    }

    async fn next(&self, jobs: &mut dyn Subscription<Job>) -> Delivery<Job> {
        tokio::time::timeout(LONG, jobs.next()).await.unwrap().unwrap().unwrap()
    }

    async fn end(self) {
        self.queues.close().await;
        drop(self.namespace);
    }
}

fn job(id: &str) -> Job {
    serde_json::from_value(json!({
        "schema": 1, "run_id": "run", "job_id": id, "round": 0, "repeat": 0,
        "item": {"id": id, "line": 1, "images": {}},
        "rubric": {"id": "semantic", "version": 1, "digest": "00".repeat(32)},
        "judge": null,
    }))
    .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn publish_confirm_is_held_after_the_message_is_stored() {
    let rabbit = Rabbit::start().await;
    let mut jobs = rabbit.queues.jobs().subscribe(1).await.unwrap();
    rabbit.wire.hold(Moment::Confirm(BrokerExchange::Jobs), 1);
    let publishing = rabbit.publish("first");
    assert!(rabbit.wire.is_held(LONG));
    assert!(!publishing.is_finished());
    assert_eq!(rabbit.wire.count(Moment::Publish(BrokerExchange::Jobs)), 1);
    // The publisher never receives it and publishes again over the next connection.
    rabbit.proxy.cut();
    rabbit.wire.release();
    publishing.await.unwrap().unwrap();
    for _ in 0..2 {
        let delivery = rabbit.next(&mut *jobs).await;
        assert_eq!(delivery.message.job_id.as_str(), "first");
        delivery.acknowledge().await.unwrap();
    }
    drop(jobs);
    rabbit.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn held_and_cut_acknowledgement_causes_redelivery() {
    let rabbit = Rabbit::start().await;
    let mut jobs = rabbit.queues.jobs().subscribe(1).await.unwrap();
    rabbit.wire.hold(Moment::Delivery(BrokerExchange::Jobs), 1);
    let publishing = rabbit.publish("first");
    assert!(rabbit.wire.is_held(LONG));
    rabbit.wire.hold(Moment::Acknowledgement, 1);
    let delivery = rabbit.next(&mut *jobs).await;
    // Not earlier: the confirm may follow the held delivery.
    publishing.await.unwrap().unwrap();
    assert!(!delivery.redelivered);
    delivery.acknowledge().await.unwrap();
    assert!(rabbit.wire.is_held(LONG));
    rabbit.proxy.cut();
    rabbit.wire.release();
    let again = rabbit.next(&mut *jobs).await;
    assert!(again.redelivered);
    again.acknowledge().await.unwrap();
    assert!(rabbit.wire.passes(Moment::Acknowledgement, 1, LONG));
    drop(jobs);
    rabbit.end().await;
}
