use super::*;
use crate::{
    dataset::{Dataset, DatasetShape},
    plan::{JobTemplate, PlanOptions, jobs},
};
use juror_ledger::redis::{RedisSettings, RunStatus, test_server::TestRedis};
use juror_ledger::{
    admission::{Budget, Period},
    budgets::{BudgetRecords as _, open_run},
};
use juror_queue::{Priority, Queue, local::LocalQueue};
use juror_types::{
    id::Digest,
    job::{Job, RubricReference},
    test_record,
    usage::Money,
};
use tempfile::TempDir;

fn rubric() -> RubricReference {
    RubricReference { id: "semantic".into(), version: 1, digest: Digest::from_content(b"") }
}

fn record() -> RunRecord {
    RunRecord {
        rubric: rubric(),
        judge: None,
        planned: 10,
        fleet: Some("juror".into()),
        ..test_record::record("nightly")
    }
}

/// Open run of ten jobs in a dedicated Redis namespace.
struct Fixture {
    redis: TestRedis,
    backend: Arc<RedisLedger>,
    folder: TempDir,
}

impl Fixture {
    async fn new() -> Self {
        let redis = TestRedis::shared();
        let backend = Arc::new(RedisLedger::open(redis.settings()).await.unwrap());
        open(&backend, &record(), &BudgetSettings::default()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let lines: String =
            (0..10).map(|id| format!("{{\"id\":\"{id}\",\"screenshot\":\"1.png\"}}\n")).collect();
        std::fs::write(folder.path().join("set.jsonl"), lines).unwrap();
        Self { redis, backend, folder }
    }

    fn run(&self) -> FleetRun {
        let (backend, run) = (Arc::clone(&self.backend), record().run_id);
        FleetRun { backend, run, earlier_results: 0, published_before: 0 }
    }

    fn submission(&self, queue: &Arc<LocalQueue<Job>>) -> Submission {
        let shape = DatasetShape { images: vec!["screenshot".into()], ..DatasetShape::default() };
        let dataset = Dataset::open(&self.folder.path().join("set.jsonl"), &shape).unwrap();
        let template = JobTemplate {
            run_id: record().run_id,
            rubric: rubric(),
            judge: None,
            evidence: juror_types::evidence::EvidenceMode::None,
        };
        Submission {
            queue: Arc::clone(queue) as Arc<dyn Queue<Job>>,
            jobs: jobs(&dataset, &PlanOptions::default(), &template).unwrap(),
            planned: 10,
            total: 10,
            round_of: Box::new(|_| Some(0)),
            priority: Priority::Normal,
            uploader: None,
            window: 100,
            events: Events::silent(),
            published: watch::Sender::new(0),
        }
    }

    async fn status(&self) -> RunStatus {
        self.backend.run_status(&record().run_id).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn run_is_closed_with_its_final_job_count() {
    let fixture = Fixture::new().await;
    let queue = Arc::new(LocalQueue::new(100));
    let run = FleetRun { earlier_results: 7, ..fixture.run() };
    let published = run.publish(fixture.submission(&queue), &Shutdown::new()).await.unwrap();
    assert_eq!(published, Published { jobs: 10, end: PublishedEnd::Closed });
    assert_eq!(fixture.status().await.expected, Some(17));
    fixture.backend.close().await;
}

#[tokio::test]
async fn stop_leaves_the_run_open_and_records_the_count() {
    let fixture = Fixture::new().await;
    let queue = Arc::new(LocalQueue::new(3));
    let (submission, shutdown) = (fixture.submission(&queue), Shutdown::new());
    let mut count = submission.published.subscribe();
    let stopping = async {
        count.wait_for(|count| *count == 3).await.unwrap();
        shutdown.escalate();
    };
    let run = fixture.run();
    let (published, ()) = tokio::join!(run.publish(submission, &shutdown), stopping);
    assert_eq!(published.unwrap(), Published { jobs: 3, end: PublishedEnd::Stopped });
    let status = fixture.status().await;
    assert_eq!((status.published, status.expected), (3, None));
    // Continuing never lowers the recorded count, however few jobs are published again.
    let run = FleetRun { published_before: 5, ..run };
    let stopped = Shutdown::new();
    stopped.escalate();
    run.publish(fixture.submission(&queue), &stopped).await.unwrap();
    assert_eq!(fixture.status().await.published, 5);
    fixture.backend.close().await;
}

#[tokio::test]
async fn cancelled_run_is_closed_with_its_published_jobs() {
    let fixture = Fixture::new().await;
    let queue = Arc::new(LocalQueue::new(3));
    let submission = fixture.submission(&queue);
    let mut count = submission.published.subscribe();
    let cancelling = async {
        count.wait_for(|count| *count == 3).await.unwrap();
        fixture.backend.cancel_run(&record().run_id).await.unwrap();
    };
    let (run, shutdown) = (fixture.run(), Shutdown::new());
    let (published, ()) = tokio::join!(run.publish(submission, &shutdown), cancelling);
    assert_eq!(published.unwrap(), Published { jobs: 3, end: PublishedEnd::Cancelled });
    let status = fixture.status().await;
    assert_eq!((status.expected, status.cancelled), (Some(3), true));
    assert!(!shutdown.drain.is_cancelled(), "the caller was not stopped");
    fixture.backend.close().await;
}

#[tokio::test]
async fn run_missing_from_redis_is_an_error_that_names_it() {
    let fixture = Fixture::new().await;
    fixture.redis.command(&["DEL", &format!("{}:run:nightly", fixture.redis.namespace)]);
    for room in [3, 100] {
        let queue = Arc::new(LocalQueue::new(room));
        let submission = fixture.submission(&queue);
        let error = fixture.run().publish(submission, &Shutdown::new()).await.unwrap_err();
        assert!(matches!(error, PublishRunError::Forgotten(_)), "{error:?}");
        assert!(error.to_string().contains("nightly"), "{error}");
    }
    fixture.backend.close().await;
}

#[tokio::test]
async fn budget_is_refused_on_a_volatile_redis() {
    let redis = TestRedis::own(&[]);
    let nightly = record();
    let named = |run: &str| RunRecord { run_id: RunId::new(run), ..record() };
    let one = |text: &str| text.parse::<Money>().ok();
    let settings = RedisSettings { allow_volatile: false, ..redis.settings() };
    let backend = RedisLedger::open(settings).await.unwrap();
    let unlimited = BudgetSettings::default();
    open_run(&backend, &nightly, &unlimited, Money::ZERO).await.unwrap();
    let capped = RunRecord { budget_usd: one("1"), ..record() };
    let daily = BudgetSettings { day_usd: one("1").map(Budget::Cap), ..unlimited.clone() };
    for (run, budgets) in [(&capped, &unlimited), (&nightly, &daily)] {
        let refused = open_run(&backend, run, budgets, Money::ZERO).await.unwrap_err();
        assert!(matches!(refused, LedgerError::Broken(_)), "{refused:?}");
    }
    backend.close().await;

    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    let day_usd = one("2").map(Budget::Cap);
    let budgets = BudgetSettings { day_usd, ..BudgetSettings::default() };
    open_run(&backend, &capped, &budgets, Money::ZERO).await.unwrap();
    open_run(&backend, &named("other"), &unlimited, Money::ZERO).await.unwrap();
    let of = async |period: Period| backend.cap(&period.into()).await.unwrap();
    assert_eq!(of(Period::Day).await, one("2").map(Budget::Cap), "it stands");
    assert_eq!(of(Period::Month).await, Some(Budget::Unlimited));
    let lifting = BudgetSettings { day_usd: Some(Budget::Unlimited), ..unlimited };
    open_run(&backend, &named("third"), &lifting, Money::ZERO).await.unwrap();
    assert_eq!(of(Period::Day).await, Some(Budget::Unlimited), "it is lifted");
    backend.close().await;
}
