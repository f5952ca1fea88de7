//! Tests of the run records of a fleet.

use super::{test_server::TestRedis, *};
use crate::{
    job_store::{self, JobStore as _},
    redis::{JobState, RunProgress, RunStatus},
    test_requests::{claim, run},
};
use juror_types::{id::JobId, outcome::Outcome, run::RunRecord, test_record};
use std::collections::BTreeMap;

#[tokio::test]
async fn only_one_of_several_new_runs_reserves_a_name() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    let of_cap = |cap: &str| RunRecord { budget_usd: cap.parse().ok(), ..record() };
    let records = ["1", "5", "9"].map(of_cap);
    let reserved =
        futures_util::future::join_all(records.iter().map(|new| backend.reserve_run_name(new)));
    let reserved: Vec<bool> = reserved.await.into_iter().map(Result::unwrap).collect();
    assert_eq!(reserved.iter().filter(|reserved| **reserved).count(), 1);
    let (first, _) = records.iter().zip(&reserved).find(|(_, reserved)| **reserved).unwrap();
    assert!(backend.reserve_run_name(first).await.unwrap(), "a repeated request succeeds");

    backend.release_run_name(&of_cap("7")).await.unwrap();
    assert!(!backend.reserve_run_name(&of_cap("7")).await.unwrap(), "another run reserves it");
    backend.release_run_name(first).await.unwrap();
    assert!(backend.reserve_run_name(&of_cap("7")).await.unwrap());
    backend.announce_run(&of_cap("7")).await.unwrap();
    backend.release_run_name(&of_cap("7")).await.unwrap();
    assert!(!backend.reserve_run_name(first).await.unwrap(), "an announced run has it");
}

#[tokio::test]
async fn run_is_announced_closed_cancelled_and_reopened() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    assert_eq!(backend.run_status(&run()).await.unwrap(), None);
    assert!(!backend.close_run(&run(), 3).await.unwrap());
    let status = async || backend.run_status(&run()).await.unwrap().unwrap();
    let ttl = |kind: &str| redis.command(&["TTL", &format!("{}:{kind}:nightly", redis.namespace)]);

    backend.announce_run(&record()).await.unwrap();
    claim(&backend, "job").await;
    assert_eq!((status().await.record, status().await.expected), (record(), None));
    assert_eq!((ttl("run"), ttl("claims")), ("-1".to_owned(), "-1".to_owned()));

    assert!(backend.record_published(&run(), 2).await.unwrap());
    assert!(backend.cancel_run(&run()).await.unwrap());
    let cancelled = status().await;
    assert_eq!((cancelled.cancelled, cancelled.expected), (true, Some(2)));
    assert!(backend.close_run(&run(), 3).await.unwrap(), "a larger count is accepted");
    assert_eq!(status().await.expected, Some(3));
    let ended = RunProgress { reported_at: Some(3), ..RunProgress::default() };
    assert!(backend.record_progress(&run(), &RunProgress { results: 3, ..ended }).await.unwrap());
    assert!(backend.pause_run(&run(), "no key").await.unwrap());
    assert!(backend.pause_run(&run(), "no key either").await.unwrap());
    assert!(status().await.is_reported());
    let RunStatus { paused, progress, .. } = status().await;
    assert_eq!(paused.as_deref(), Some("no key"), "the first reason is kept");
    assert_eq!(progress.map(|progress| progress.results), Some(3));
    assert!(backend.cancel_run(&run()).await.unwrap());
    assert_eq!(status().await.paused, None, "its batches are collected");
    assert!(backend.pause_run(&run(), "no funds").await.unwrap());
    assert!(backend.update_record(&record()).await.unwrap());
    assert!(status().await.is_reported(), "it stays reported");
    let cap = Some("0.1".parse().unwrap());
    let capped = RunRecord { budget_usd: cap, ..record() };
    assert!(backend.update_record(&capped).await.unwrap());
    let known = status().await;
    assert_eq!((&known.record, known.expected, known.progress), (&capped, Some(3), None));
    assert!(known.cancelled && known.paused.is_some(), "how it stands does not change");
    for round in [1, 1, 2] {
        assert!(backend.expect_round(&run(), &JobId::new("job"), round).await.unwrap());
    }
    assert_eq!((status().await.expected, status().await.progress), (Some(5), None));
    assert!(!status().await.is_reported(), "that was an earlier round's report");
    for kind in ["run", "claims"] {
        assert!(ttl(kind).parse::<i64>().unwrap() > 6 * 24 * 60 * 60, "{kind}");
    }

    backend.announce_run(&record()).await.unwrap();
    assert_eq!(backend.announced_runs().await.unwrap(), [run()]);
    redis.command(&["DEL", &format!("{}:run:nightly", redis.namespace)]);
    assert_eq!(backend.announced_runs().await.unwrap(), [], "it has expired");

    backend.announce_run(&record()).await.unwrap();
    let again = status().await;
    assert_eq!((again.cancelled, again.expected, again.published), (false, None, 0));
    assert_eq!((again.paused, again.progress), (None, None));
    assert!(backend.expect_round(&run(), &JobId::new("job"), 2).await.unwrap());
    assert_eq!(status().await.expected, None, "it is not closed");
    assert_eq!((ttl("run"), ttl("claims")), ("-1".to_owned(), "-1".to_owned()));
    assert!(backend.record_published(&run(), 2).await.unwrap());
    assert!(backend.cancel_run(&run()).await.unwrap());
    assert_eq!(status().await.expected, Some(3), "republished jobs are added");
    assert!(backend.close_run(&run(), 3).await.unwrap());
    assert_eq!(status().await.expected, Some(4));
    backend.close().await;
}

#[tokio::test]
async fn outcomes_are_listed_for_all_jobs_and_for_one() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    let (job, unknown) = (JobId::new("job"), JobId::new("unknown"));
    let claimed = claim(&backend, "job").await;
    let state = backend.job_state(&run(), &job).await.unwrap();
    assert_eq!(state, JobState { ended: None, started: Some(0) });

    let mut result = job_store::conformance::result(&claimed, r#"","outcome":"skipped","#);
    result.outcome = Outcome::Unscorable;
    result.screenshot_id = result.reply.clone().unwrap();
    backend
        .finish(job_store::FinishedJob { claim: claimed, result, reply_to_cache: None })
        .await
        .unwrap();
    let mut many = BTreeMap::new();
    for number in 0..2_500 {
        let claimed = claim(&backend, &number.to_string()).await;
        let result = job_store::conformance::result(&claimed, "good");
        backend
            .finish(job_store::FinishedJob { claim: claimed, result, reply_to_cache: None })
            .await
            .unwrap();
    }
    let taking = |job, round, outcome| {
        many.insert(job, (round, outcome));
    };
    backend.for_each_outcome(&run(), taking).await.unwrap();
    assert_eq!(many.len(), 2_501);
    assert_eq!(many[&job], (0, Outcome::Unscorable));
    assert_eq!(many[&JobId::new("7")].0, 0);
    let state = backend.job_state(&run(), &job).await.unwrap();
    assert_eq!(state.ended, Some((0, Outcome::Unscorable)));
    let nothing = backend.job_state(&run(), &unknown).await.unwrap();
    assert_eq!(nothing, JobState { ended: None, started: None });
    backend.close().await;
}

pub fn record() -> RunRecord {
    RunRecord { planned: 3, judge: None, ..test_record::record(run().as_str()) }
}

#[tokio::test]
async fn usable_reply_resets_the_failure_streak() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    let count = async || backend.count_unusable(&run()).await.unwrap();
    assert_eq!(count().await, Some(0), "the run is unknown");
    assert_eq!(backend.run_status(&run()).await.unwrap(), None);
    backend.announce_run(&record()).await.unwrap();
    assert_eq!([count().await, count().await], [Some(1), Some(2)]);
    for (outcome, next) in [(Outcome::Skipped, Some(3)), (Outcome::Scored, Some(1))] {
        let claim = claim(&backend, &format!("{outcome:?}")).await;
        let result = job_store::conformance::result(&claim, "ended");
        let result = juror_types::outcome::JobResult { outcome, attempts: 1, ..result };
        let finished = job_store::FinishedJob { claim, result, reply_to_cache: None };
        assert!(backend.finish(finished).await.unwrap());
        assert_eq!(count().await, next, "{outcome:?}");
    }
    backend.announce_run(&record()).await.unwrap();
    assert_eq!(count().await, Some(1), "the run was resumed");
    backend.close().await;
}
