//! Servers of a test's fleet in their own namespace, with the actions of producers and workers.

use crate::harness::{CommandHarness, Finished, RunningCommand};
use juror_ledger::{
    admission::{Admission as _, Budget, RunAccount},
    redis::{RedisLedger, RunProgress, RunStatus, test_server::TestRedis},
};
use juror_queue::{
    DeadLetters as _, Disposition, Priority, Queue as _,
    rabbitmq::{RabbitQueues, RabbitSettings, test_namespace::TestNamespace},
};
use juror_tls::TlsFiles;
use juror_types::{
    event::Events,
    id::{JobId, RunId},
    job::Job,
    outcome::JobResult,
    run::RunRecord,
};
use std::{
    collections::BTreeMap,
    process::Command,
    time::{Duration, Instant},
};
use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

/// Interval of polling a condition, and its time limit.
const LOOK: Duration = Duration::from_millis(20);
const MAX_WAIT: Duration = Duration::from_secs(120);

/// Delivered job in one of its rounds.
pub struct Taken {
    pub job: Job,
    pub priority: Priority,
    /// Number of deliveries.
    pub times: u32,
}

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

    /// Starts a command of the fleet and does not wait.
    pub fn start(&self, harness: &CommandHarness, arguments: &[&str]) -> RunningCommand {
        RunningCommand::start(self.command(harness, arguments))
    }

    /// Consumes this many different jobs as workers that lose their results.
    pub fn take_jobs(&self, count: usize) -> Vec<Taken> {
        self.work(count, |_| None)
    }

    /// Consumes this many different jobs and publishes their results, if they have any.
    pub fn work(&self, count: usize, result_of: impl Fn(&Job) -> Option<JobResult>) -> Vec<Taken> {
        let (jobs, results) = (self.queues().jobs(), self.queues().results());
        let working = async {
            let mut subscription = jobs.subscribe(100).await.unwrap();
            let mut taken: BTreeMap<(JobId, u32), Taken> = BTreeMap::new();
            while taken.len() < count {
                let delivery = subscription.next().await.unwrap().unwrap();
                let job = (*delivery.message).clone();
                if let Some(result) = result_of(&job) {
                    results.publish(result, Priority::Normal).await.unwrap();
                }
                let priority = delivery.priority;
                delivery.acknowledge().await.unwrap();
                let key = (job.job_id.clone(), job.round);
                taken.entry(key).or_insert(Taken { job, priority, times: 0 }).times += 1;
            }
            taken.into_values().collect()
        };
        self.run(async { timeout(MAX_WAIT, working).await.expect("so many jobs") })
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

    pub fn publish(&self, results: &[JobResult]) {
        let queue = self.queues().results();
        self.run(async {
            for result in results {
                queue.publish(result.clone(), Priority::Normal).await.unwrap();
            }
        });
    }

    /// Publishes jobs, as a producer does.
    pub fn enqueue(&self, jobs: &[Job]) {
        let queue = self.queues().jobs();
        self.run(async {
            for job in jobs {
                queue.publish(job.clone(), Priority::Normal).await.unwrap();
            }
        });
    }

    /// Consumes results as an aggregator does until each of this many jobs has one; returns them in
    /// item order. Several results of one job are equal.
    pub fn take_results(&self, jobs: usize) -> Vec<JobResult> {
        let queue = self.queues().results();
        let mut results = BTreeMap::new();
        let taking = async {
            let mut subscription = queue.subscribe(100).await.unwrap();
            while results.len() < jobs {
                let delivery = subscription.next().await.unwrap().unwrap();
                let result = (*delivery.message).clone();
                delivery.acknowledge().await.unwrap();
                let key = (result.run_id.clone(), result.screenshot_id.clone(), result.round);
                if let Some(before) = results.insert(key, result.clone()) {
                    assert_eq!(before, result);
                }
            }
        };
        self.run(async { timeout(MAX_WAIT, taking).await }).expect("every job has its result");
        results.into_values().collect()
    }

    /// Consumes this many jobs as another worker, and requeues them.
    pub fn meet_jobs(&self, count: usize) -> Vec<Job> {
        let queue = self.queues().jobs();
        let taking = async {
            let mut subscription = queue.subscribe(count).await.unwrap();
            let mut deliveries = Vec::new();
            while deliveries.len() < count {
                deliveries.push(subscription.next().await.unwrap().unwrap());
            }
            deliveries.into_iter().map(|delivery| (*delivery.message).clone()).collect()
        };
        self.run(async { timeout(MAX_WAIT, taking).await }).expect("the jobs are there for others")
    }

    /// Dead-lettered jobs: their items and the reasons.
    pub fn jobs_aside(&self) -> Vec<(String, String)> {
        let letters = self.run(self.queues().jobs().list()).unwrap();
        letters.into_iter().map(|letter| (letter.message.item.id, letter.reason)).collect()
    }

    /// Number of jobs with this delay, as in `10m`.
    pub fn held(&self, hold: &str) -> u32 {
        self.ready(&format!("hold.{hold}"))
    }

    /// Number of messages that are ready in a queue, by its name without the namespace.
    pub fn ready(&self, queue: &str) -> u32 {
        let depths = self.run(self.queues().depths()).unwrap();
        depths.iter().find(|(name, _)| *name == queue).unwrap().1
    }

    /// Publishes a job and dead-letters it as a poison job.
    pub fn poison(&self, job: Job, reason: &str) {
        let queue = self.queues().jobs();
        self.run(async {
            let mut subscription = queue.subscribe(1).await.unwrap();
            queue.publish(job, Priority::Normal).await.unwrap();
            let delivery = subscription.next().await.unwrap().unwrap();
            delivery.end(Disposition::DeadLetter(reason.to_owned())).await.unwrap();
        });
    }

    /// Dead-lettered results: their items and the reasons.
    pub fn results_aside(&self) -> Vec<(String, String)> {
        let letters = self.run(self.queues().results().list()).unwrap();
        letters.into_iter().map(|letter| (letter.message.screenshot_id, letter.reason)).collect()
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
        let progress = || self.status(run).and_then(|status| status.progress);
        await_some(|| progress().filter(&has_come_so_far), &format!("progress of {run}"))
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

/// Polls until there is a value.
#[track_caller]
pub fn await_some<T>(look: impl Fn() -> Option<T>, what: &str) -> T {
    let deadline = Instant::now() + MAX_WAIT;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "timed out: {what}");
        std::thread::sleep(LOOK);
    }
}
