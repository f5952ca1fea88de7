use super::*;
use crate::{
    dataset::{Dataset, DatasetShape},
    plan::{JobTemplate, PlanOptions, jobs},
};
use async_trait::async_trait;
use juror_queue::{Subscription, local::LocalQueue};
use juror_types::{
    id::{Digest, RunId},
    job::RubricReference,
};
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

struct Given {
    _backend: TempDir,
    jobs: Jobs,
}

fn lines(count: u32) -> String {
    (0..count).map(|id| format!("{{\"id\":\"{id}\",\"screenshot\":\"1.png\"}}\n")).collect()
}

fn given(lines: &str) -> Given {
    let backend = tempfile::tempdir().unwrap();
    std::fs::write(backend.path().join("set.jsonl"), lines).unwrap();
    let shape = DatasetShape { images: vec!["screenshot".into()], ..DatasetShape::default() };
    let dataset = Dataset::open(&backend.path().join("set.jsonl"), &shape).unwrap();
    let rubric =
        RubricReference { id: "semantic".into(), version: 1, digest: Digest::from_content(b"") };
    let template = JobTemplate {
        run_id: RunId::new("run"),
        rubric,
        judge: None,
        evidence: juror_types::evidence::EvidenceMode::None,
    };
    let jobs = jobs(&dataset, &PlanOptions::default(), &template).unwrap();
    Given { _backend: backend, jobs }
}

fn submission(queue: &Arc<LocalQueue<Job>>, jobs: Jobs) -> Submission {
    Submission {
        queue: Arc::clone(queue) as Arc<dyn Queue<Job>>,
        jobs,
        planned: 10,
        total: 10,
        round_of: Box::new(|_| Some(2)),
        priority: Priority::High,
        uploader: None,
        window: 4,
        events: Events::silent(),
        published: watch::Sender::new(0),
    }
}

#[tokio::test]
async fn jobs_are_published_in_their_round_and_skipped_ones_are_not() {
    let given = given(&lines(10));
    let queue = Arc::new(LocalQueue::new(100));
    let (events, mut heard) = Events::channel(10);
    let round_of: RoundAssignment = Box::new(|job| (job.item.id.as_str() >= "4").then_some(2));
    let submission = Submission { round_of, planned: 6, events, ..submission(&queue, given.jobs) };
    let published = submission.published.subscribe();
    let submitted = run(submission, &Shutdown::new()).await.unwrap();
    assert_eq!(submitted, Submitted { published: 6, complete: true });
    assert_eq!(*published.borrow(), 6);
    assert!(matches!(heard.recv().await, Some(Event::Planned { jobs: 6 })));
    queue.close();
    let mut subscription = queue.subscribe(1).await.unwrap();
    let mut ids = Vec::new();
    while let Some(delivery) = subscription.next().await.unwrap() {
        assert_eq!((delivery.message.round, delivery.priority), (2, Priority::High));
        ids.push(delivery.message.item.id.clone());
        delivery.acknowledge().await.unwrap();
    }
    ids.sort();
    assert_eq!(ids, ["4", "5", "6", "7", "8", "9"]);
}

#[tokio::test]
async fn dataset_of_another_length_than_planned_is_an_error() {
    for count in [9, 11] {
        let given = given(&lines(count));
        let queue = Arc::new(LocalQueue::new(100));
        let error = run(submission(&queue, given.jobs), &Shutdown::new()).await.unwrap_err();
        let message = format!("the dataset changed while its jobs were published ({count} so far)");
        assert!(error.to_string().starts_with(&message), "{error}");
        assert!(error.to_string().ends_with("instead of the 10 that were planned"), "{error}");
    }
}

#[tokio::test]
async fn a_full_queue_is_waited_for() {
    let given = given(&lines(500));
    let queue = Arc::new(LocalQueue::new(3));
    let consuming = async {
        let mut subscription = queue.subscribe(2).await.unwrap();
        for _ in 0..500 {
            subscription.next().await.unwrap().unwrap().acknowledge().await.unwrap();
        }
    };
    let shutdown = Shutdown::new();
    let submission = Submission { total: 500, ..submission(&queue, given.jobs) };
    let ((), submitted) = tokio::join!(consuming, run(submission, &shutdown));
    assert_eq!(submitted.unwrap().published, 500);
}

#[tokio::test]
async fn stop_ends_publishing_to_a_full_queue_with_an_exact_count() {
    let given = given(&lines(5000));
    let queue = Arc::new(LocalQueue::new(3));
    let shutdown = Shutdown::new();
    let stopping = async {
        let mut subscription = queue.subscribe(1).await.unwrap();
        for _ in 0..7 {
            subscription.next().await.unwrap().unwrap().acknowledge().await.unwrap();
        }
        shutdown.escalate();
    };
    let publishing = run(submission(&queue, given.jobs), &shutdown);
    let ((), submitted) = tokio::join!(stopping, publishing);
    let submitted = submitted.unwrap();
    assert!(!submitted.complete);
    assert_eq!(submitted.published, 7 + queue.held() as u64);
}

#[test]
fn reader_stops_when_its_receiver_is_dropped_even_if_all_jobs_are_skipped() {
    let given = given(&lines(100));
    let (sender, receiver) = mpsc::channel(1);
    drop(receiver);
    let checked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&checked);
    let round_of: RoundAssignment = Box::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        None
    });
    read(given.jobs, &round_of, &sender);
    assert_eq!(checked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_closed_queue_is_an_error() {
    let given = given(&lines(5));
    let queue = Arc::new(LocalQueue::new(10));
    queue.close();
    let error = run(submission(&queue, given.jobs), &Shutdown::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "publishing failed after 0 jobs: the queue is closed");
}

#[tokio::test]
async fn changed_dataset_is_an_error_with_the_published_count() {
    let given = given(&(lines(5) + "{}\n" + &lines(5)));
    let queue = Arc::new(LocalQueue::new(100));
    let error = run(submission(&queue, given.jobs), &Shutdown::new()).await.unwrap_err();
    let SubmitError { published: 5, cause: SubmitFailure::Dataset(source) } = error else {
        panic!("{error}")
    };
    assert_eq!(source.place.line, Some(6));
    assert_eq!(queue.held(), 5);
}

/// Queue that never confirms, and counts the waiting publishers.
#[derive(Default)]
struct Mute {
    waiting: AtomicU64,
    reached: tokio::sync::Notify,
}

#[async_trait]
impl Queue<Job> for Mute {
    async fn publish(&self, _job: Job, _lane: Priority) -> Result<(), QueueError> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.reached.notify_one();
        std::future::pending().await
    }

    async fn subscribe(&self, _: usize) -> Result<Box<dyn Subscription<Job>>, QueueError> {
        Err(QueueError::Closed)
    }
}

#[tokio::test]
async fn unconfirmed_messages_stay_within_the_window() {
    let given = given(&lines(100));
    let mute = Arc::new(Mute::default());
    let queue = Arc::clone(&mute) as Arc<dyn Queue<Job>>;
    let local = Arc::new(LocalQueue::new(1));
    let submission = Submission { queue, window: 4, ..submission(&local, given.jobs) };
    let shutdown = Shutdown::new();
    let stopping = async {
        while mute.waiting.load(Ordering::SeqCst) < 4 {
            mute.reached.notified().await;
        }
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        shutdown.escalate();
    };
    let ((), submitted) = tokio::join!(stopping, run(submission, &shutdown));
    assert_eq!(submitted.unwrap().published, 0);
    assert_eq!(mute.waiting.load(Ordering::SeqCst), 4);
}
