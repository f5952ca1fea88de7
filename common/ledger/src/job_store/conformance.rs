//! Conformance suite of a store. Each backend's tests run [`check_all`] against it.

use super::{CacheStats, CachedReply, Claim, ClaimKey, FinishedJob, JobStore, UnattributedCost};
use crate::admission::{Admission, Budget, Settlement};
use juror_types::{
    id::{Digest, JobId, LeaseId, OwnerId, RunId},
    item::Item,
    job::{Job, Provider, RubricReference},
    outcome::{JobResult, JudgeRecord, Outcome},
    usage::{Money, Usage},
};
use std::sync::Arc;

/// Runs the suite; `make` returns a new, empty backend each time.
///
/// # Panics
/// If the backend does not conform.
pub async fn check_all<Backend, Make>(make: Make)
where
    Backend: Admission + JobStore,
    Make: AsyncFn() -> Arc<Backend>,
{
    starts_are_counted(&*make().await).await;
    isolated_starts_are_counted_separately(&*make().await).await;
    finished_job_returns_its_result(&*make().await).await;
    only_the_latest_holder_may_publish(&*make().await).await;
    later_round_is_judged_again(&*make().await).await;
    a_settlement_stores_the_result(&*make().await).await;
    a_repeated_settlement_stores_the_result(&*make().await).await;
    replies_are_cached(&*make().await).await;
}

/// Billed reply.
pub(crate) fn reply() -> CachedReply {
    CachedReply {
        reply: "{\"scores\":{}}".to_owned(),
        judge: JudgeRecord {
            provider: Provider::OpenAi,
            model: "judge".to_owned(),
            fingerprint: None,
            answered_by: None,
            base_url: None,
            simulated: false,
        },
        usage: Usage::default(),
        cost: Money::from_pico(1_000),
    }
}

/// A scored job with this reply.
pub(crate) fn result(claim: &ClaimKey, reply: &str) -> JobResult {
    let item = Item { id: "button".to_owned(), ..Item::default() };
    let digest = Digest::from_content(b"rubric");
    let rubric = RubricReference { id: "semantic".to_owned(), version: 1, digest };
    let job = Job::new(&claim.run, item, 0, rubric, None);
    let job = Job { job_id: claim.job.clone(), round: claim.round, ..job };
    JobResult {
        pipeline_success: Some(true),
        total_latency_ms: 10,
        reply: Some(reply.to_owned()),
        attempts: 1,
        ..JobResult::empty(&job, Outcome::Scored)
    }
}

async fn starts_are_counted<Backend: JobStore>(backend: &Backend) {
    let (first, before) = claim(backend, 0).await;
    assert_eq!(before, 0);
    let (second, before) = claim(backend, 0).await;
    assert_eq!(before, 1);
    assert!(second.fence > first.fence);
    backend.requeue(&first).await.expect("overtaken: nothing to give back");
    backend.requeue(&second).await.expect("given back");
    let (_, before) = claim(backend, 0).await;
    assert_eq!(before, 1, "the first start is still without an end");
    let (_, before) = claim(backend, 1).await;
    assert_eq!(before, 0, "a new round starts at zero");
}

async fn isolated_starts_are_counted_separately<Backend: JobStore>(backend: &Backend) {
    let note = async |key: &ClaimKey, alone| backend.set_isolated(key, alone).await.expect("noted");
    let (overtaken, _) = claim(backend, 0).await;
    let (key, _) = claim(backend, 0).await;
    note(&overtaken, true).await;
    note(&key, true).await;
    note(&key, true).await;
    let (key, before) = claimed_alone(backend, 0).await;
    assert_eq!(before, 1, "one start, however often it is noted");
    backend.requeue(&key).await.expect("given back");
    let (key, before) = claimed_alone(backend, 0).await;
    assert_eq!(before, 1, "the last start was not alone");
    note(&key, true).await;
    backend.requeue(&key).await.expect("given back");
    let (key, before) = claimed_alone(backend, 0).await;
    assert_eq!(before, 1, "the last start ended in good order");
    note(&key, true).await;
    note(&key, false).await;
    assert_eq!(claimed_alone(backend, 0).await.1, 1, "the last start had neighbors in the end");
    assert_eq!(claimed_alone(backend, 1).await.1, 0, "a new round starts at zero");
}

async fn finished_job_returns_its_result<Backend: JobStore>(backend: &Backend) {
    let (key, _) = claim(backend, 0).await;
    let result = result(&key, "first");
    assert!(backend.finish(finished(&key, &result)).await.expect("finished"));
    let again = backend.claim(&key, &OwnerId::new("next")).await.expect("a claim");
    let Claim::Done(stored) = again else { panic!("the job has a result") };
    assert_eq!(*stored, result);
    let other_run = ClaimKey { run: RunId::new("other"), ..key };
    let granted = backend.claim(&other_run, &OwnerId::new("next")).await.expect("a claim");
    assert!(matches!(granted, Claim::Granted { .. }));
}

async fn only_the_latest_holder_may_publish<Backend: JobStore>(backend: &Backend) {
    let (overtaken, _) = claim(backend, 0).await;
    let (current, _) = claim(backend, 0).await;
    let late = result(&overtaken, "late");
    assert!(!backend.finish(finished(&overtaken, &late)).await.expect("refused"));
    let valid = result(&current, "valid");
    assert!(backend.finish(finished(&current, &valid)).await.expect("finished"));
    assert!(!backend.finish(finished(&overtaken, &late)).await.expect("refused"));
    let again = backend.claim(&current, &OwnerId::new("next")).await.expect("a claim");
    let Claim::Done(stored) = again else { panic!("the job has a result") };
    assert_eq!(*stored, valid);
}

async fn later_round_is_judged_again<Backend: JobStore>(backend: &Backend) {
    let (first, _) = claim(backend, 0).await;
    assert!(backend.finish(finished(&first, &result(&first, "first"))).await.expect("finished"));
    let (second, _) = claim(backend, 1).await;
    assert!(!backend.finish(finished(&first, &result(&first, "late"))).await.expect("refused"));
    let latest = result(&second, "second");
    assert!(backend.finish(finished(&second, &latest)).await.expect("finished"));
    let again = backend.claim(&first, &OwnerId::new("next")).await.expect("a claim");
    let Claim::Done(stored) = again else { panic!("a later round has a result") };
    assert_eq!(*stored, latest);
}

async fn a_settlement_stores_the_result<Backend: Admission + JobStore>(backend: &Backend) {
    let (key, _) = claim(backend, 0).await;
    let stored = result(&key, "settled");
    let usage = Usage { input_tokens: 5, cached_input_tokens: 1, output_tokens: 2 };
    for (lease, finished) in [("asked", None), ("answered", Some(finished(&key, &stored)))] {
        let settlement = Settlement {
            lease: LeaseId::new(lease),
            cost: Money::from_pico(3),
            usage,
            metered: false,
            finished,
            claim: key.clone(),
        };
        assert!(backend.settle(settlement).await.expect("settled").may_publish);
    }
    let again = backend.claim(&key, &OwnerId::new("next")).await.expect("a claim");
    assert!(matches!(again, Claim::Done(_)));
    let next_round = ClaimKey { round: 1, ..key };
    let granted = backend.claim(&next_round, &OwnerId::new("next")).await.expect("a claim");
    let Claim::Granted { unattributed_cost, .. } = granted else { panic!("a new round") };
    assert_eq!(unattributed_cost, UnattributedCost::default(), "the result includes it");
}

async fn a_repeated_settlement_stores_the_result<Backend: Admission + JobStore>(backend: &Backend) {
    let (key, _) = claim(backend, 0).await;
    backend.open_run(&key.run, Budget::Unlimited).await.expect("an open run");
    let stored = result(&key, "settled again");
    for finished in [None, Some(finished(&key, &stored)), Some(finished(&key, &stored))] {
        let settlement = Settlement {
            lease: LeaseId::new("booked"),
            cost: Money::from_pico(3),
            usage: Usage { input_tokens: 5, cached_input_tokens: 1, output_tokens: 2 },
            metered: true,
            finished,
            claim: key.clone(),
        };
        assert!(backend.settle(settlement).await.expect("settled").may_publish);
    }
    let again = backend.claim(&key, &OwnerId::new("next")).await.expect("a claim");
    let Claim::Done(kept) = again else { panic!("the later settlement has a result") };
    assert_eq!(*kept, stored);
    let account = backend.ledger(&key.run).await.expect("an answer").expect("a record");
    assert_eq!(account.committed, Money::from_pico(3), "booked once");
    assert_eq!(account.unattributed_cost, Money::ZERO, "the result includes it");
}

async fn replies_are_cached<Backend: JobStore>(backend: &Backend) {
    let cache_key = Digest::from_content(b"what was asked");
    assert_eq!(backend.cached_reply(&cache_key).await.expect("an answer"), None);
    let reply = reply();
    let (key, _) = claim(backend, 0).await;
    let reply_to_cache = Some((cache_key, reply.clone()));
    let request = FinishedJob { reply_to_cache, ..finished(&key, &result(&key, "asked")) };
    assert!(backend.finish(request).await.expect("finished"));
    assert_eq!(backend.cached_reply(&cache_key).await.expect("an answer"), Some(reply.clone()));
    let stats = backend.cache_stats().await.expect("stats");
    assert_eq!((stats.replies, stats.cost_usd), (1, reply.cost));
    assert!(stats.bytes >= reply.reply.len() as u64);
    let judge = JudgeRecord { simulated: true, ..reply.judge.clone() };
    let simulated = CachedReply { judge, cost: Money::from_pico(70), ..reply.clone() };
    let reply_to_cache = Some((Digest::from_content(b"what the simulator was asked"), simulated));
    let played = FinishedJob { reply_to_cache, ..finished(&key, &result(&key, "simulated")) };
    assert!(backend.finish(played).await.expect("finished"));
    let stats = backend.cache_stats().await.expect("stats");
    assert_eq!((stats.replies, stats.cost_usd), (2, reply.cost), "the simulator costs nothing");
    assert_eq!(stats.simulated_usd, Money::from_pico(70));
    assert_eq!(backend.clear_cache().await.expect("cleared"), 2);
    assert_eq!(backend.cached_reply(&cache_key).await.expect("an answer"), None);
    assert_eq!(backend.cache_stats().await.expect("stats"), CacheStats::default());
}

/// Claims the suite's job; returns the granted key and the number of earlier unfinished starts.
async fn claim<Backend: JobStore>(backend: &Backend, round: u32) -> (ClaimKey, u32) {
    let (key, unfinished_starts, _) = granted(backend, round).await;
    (key, unfinished_starts)
}

/// Claims the suite's job; returns the granted key and the number of earlier isolated starts.
async fn claimed_alone<Backend: JobStore>(backend: &Backend, round: u32) -> (ClaimKey, u32) {
    let (key, _, alone) = granted(backend, round).await;
    (key, alone)
}

async fn granted<Backend: JobStore>(backend: &Backend, round: u32) -> (ClaimKey, u32, u32) {
    let key = ClaimKey { run: RunId::new("conformance"), job: JobId::new("job"), round, fence: 0 };
    let granted = backend.claim(&key, &OwnerId::new("here")).await.expect("a claim");
    let Claim::Granted { fence, unfinished_starts, alone, .. } = granted else {
        panic!("there is no result yet")
    };
    (ClaimKey { fence, ..key }, unfinished_starts, alone)
}

fn finished(claim: &ClaimKey, result: &JobResult) -> FinishedJob {
    FinishedJob { claim: claim.clone(), result: result.clone(), reply_to_cache: None }
}
