//! Stop requests, and failures that stop no other run.

use super::*;
use async_trait::async_trait;
use juror_queue::Delivery;

#[tokio::test(start_paused = true)]
async fn graceful_stop_settles_work_in_progress_and_reports_changes() {
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
async fn hard_stop_ends_immediately_and_leaves_the_rest_unacknowledged() {
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

/// Queue without further messages.
struct Refusing;

#[async_trait]
impl Subscription<JobResult> for Refusing {
    async fn next(&mut self) -> Result<Option<Delivery<JobResult>>, QueueError> {
        Err(QueueError::Refused("it is gone".to_owned()))
    }

    async fn close(self: Box<Self>) {}
}

#[tokio::test(start_paused = true)]
async fn closed_result_queue_ends_the_wait_for_dead_letters() {
    let fleet = Fleet::new();
    let resources = FleetResources { results: Box::new(Refusing), ..fleet.resources().await };
    let error = run(resources, fleet.shutdown.clone()).await.unwrap_err();
    assert!(matches!(error, AggregatorError::Queue(QueueError::Refused(_))), "{error}");
}

#[tokio::test(start_paused = true)]
async fn run_with_a_removed_folder_is_quarantined_and_other_runs_continue() {
    for open_runs in [1, 64] {
        let (mut fleet, removed) = Fleet::judging(3);
        fleet.options.open_runs = open_runs;
        let other = fleet_record("other", 2);
        fleet.backend.announce(&other);
        let working = fleet.start().await;
        for run in [&removed, &other.run_id] {
            fleet.publish(&[scored(run, "1")]).await;
            fleet.backend.until_results(run, 1).await;
        }
        std::fs::remove_dir_all(fleet.path(&removed, "")).unwrap();
        fleet.publish(&[scored(&removed, "2")]).await;
        while fleet.dead_letter().await.is_empty() && !working.role.is_finished() {
            tokio::task::yield_now().await;
        }
        fleet.publish(&[scored(&removed, "3"), scored(&other.run_id, "2")]).await;
        fleet.backend.close(&other.run_id, 2);
        fleet.backend.until_reported(&other.run_id, 2).await;
        fleet.end(working).await.unwrap();
        let letters = fleet.dead_letter().await;
        let items: Vec<&str> = letters.iter().map(|(item, _)| item.as_str()).collect();
        assert_eq!(items, ["2", "3"], "a written line of a removed file is no commit");
        let reason = &letters[0].1;
        assert!(reason.contains("were removed: restore them from a backup"), "{reason}");
        assert!(!fleet.path(&removed, "").exists());
    }
}

#[tokio::test(start_paused = true)]
async fn removed_run_is_not_recreated_by_a_status_change() {
    let (fleet, removed) = Fleet::judging(3);
    let working = fleet.start().await;
    fleet.publish(&[scored(&removed, "1")]).await;
    fleet.backend.until_results(&removed, 1).await;
    std::fs::remove_dir_all(fleet.path(&removed, "")).unwrap();
    fleet.backend.close(&removed, 2);
    let status_requests = fleet.backend.until(|_| true).await.status_requests;
    fleet.backend.until(|state| state.status_requests > status_requests + 1).await;
    fleet.publish(&[scored(&removed, "2")]).await;
    while fleet.dead_letter().await.is_empty() && !working.role.is_finished() {
        tokio::task::yield_now().await;
    }
    fleet.end(working).await.unwrap();
    assert!(!fleet.path(&removed, "").exists());
}
