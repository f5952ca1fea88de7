//! Pauses of runs.

use super::*;
use crate::vision::{AccountProblem, CallEnd};

#[tokio::test]
async fn paused_run_keeps_its_jobs_and_stops_no_other() {
    let mut fixture = JobFixture::new(2);
    let message = "no".to_owned();
    let refusal = CallEnd::Account { problem: AccountProblem::Key, message };
    let (locked, open) = (FakeJudge::saying(vec![refusal]), FakeJudge::saying(vec![verdict(9)]));
    let paused = fixture.open_run("paused", &locked).await;
    let going_on = fixture.open_run("going-on", &open).await;
    for item in TEN {
        fixture.publish(&paused, &[item]).await;
        fixture.publish(&going_on, &[item]).await;
    }
    let worker = fixture.start();
    let results = fixture.take_results(10).await;
    assert!(results.iter().all(|result| result.run_id == going_on));
    fixture.runs.await_status_reads(&paused, 10).await;
    fixture.stop(worker).await;
    assert!(locked.calls() <= 2, "no more than were in flight at the first refusal");
    assert!(fixture.holds_back(10).await, "the paused run's jobs are kept");
    let (run, reason) = fixture.runs.pauses.lock()[0].clone();
    assert!(run == paused && reason.contains("key"), "{run}: {reason}");
    let warning = fixture.warning().await;
    assert!(warning.contains("run paused is paused") && warning.contains("juror retry paused"));
    assert!(warning.contains("key"), "{warning}");
    assert!(fixture.heard.try_recv().is_err(), "a pause is reported once");
}

#[tokio::test]
async fn pause_is_reported_once_by_jobs_with_other_reasons_and_again_after_a_resumption() {
    let (mut fixture, judge, run) = scored_run(2).await;
    let state = |reason: &str| WorkerRunState::Paused(reason.to_owned());
    let worker = fixture.start();
    for (reads, reason, item) in [(1, "no funds", "a"), (2, "no funds left", "b")] {
        fixture.runs.set(&run, state(reason));
        fixture.publish(&run, &[item]).await;
        fixture.runs.await_status_reads(&run, reads).await;
    }
    assert!(fixture.warning().await.contains("no funds"));
    fixture.open_run("nightly", &judge).await;
    fixture.publish(&run, &["c"]).await;
    fixture.take_results(1).await;
    fixture.runs.set(&run, state("no key"));
    fixture.publish(&run, &["d"]).await;
    assert!(fixture.warning().await.contains("no key"), "a further pause");
    fixture.stop(worker).await;
    assert!(fixture.heard.try_recv().is_err());
}

#[tokio::test]
async fn pause_of_the_only_run_ends_the_worker() {
    let mut fixture = JobFixture::new(2);
    let message = "no".to_owned();
    let refusal = CallEnd::Account { problem: AccountProblem::Key, message };
    let judge = FakeJudge::saying(vec![refusal]);
    let run = fixture.open_run("nightly", &judge).await;
    fixture.runs.end_with_pause(&fixture.shutdown.drain);
    fixture.publish(&run, &TEN).await;
    fixture.start().await.unwrap().unwrap();
    assert!(judge.calls() <= 2, "no more than were in flight at the first refusal");
    assert_eq!((fixture.jobs.held(), fixture.results.held()), (10, 0));
    assert!(fixture.runs.pauses.lock()[0].1.contains("key"));
    assert!(fixture.heard.try_recv().is_err(), "the end of the worker reports it");
}
