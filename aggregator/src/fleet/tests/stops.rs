//! Being asked to stop.

use super::*;
use async_trait::async_trait;
use juror_queue::Delivery;

#[tokio::test(start_paused = true)]
async fn a_soft_stop_settles_what_is_in_hand_and_reports_what_changed() {
    let (fleet, run) = Fleet::judging(3);
    let working = fleet.start().await;
    fleet.publish(&[scored(&run, "1"), scored(&run, "2")]).await;
    fleet.backend.until_results(&run, 2).await;
    assert!(!fleet.path(&run, "report.json").exists());
    fleet.shutdown.escalate();
    working.role.await.unwrap().unwrap();
    assert_eq!(fleet.results.held(), 0);
    let coverage = &fleet.report(&run)["coverage"];
    assert_eq!((&coverage["scored"], &coverage["pending"]), (&2.into(), &1.into()));
    JournalWriter::open(fleet.runs_dir.path(), &run).unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_hard_stop_ends_at_once_and_leaves_the_rest_to_the_next() {
    let (fleet, run) = Fleet::judging(3);
    fleet.backend.change(|state| state.away = true);
    fleet.publish(&[scored(&run, "1")]).await;
    let working = fleet.start().await;
    while fleet.results.held() > 0 && !working.role.is_finished() {
        fleet.shutdown.escalate();
        tokio::task::yield_now().await;
    }
    working.role.await.unwrap().unwrap();
    assert_eq!(fleet.results.held(), 1);
    assert!(!fleet.path(&run, "report.json").exists());
}

/// A queue that can give no more.
struct Refusing;

#[async_trait]
impl Subscription<JobResult> for Refusing {
    async fn next(&mut self) -> Result<Option<Delivery<JobResult>>, QueueError> {
        Err(QueueError::Refused("it is gone".to_owned()))
    }

    async fn close(self: Box<Self>) {}
}

#[tokio::test(start_paused = true)]
async fn where_no_more_results_can_be_received_nobody_waits_for_dead_jobs() {
    let fleet = Fleet::new();
    let (role, _) = watch::channel(LockRole::default());
    let interval = Duration::from_secs(1);
    let lock = RunsLock::wait(fleet.runs_dir.path(), interval, &fleet.shutdown, &role).await;
    let lock = lock.unwrap().unwrap();
    let directory = identify(&lock, "here".to_owned()).unwrap();
    let resources = FleetResources {
        lock,
        directory,
        results: Box::new(Refusing),
        dead: fleet.dead.subscribe(1).await.unwrap(),
        jobs: Arc::new(fleet.jobs.clone()),
        dead_letters: Arc::new(fleet.jobs.clone()),
        held: Arc::new(fleet.jobs.clone()),
        backend: Arc::clone(&fleet.backend) as Arc<dyn FleetBackend>,
        events: Events::silent(),
        completed: mpsc::channel(1).0,
        metrics: Arc::default(),
        reports: Arc::new(PlainReports),
        options: fleet.options.clone(),
    };
    let error = run(resources, fleet.shutdown.clone()).await.unwrap_err();
    assert!(matches!(error, AggregatorError::Queue(QueueError::Refused(_))), "{error}");
}
