//! Conformance suite of admission. Each backend's tests run [`check_all`] against it.
//!
//! The backend has its own clock, so no check waits for more than a millisecond to pass.

use super::{
    Admission, AdmissionDecision, AdmissionRequest, Budget, CountRule, Limits, Observation,
    RunAccount, Settlement, TokenCounting, WaitReason,
};
use crate::{
    job_store::{Claim, ClaimKey, JobStore},
    test_requests::{self, bill, run},
};
use juror_types::{
    id::{LeaseId, OwnerId},
    usage::{Money, Usage},
};
use std::{sync::Arc, time::Duration};
use tokio::task::JoinSet;

/// Runs the suite; `make` returns a new, empty backend each time.
///
/// # Panics
/// If the backend does not conform.
pub async fn check_all<Backend, Make>(make: Make)
where
    Backend: Admission + JobStore + 'static,
    Make: AsyncFn() -> Arc<Backend>,
{
    missing_record_denies(&*make().await).await;
    cap_is_never_exceeded(&*make().await).await;
    raised_cap_keeps_spent_amount(&*make().await).await;
    unlimited_runs_are_booked(&*make().await).await;
    lease_ends_are_idempotent(&*make().await).await;
    overruns_are_reported_and_stop_admission(&*make().await).await;
    bills_of_superseded_holders_are_presumed(&*make().await).await;
    unfinished_jobs_keep_their_bills(&*make().await).await;
    rates_are_limited_per_endpoint(&*make().await).await;
    refusals_start_a_cooldown(&*make().await).await;
    changed_count_rule_spares_the_limits(&*make().await).await;
    lease_ends_wake_waiters(&*make().await).await;
    concurrent_callers_share_a_cap(make().await).await;
}

async fn missing_record_denies<Backend: Admission>(backend: &Backend) {
    let decision = decide(backend, "a", 0).await;
    assert!(matches!(
        decision,
        AdmissionDecision::NoBudget { .. } | AdmissionDecision::NoRecord { .. }
    ));
    assert_eq!(backend.ledger(&run()).await.expect("a ledger"), None);
}

async fn cap_is_never_exceeded<Backend: Admission + JobStore>(backend: &Backend) {
    open(backend, Budget::Cap(money(10))).await;
    assert_eq!(decide(backend, "a", 6).await, AdmissionDecision::Admitted);
    let held = AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(decide(backend, "b", 6).await, held);
    settle(backend, "a", 4).await;
    assert_eq!(decide(backend, "b", 6).await, AdmissionDecision::Admitted);
    settle(backend, "b", 6).await;
    assert!(matches!(decide(backend, "c", 1).await, AdmissionDecision::NoBudget { .. }));
    assert_eq!(decide(backend, "free", 0).await, AdmissionDecision::Admitted);
}

async fn raised_cap_keeps_spent_amount<Backend: Admission + JobStore>(backend: &Backend) {
    open(backend, Budget::Cap(money(5))).await;
    assert_eq!(decide(backend, "a", 5).await, AdmissionDecision::Admitted);
    settle(backend, "a", 5).await;
    assert!(matches!(decide(backend, "b", 3).await, AdmissionDecision::NoBudget { .. }));
    open(backend, Budget::Cap(money(8))).await;
    assert_eq!(decide(backend, "b", 3).await, AdmissionDecision::Admitted);
    assert_eq!(ledger(backend).await.committed, money(5));
}

async fn unlimited_runs_are_booked<Backend: Admission + JobStore>(backend: &Backend) {
    open(backend, Budget::Unlimited).await;
    assert_eq!(decide(backend, "a", 1_000).await, AdmissionDecision::Admitted);
    let before = ledger(backend).await;
    assert_eq!((before.budget, before.outstanding), (Budget::Unlimited, money(1_000)));
    settle(backend, "a", 700).await;
    let after = ledger(backend).await;
    assert_eq!((after.committed, after.outstanding), (money(700), Money::ZERO));
}

async fn lease_ends_are_idempotent<Backend: Admission + JobStore>(backend: &Backend) {
    open(backend, Budget::Cap(money(100))).await;
    for lease in ["settled", "released", "presumed"] {
        assert_eq!(decide(backend, lease, 10).await, AdmissionDecision::Admitted);
        assert_eq!(
            decide(backend, lease, 10).await,
            AdmissionDecision::Admitted,
            "repeated request"
        );
    }
    assert_eq!(ledger(backend).await.outstanding, money(30));
    let claim = claim(backend).await;
    for _ in 0..2 {
        let settlement = settlement("settled", 7, &claim);
        let settled = backend.settle(settlement).await.expect("a settlement");
        assert!(settled.may_publish);
        assert_eq!(settled.overrun, Money::ZERO);
        backend.release(&LeaseId::new("released")).await.expect("a release");
        backend.presume_spent(&LeaseId::new("presumed")).await.expect("a presumption");
        let ledger = ledger(backend).await;
        assert_eq!(ledger.committed, money(17));
        assert_eq!((ledger.presumed, ledger.outstanding), (money(10), Money::ZERO));
    }
    backend.settle(settlement("presumed", 2, &claim)).await.expect("a late bill");
    let ledger = ledger(backend).await;
    assert_eq!((ledger.committed, ledger.presumed), (money(9), Money::ZERO));
}

async fn overruns_are_reported_and_stop_admission<Backend: Admission + JobStore>(
    backend: &Backend,
) {
    open(backend, Budget::Cap(money(100))).await;
    assert_eq!(decide(backend, "a", 10).await, AdmissionDecision::Admitted);
    let claim = claim(backend).await;
    let settled = backend.settle(settlement("a", 12, &claim)).await.expect("a settlement");
    assert_eq!(settled.overrun, money(2));
    let booked = ledger(backend).await;
    assert_eq!((booked.committed, booked.overrun), (money(12), money(2)));
    assert!(matches!(decide(backend, "b", 1).await, AdmissionDecision::NoBudget { .. }));
    open(backend, Budget::Cap(money(100))).await;
    assert_eq!(decide(backend, "b", 1).await, AdmissionDecision::Admitted);
}

async fn bills_of_superseded_holders_are_presumed<Backend: Admission + JobStore>(
    backend: &Backend,
) {
    open(backend, Budget::Unlimited).await;
    decide(backend, "a", 10).await;
    let overtaken = claim(backend).await;
    let current = claim(backend).await;
    assert!(current.fence > overtaken.fence);
    let settled = backend.settle(settlement("a", 4, &overtaken)).await.expect("a settlement");
    assert!(!settled.may_publish);
    let ledger = ledger(backend).await;
    assert_eq!((ledger.committed, ledger.presumed), (money(4), money(4)));
}

async fn unfinished_jobs_keep_their_bills<Backend: Admission + JobStore>(backend: &Backend) {
    open(backend, Budget::Unlimited).await;
    let first = claim(backend).await;
    for (lease, metered) in [("a", true), ("b", false)] {
        decide(backend, lease, 10).await;
        let settlement = Settlement { metered, ..settlement(lease, 4, &first) };
        backend.settle(settlement).await.expect("a settlement");
    }
    let ledger = ledger(backend).await;
    assert_eq!((ledger.unattributed_cost, ledger.presumed), (money(8), Money::ZERO));
    let granted = backend.claim(&first, &OwnerId::new("next")).await.expect("a claim");
    let Claim::Granted { unattributed_cost, .. } = granted else {
        panic!("there is no result yet")
    };
    assert_eq!(
        (unattributed_cost.cost, unattributed_cost.calls, unattributed_cost.unmetered_calls),
        (money(8), 2, 1)
    );
    assert_eq!(
        unattributed_cost.usage,
        Usage { input_tokens: 2, cached_input_tokens: 0, output_tokens: 2 }
    );
}

async fn rates_are_limited_per_endpoint<Backend: Admission>(backend: &Backend) {
    open(backend, Budget::Unlimited).await;
    let limits = Limits { requests_per_minute: Some(1), ..Limits::default() };
    backend.set_limits("judge", limits).await.expect("limits");
    assert_eq!(decide(backend, "a", 1).await, AdmissionDecision::Admitted);
    let AdmissionDecision::Wait { retry_after: Some(pause), reason } =
        decide(backend, "b", 1).await
    else {
        panic!("one request a minute, and one went")
    };
    assert_eq!(reason, WaitReason::Requests);
    assert!(pause > Duration::ZERO && pause <= Duration::from_secs(60), "{pause:?}");
    let elsewhere = AdmissionRequest { endpoint: "other".to_owned(), ..request("c", 1) };
    assert_eq!(
        backend.try_admit(&elsewhere).await.expect("a decision"),
        AdmissionDecision::Admitted
    );
    assert_eq!(ledger(backend).await.outstanding, money(2), "a waiting call reserves nothing");
}

async fn refusals_start_a_cooldown<Backend: Admission>(backend: &Backend) {
    open(backend, Budget::Unlimited).await;
    let hour = Duration::from_secs(3_600);
    let endpoint = "judge".to_owned();
    let refusal = Observation { endpoint, refused: Some(hour), ..Observation::default() };
    backend.observe(&refusal).await.expect("an observation");
    let AdmissionDecision::Wait { retry_after: Some(pause), reason } =
        decide(backend, "a", 1).await
    else {
        panic!("the provider asked to wait")
    };
    assert_eq!(reason, WaitReason::Cooldown);
    assert!(pause > hour / 2 && pause <= hour, "{pause:?}");
}

/// A count rule that was changed explains the next refusal, whether the reply that showed it was
/// refused or not: the limits are not halved.
async fn changed_count_rule_spares_the_limits<Backend: Admission>(backend: &Backend) {
    open(backend, Budget::Unlimited).await;
    let limits = Limits { requests_per_minute: Some(2), ..Limits::default() };
    backend.set_limits("judge", limits).await.expect("limits");
    let reply = || Observation { endpoint: "judge".to_owned(), ..Observation::default() };
    let counting = TokenCounting { rule: Some(CountRule::Sum), ..TokenCounting::default() };
    let refused = Some(Duration::from_millis(1));
    for observation in
        [reply(), Observation { counting, ..reply() }, Observation { refused, ..reply() }]
    {
        backend.observe(&observation).await.expect("an observation");
    }
    let pause = loop {
        let AdmissionDecision::Wait { retry_after: Some(pause), reason } =
            decide(backend, "a", 1).await
        else {
            panic!("a refusal empties the bucket")
        };
        if reason != WaitReason::Cooldown {
            break pause;
        }
    };
    assert!(pause <= Duration::from_secs(30), "the limit is halved: {pause:?}");
}

async fn lease_ends_wake_waiters<Backend: Admission + JobStore>(backend: &Backend) {
    open(backend, Budget::Cap(money(100))).await;
    let mut changes = backend.changes();
    for (lease, end) in [("a", 0), ("b", 1), ("c", 2)] {
        assert_eq!(decide(backend, lease, 60).await, AdmissionDecision::Admitted);
        changes.borrow_and_update();
        let waits = decide(backend, "waiting", 60).await;
        assert!(
            matches!(waits, AdmissionDecision::Wait { reason: WaitReason::Budget, .. }),
            "{waits:?}"
        );
        match end {
            0 => settle(backend, lease, 1).await,
            1 => backend.release(&LeaseId::new(lease)).await.expect("a release"),
            _ => backend.presume_spent(&LeaseId::new(lease)).await.expect("a presumption"),
        }
        let max_wait = Duration::from_secs(10);
        let woken = tokio::time::timeout(max_wait, changes.changed()).await;
        assert!(woken.is_ok(), "the end of {lease} woke no waiter");
        backend.release(&LeaseId::new("waiting")).await.expect("it gives up");
    }
}

async fn concurrent_callers_share_a_cap<Backend: Admission + JobStore + 'static>(
    backend: Arc<Backend>,
) {
    open(&*backend, Budget::Cap(money(32))).await;
    let mut callers = JoinSet::new();
    for number in 0..64 {
        let backend = backend.clone();
        callers.spawn(async move { decide(&*backend, &format!("caller-{number}"), 10).await });
    }
    let decisions = callers.join_all().await;
    let admitted =
        decisions.iter().filter(|decision| **decision == AdmissionDecision::Admitted).count();
    assert_eq!(admitted, 3);
    assert_eq!(ledger(&*backend).await.outstanding, money(30));
}

fn money(pico: i64) -> Money {
    Money::from_pico(pico)
}

fn request(lease: &str, worst: i64) -> AdmissionRequest {
    let request = test_requests::request(lease, "here", worst);
    AdmissionRequest { input_tokens: 1, max_output_tokens: 1, ..request }
}

fn settlement(lease: &str, cost: i64, claim: &ClaimKey) -> Settlement {
    let usage = Usage { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 };
    Settlement { usage, ..bill(lease, cost, claim) }
}

async fn open<Backend: Admission>(backend: &Backend, budget: Budget) {
    backend.open_run(&run(), budget).await.expect("the run opens");
}

async fn decide<Backend: Admission>(
    backend: &Backend,
    lease: &str,
    worst: i64,
) -> AdmissionDecision {
    backend.try_admit(&request(lease, worst)).await.expect("a decision")
}

async fn claim<Backend: JobStore>(backend: &Backend) -> ClaimKey {
    test_requests::claim(backend, "job").await
}

async fn settle<Backend: Admission + JobStore>(backend: &Backend, lease: &str, cost: i64) {
    let claim = claim(backend).await;
    backend.settle(settlement(lease, cost, &claim)).await.expect("a settlement");
}

async fn ledger<Backend: Admission>(backend: &Backend) -> RunAccount {
    backend.ledger(&run()).await.expect("a ledger").expect("the run has a record")
}
