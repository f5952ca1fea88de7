//! Tests of a worker with jobs of many runs.

pub(crate) mod batch_fixture;
mod fake_judge;
mod fake_runs;
pub(crate) mod fixture;
mod unsteady;
mod watched_queue;

use super::WorkerRunState;
use crate::{
    claim_job::unclaimed,
    vision::{AccountProblem, CallEnd},
};
use fake_judge::{FakeJudge, answer, verdict};
use fixture::{JobFixture, job};
use juror_ledger::{
    admission::Admission as _,
    job_store::{Claim, ClaimKey, JobStore as _},
};
use juror_queue::{DeadLetters as _, Priority, Queue as _};
use juror_types::{
    SCHEMA,
    evidence::EvidenceMode,
    id::{OwnerId, RunId},
    job::Job,
    outcome::{ErrorKind, JobResult, Outcome},
    rubric::Rubric,
};
use std::sync::{Arc, atomic::Ordering::SeqCst};
use tokio::sync::Semaphore;
use watched_queue::WatchedQueue;

const TEN: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

fn kind(result: &JobResult) -> Option<ErrorKind> {
    result.error.as_ref().map(|error| error.kind)
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
    let mut fixture = JobFixture::new(2);
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
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

#[tokio::test]
async fn unjudgeable_job_ends_a_single_run_worker() {
    let fixture = JobFixture::new(1);
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
    fixture.runs.end_with_pause(&fixture.shutdown.drain);
    let newer = Job { schema: SCHEMA + 1, ..job(&run, "0") };
    fixture.jobs.publish(newer, Priority::Normal).await.unwrap();
    let error = fixture.start().await.unwrap().unwrap_err();
    assert!(error.to_string().contains("schema 2"), "{error}");
    assert_eq!((fixture.jobs.held(), judge.calls()), (1, 0));
}

#[tokio::test]
async fn jobs_of_a_cancelled_run_end_untried_except_calls_in_flight() {
    let fixture = JobFixture::new(8);
    let judge = FakeJudge::held_back(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
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
        let before = fixture.backend.gave_up.load(SeqCst);
        while fixture.backend.gave_up.load(SeqCst) == before {
            tokio::time::sleep(fixture::MAX_WAIT / 8).await;
        }
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
    let fixture = JobFixture::new(2);
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
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
    let fixture = JobFixture::new(1);
    let judge = FakeJudge::held_back(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
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
    let fixture = JobFixture::new(1);
    let judge = FakeJudge::held_back(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
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
    let fixture = JobFixture::new(8);
    let judge = FakeJudge::held_back(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
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

#[tokio::test(start_paused = true)]
async fn calls_are_suspended_without_the_ledger_and_bills_booked_on_return() {
    let fixture = JobFixture::new(1);
    let judge = FakeJudge::held_back(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
    fixture.publish(&run, &["0", "1"]).await;
    let worker = fixture.start();
    judge.await_calls(1).await;
    fixture.backend.away.store(true, SeqCst);
    judge.gate.add_permits(2);
    while fixture.backend.missed.load(SeqCst) < 3 {
        tokio::time::sleep(fixture::MAX_WAIT).await;
    }
    assert_eq!((judge.calls(), fixture.results.held()), (1, 0));
    fixture.backend.away.store(false, SeqCst);
    let results = fixture.take_results(2).await;
    fixture.stop(worker).await;
    assert_eq!(judge.calls(), 2);
    let ledger = fixture.backend.ledger(&run).await.unwrap().unwrap();
    assert_eq!(ledger.committed, results[0].cost_usd + results[1].cost_usd);
    assert_eq!((ledger.presumed, ledger.outstanding), Default::default());
}

#[tokio::test(start_paused = true)]
async fn worker_without_a_ledger_stops_on_request() {
    let fixture = JobFixture::new(1);
    let judge = FakeJudge::held_back(vec![verdict(9)]);
    let run = fixture.open_run("nightly", &judge).await;
    fixture.publish(&run, &["0"]).await;
    let worker = fixture.start();
    judge.await_calls(1).await;
    fixture.backend.away.store(true, SeqCst);
    judge.gate.add_permits(1);
    while fixture.backend.missed.load(SeqCst) < 2 {
        tokio::time::sleep(fixture::MAX_WAIT).await;
    }
    fixture.shutdown.drain.cancel();
    for _ in 0..100 {
        tokio::time::sleep(fixture::MAX_WAIT).await;
    }
    assert!(!worker.is_finished(), "a bill is not booked yet");
    fixture.shutdown.now.cancel();
    fixture.stop(worker).await;
    assert_eq!((fixture.results.held(), fixture.jobs.held()), (0, 1));
    fixture.backend.away.store(false, SeqCst);
    let ledger = fixture.backend.ledger(&run).await.unwrap().unwrap();
    assert!(ledger.outstanding > ledger.committed, "it counts until its owner is gone");
}

#[tokio::test]
async fn worker_without_a_renderer_requeues_rendering_jobs_and_ends_finished_ones() {
    let mut fixture = JobFixture::new(1);
    fixture.renders = false;
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("measured", &judge).await;
    let measured = |item| Job { evidence: EvidenceMode::Facts, ..job(&run, item) };
    fixture.jobs.publish(measured("drawn"), Priority::Normal).await.unwrap();
    let worker = fixture.start();
    fixture.publish(&run, &["plain"]).await;
    let [plain] = fixture.take_results(1).await.try_into().unwrap();
    assert_eq!((plain.screenshot_id.as_str(), plain.outcome), ("plain", Outcome::Scored));
    let warning = fixture.warning().await;
    assert!(warning.contains("start juror worker on a machine with a browser"), "{warning}");

    fixture.runs.set(&run, WorkerRunState::Cancelled);
    fixture.jobs.publish(measured("cancelled"), Priority::Normal).await.unwrap();
    let results = fixture.take_results(2).await;
    assert!(results.iter().all(|result| result.outcome == Outcome::Skipped), "{results:?}");
    fixture.stop(worker).await;
}

#[tokio::test]
async fn worker_whose_browser_is_broken_requeues_rendering_jobs() {
    let mut fixture = JobFixture::new(1);
    let browser = fixture.folder.path().join("no-browser");
    fixture.rendering.renderer.browser = Some(browser);
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("measured", &judge).await;
    let context = fixture.context(&judge, fixture::semantic());
    context.evidence.start_renderer().await.unwrap_err();
    fixture.runs.set(&run, WorkerRunState::Open(Arc::new(context)));
    let measured = Job { evidence: EvidenceMode::Facts, ..job(&run, "drawn") };
    fixture.jobs.publish(measured, Priority::Normal).await.unwrap();
    let worker = fixture.start();
    let warning = fixture.warning().await;
    assert!(warning.contains("wait for a worker that can render"), "{warning}");
    fixture.stop(worker).await;
    assert_eq!((fixture.results.held(), fixture.jobs.held()), (0, 1));
}

#[tokio::test]
async fn job_in_hand_of_a_worker_whose_browser_breaks_is_free_for_others() {
    let mut fixture = JobFixture::new(1);
    fixture.rendering.renderer.browser = Some(fixture.folder.path().join("no-browser"));
    let judge = FakeJudge::saying(vec![verdict(9)]);
    let run = fixture.open_run("measured", &judge).await;
    let measured = Job { evidence: EvidenceMode::Facts, ..job(&run, "drawn") };
    fixture.jobs.publish(measured.clone(), Priority::Normal).await.unwrap();
    let worker = fixture.start();
    while !fixture.warning().await.contains("wait for a worker that can render") {}
    fixture.stop(worker).await;
    assert_eq!((fixture.results.held(), fixture.jobs.held()), (0, 1));
    let claim = fixture.backend.claim(&unclaimed(&measured), &OwnerId::new("there")).await;
    let is_free = matches!(claim, Ok(Claim::Granted { unfinished_starts: 0, .. }));
    assert!(is_free, "{claim:?}");
}
