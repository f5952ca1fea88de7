//! Tests of a worker with jobs of many runs.

pub(crate) mod batch_fixture;
mod fake_judge;
mod fake_runs;
pub(crate) mod fixture;
mod ledger_outages;
mod pauses;
mod rendering_jobs;
mod unsteady;
mod watched_queue;

use super::WorkerRunState;
use crate::claim_job::unclaimed;
use fake_judge::{FakeJudge, answer, verdict};
use fixture::{JobFixture, job};
use juror_ledger::{
    admission::Admission as _,
    job_store::{Claim, ClaimKey, JobStore as _},
};
use juror_queue::{DeadLetters as _, Priority, Queue as _};
use juror_types::{
    SCHEMA,
    id::{OwnerId, RunId},
    job::Job,
    outcome::{ErrorKind, JobResult, Outcome},
    rubric::Rubric,
};
use std::sync::Arc;
use tokio::sync::Semaphore;
use watched_queue::WatchedQueue;

const TEN: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

fn kind(result: &JobResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
}

/// Worker with this many concurrent calls, and a run whose verdicts come when its judge gets permits.
async fn held_run(calls: usize) -> (JobFixture, Arc<FakeJudge>, RunId) {
    run_judged_by(calls, FakeJudge::held_back(vec![verdict(9)])).await
}

/// Worker with this many concurrent calls, and a run whose verdicts come at once.
async fn scored_run(calls: usize) -> (JobFixture, Arc<FakeJudge>, RunId) {
    run_judged_by(calls, FakeJudge::saying(vec![verdict(9)])).await
}

async fn run_judged_by(calls: usize, judge: Arc<FakeJudge>) -> (JobFixture, Arc<FakeJudge>, RunId) {
    let fixture = JobFixture::new(calls);
    let run = fixture.open_run("nightly", &judge).await;
    (fixture, judge, run)
}

/// Claims a job as another worker.
async fn claim(fixture: &JobFixture, run: &RunId, item: &str) -> ClaimKey {
    let key = unclaimed(&job(run, item));
    match fixture.backend.claim(&key, &OwnerId::new("there")).await.unwrap() {
        Claim::Granted { fence, .. } => ClaimKey { fence, ..key },
        other => panic!("it is not granted: {other:?}"),
    }
}

#[tokio::test]
async fn jobs_are_judged_with_the_settings_of_their_run() {
    let fixture = JobFixture::new(2);
    let (kind, harsh) = (FakeJudge::saying(vec![verdict(9)]), FakeJudge::saying(vec![verdict(5)]));
    let text = juror_types::rubric::builtin_named("semantic@1")
        .unwrap()
        .text
        .replace("id = \"semantic\"", "id = \"own\"");
    let own = Rubric::parse(&text, "own").unwrap();
    let (first, second) =
        (fixture.open_run("first", &kind).await, fixture.open_run_by("second", &harsh, own).await);
    let worker = fixture.start();
    for item in TEN {
        fixture.publish(&first, &[item]).await;
        fixture.publish(&second, &[item]).await;
    }
    let results = fixture.take_results(20).await;
    fixture.stop(worker).await;
    assert_eq!((kind.calls(), harsh.calls(), fixture.jobs.held()), (10, 10, 0));
    for result in results {
        let (rubric, correctness) =
            if result.run_id == first { ("semantic@1", 0.9) } else { ("own@1", 0.5) };
        let semantic = serde_json::to_value(result.semantic.unwrap()).unwrap();
        assert_eq!(semantic["rubric"], rubric);
        assert_eq!(semantic["semantic_correctness"], correctness);
    }
}

#[tokio::test]
async fn unjudgeable_job_ends_a_single_run_worker() {
    let (fixture, judge, run) = scored_run(1).await;
    fixture.runs.end_with_pause(&fixture.shutdown.drain);
    let newer = Job { schema: SCHEMA + 1, ..job(&run, "0") };
    fixture.jobs.publish(newer, Priority::Normal).await.unwrap();
    let error = fixture.start().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("schema 2"), "{error}");
    assert_eq!((fixture.jobs.held(), judge.calls()), (1, 0));
}

#[tokio::test]
async fn jobs_of_a_cancelled_run_end_untried_except_calls_in_flight() {
    let (fixture, judge, run) = held_run(8).await;
    fixture.publish(&run, &TEN).await;
    let worker = fixture.start();
    // Nine are in progress: one of them waits for its call.
    fixture.runs.await_status_reads(&run, 9).await;
    judge.await_calls(8).await;
    fixture.runs.set(&run, WorkerRunState::Cancelled);
    judge.gate.add_permits(8);
    let results = fixture.take_results(10).await;
    fixture.stop(worker).await;
    let skipped: Vec<_> =
        results.iter().filter(|result| result.outcome == Outcome::Skipped).collect();
    assert_eq!((skipped.len(), judge.calls(), fixture.jobs.held()), (2, 8, 0));
    assert!(skipped.iter().all(|result| kind(result) == Some(ErrorKind::Cancelled)));
    assert_eq!(results.iter().filter(|result| result.outcome == Outcome::Scored).count(), 8);
}

#[tokio::test]
async fn jobs_of_an_unknown_run_are_kept_and_reported_once() {
    let mut fixture = JobFixture::new(2);
    let run = RunId::new("forgotten");
    fixture.publish(&run, &TEN).await;
    let worker = fixture.start();
    fixture.runs.await_status_reads(&run, 10).await;
    let newer = Job { schema: SCHEMA + 1, ..job(&RunId::new("newer"), "0") };
    fixture.jobs.publish(newer, Priority::Normal).await.unwrap();
    let warning = fixture.warning().await;
    assert!(warning.contains("forgotten") && warning.contains("10 minutes"), "{warning}");
    let warning = fixture.warning().await;
    assert!(warning.contains("newer") && warning.contains("schema 2"), "{warning}");
    assert!(warning.contains("reads schema 1"), "{warning}");
    fixture.stop(worker).await;
    assert!(fixture.holds_back(11).await);
}

#[tokio::test(start_paused = true)]
async fn long_waiting_job_is_requeued_and_its_replies_still_count() {
    let fixture = JobFixture::new(2);
    let judge = FakeJudge::saying(vec![answer("no verdict")]);
    let run = fixture.open_run("nightly", &judge).await;
    *fixture.backend.tickets.lock() = Some(1);
    fixture.publish(&run, &["0"]).await;
    let worker = fixture.start();
    for allowed in [0, 1, 0, 1] {
        fixture.backend.gave_up.subscribe().changed().await.unwrap();
        *fixture.backend.tickets.lock() = Some(allowed);
    }
    let [result] = fixture.take_results(1).await.try_into().unwrap();
    fixture.stop(worker).await;
    assert_eq!((result.outcome, result.attempts, judge.calls()), (Outcome::Unscorable, 3, 3));
    let ledger = fixture.backend.ledger(&run).await.unwrap().unwrap();
    assert_eq!(result.cost_usd, ledger.committed);
    assert_eq!(fixture.jobs.held(), 0);
}

#[tokio::test]
async fn poison_job_is_reported_and_dead_lettered() {
    let (fixture, judge, run) = scored_run(2).await;
    for _ in 0..3 {
        let key = claim(&fixture, &run, "killer").await;
        fixture.backend.set_isolated(&key, true).await.unwrap();
    }
    fixture.publish(&run, &["killer"]).await;
    let worker = fixture.start();
    let [result] = fixture.take_results(1).await.try_into().unwrap();
    // It is redelivered, for instance since its worker was killed before dead-lettering it.
    fixture.publish(&run, &["killer"]).await;
    fixture.take_results(1).await;
    fixture.stop(worker).await;
    assert_eq!((kind(&result), judge.calls()), (Some(ErrorKind::Poison), 0));
    let letters = fixture.jobs.list().await.unwrap();
    assert_eq!(letters.len(), 2);
    assert_eq!(letters[0].message, job(&run, "killer"));
    assert_eq!(Some(&letters[0].reason), result.error.map(|error| error.message).as_ref());
}

#[tokio::test]
async fn job_in_progress_is_not_started_again() {
    let fixture = JobFixture::new(4);
    let (slow, quick) =
        (FakeJudge::held_back(vec![verdict(9)]), FakeJudge::saying(vec![verdict(9)]));
    let (run, other) =
        (fixture.open_run("slow", &slow).await, fixture.open_run("quick", &quick).await);
    let worker = fixture.start();
    fixture.publish(&run, &["0", "0"]).await;
    // Jobs are started in order.
    fixture.publish(&other, &["0"]).await;
    fixture.take_results(1).await;
    slow.gate.add_permits(2);
    let results = fixture.take_results(1).await;
    assert_eq!((results[0].outcome, slow.calls()), (Outcome::Scored, 1));
    fixture.stop(worker).await;
    assert!(fixture.holds_back(1).await);
}

#[tokio::test]
async fn job_claimed_by_another_worker_is_kept_until_its_result_is_stored() {
    let (fixture, judge, run) = held_run(1).await;
    fixture.publish(&run, &["0"]).await;
    let worker = fixture.start();
    judge.await_calls(1).await;
    claim(&fixture, &run, "0").await;
    judge.gate.add_permits(1);
    fixture.stop(worker).await;
    assert_eq!(fixture.results.held(), 0, "the other one publishes it");
    assert!(fixture.holds_back(1).await);
}

#[tokio::test]
async fn stopping_worker_takes_no_job_and_finishes_its_own() {
    let (fixture, judge, run) = held_run(1).await;
    fixture.publish(&run, &["0", "1"]).await;
    let ended = Arc::new(Semaphore::new(0));
    let watched = WatchedQueue { jobs: fixture.jobs.clone(), ended: ended.clone() };
    let worker = fixture.start_on(Arc::new(watched));
    judge.await_calls(1).await;
    fixture.shutdown.drain.cancel();
    ended.acquire().await.unwrap().forget();
    assert!(!worker.is_finished(), "a call is in flight");
    judge.gate.add_permits(1);
    fixture.stop(worker).await;
    assert_eq!(fixture.take_results(1).await[0].screenshot_id, "0");
    let mut next = fixture.jobs.subscribe(1).await.unwrap();
    assert_eq!(next.next().await.unwrap().unwrap().message.item.id, "1");
}

#[tokio::test]
async fn hard_stop_requeues_all_jobs_without_counting_a_start() {
    let (fixture, judge, run) = held_run(8).await;
    fixture.publish(&run, &TEN).await;
    let worker = fixture.start();
    judge.await_calls(8).await;
    fixture.shutdown.now.cancel();
    fixture.stop(worker).await;
    assert_eq!((fixture.results.held(), fixture.jobs.held()), (0, 10));
    for item in TEN {
        let key = unclaimed(&job(&run, item));
        match fixture.backend.claim(&key, &OwnerId::new("next")).await.unwrap() {
            Claim::Granted { unfinished_starts, .. } => assert_eq!(unfinished_starts, 0),
            other => panic!("{other:?}"),
        }
    }
}
