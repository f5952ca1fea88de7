//! What every home of admission must do. Each adapter's tests run [`check_all`] against it.
//!
//! Time is the home's own, so nothing here waits for it to pass.

#![expect(clippy::expect_used, clippy::panic, reason = "a check fails by panicking")]

use super::{
    Admission, Ask, Budget, Decision, Ledger, Limits, Observation, Settlement, WaitReason,
};
use crate::{
    id::{JobId, LeaseId, OwnerId, RunId},
    store::{Claim, ClaimKey, Store},
    usage::{Money, Usage},
};
use std::{sync::Arc, time::Duration};
use tokio::task::JoinSet;

/// Runs the whole suite; `make` answers a new, empty home each time.
///
/// # Panics
/// Where the home does not do what it must.
pub async fn check_all<Home, Make>(make: Make)
where
    Home: Admission + Store + 'static,
    Make: AsyncFn() -> Arc<Home>,
{
    no_record_means_no(&*make().await).await;
    a_cap_holds(&*make().await).await;
    a_raised_cap_keeps_what_is_spent(&*make().await).await;
    unlimited_runs_are_booked(&*make().await).await;
    ends_may_come_twice(&*make().await).await;
    overruns_are_told_and_stop(&*make().await).await;
    bills_of_overtaken_holders_are_presumed(&*make().await).await;
    unfinished_jobs_carry_their_bills(&*make().await).await;
    rates_are_limited_per_endpoint(&*make().await).await;
    refusals_cool_down(&*make().await).await;
    ends_wake_those_who_wait(&*make().await).await;
    callers_at_once_share_a_cap(make().await).await;
}

async fn no_record_means_no<Home: Admission>(home: &Home) {
    let decision = decide(home, "a", 0).await;
    assert!(matches!(decision, Decision::NoBudget { .. } | Decision::NoRecord { .. }));
    assert_eq!(home.ledger(&run()).await.expect("a ledger"), None);
}

async fn a_cap_holds<Home: Admission + Store>(home: &Home) {
    open(home, Budget::Cap(money(10))).await;
    assert_eq!(decide(home, "a", 6).await, Decision::Admitted);
    let held = Decision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(decide(home, "b", 6).await, held);
    settle(home, "a", 4).await;
    assert_eq!(decide(home, "b", 6).await, Decision::Admitted);
    settle(home, "b", 6).await;
    assert!(matches!(decide(home, "c", 1).await, Decision::NoBudget { .. }));
    assert_eq!(decide(home, "free", 0).await, Decision::Admitted);
}

async fn a_raised_cap_keeps_what_is_spent<Home: Admission + Store>(home: &Home) {
    open(home, Budget::Cap(money(5))).await;
    assert_eq!(decide(home, "a", 5).await, Decision::Admitted);
    settle(home, "a", 5).await;
    assert!(matches!(decide(home, "b", 3).await, Decision::NoBudget { .. }));
    open(home, Budget::Cap(money(8))).await;
    assert_eq!(decide(home, "b", 3).await, Decision::Admitted);
    assert_eq!(ledger(home).await.committed, money(5));
}

async fn unlimited_runs_are_booked<Home: Admission + Store>(home: &Home) {
    open(home, Budget::Unlimited).await;
    assert_eq!(decide(home, "a", 1_000).await, Decision::Admitted);
    let before = ledger(home).await;
    assert_eq!((before.budget, before.outstanding), (Budget::Unlimited, money(1_000)));
    settle(home, "a", 700).await;
    let after = ledger(home).await;
    assert_eq!((after.committed, after.outstanding), (money(700), Money::ZERO));
}

async fn ends_may_come_twice<Home: Admission + Store>(home: &Home) {
    open(home, Budget::Cap(money(100))).await;
    for lease in ["settled", "released", "presumed"] {
        assert_eq!(decide(home, lease, 10).await, Decision::Admitted);
        assert_eq!(decide(home, lease, 10).await, Decision::Admitted, "asked again");
    }
    assert_eq!(ledger(home).await.outstanding, money(30));
    let claim = claim(home).await;
    for _ in 0..2 {
        let settlement = settlement("settled", 7, &claim);
        let settled = home.settle(settlement).await.expect("a settlement");
        assert!(settled.may_publish);
        assert_eq!(settled.overrun, Money::ZERO);
        home.release(&LeaseId::new("released")).await.expect("a release");
        home.presume_spent(&LeaseId::new("presumed")).await.expect("a presumption");
        let ledger = ledger(home).await;
        assert_eq!(ledger.committed, money(17));
        assert_eq!((ledger.presumed, ledger.outstanding), (money(10), Money::ZERO));
    }
    home.settle(settlement("presumed", 2, &claim)).await.expect("a late bill");
    let ledger = ledger(home).await;
    assert_eq!((ledger.committed, ledger.presumed), (money(9), Money::ZERO));
}

async fn overruns_are_told_and_stop<Home: Admission + Store>(home: &Home) {
    open(home, Budget::Cap(money(100))).await;
    assert_eq!(decide(home, "a", 10).await, Decision::Admitted);
    let claim = claim(home).await;
    let settled = home.settle(settlement("a", 12, &claim)).await.expect("a settlement");
    assert_eq!(settled.overrun, money(2));
    let booked = ledger(home).await;
    assert_eq!((booked.committed, booked.overrun), (money(12), money(2)));
    assert!(matches!(decide(home, "b", 1).await, Decision::NoBudget { .. }));
    open(home, Budget::Cap(money(100))).await;
    assert_eq!(decide(home, "b", 1).await, Decision::Admitted);
}

async fn bills_of_overtaken_holders_are_presumed<Home: Admission + Store>(home: &Home) {
    open(home, Budget::Unlimited).await;
    decide(home, "a", 10).await;
    let overtaken = claim(home).await;
    let current = claim(home).await;
    assert!(current.fence > overtaken.fence);
    let settled = home.settle(settlement("a", 4, &overtaken)).await.expect("a settlement");
    assert!(!settled.may_publish);
    let ledger = ledger(home).await;
    assert_eq!((ledger.committed, ledger.presumed), (money(4), money(4)));
}

async fn unfinished_jobs_carry_their_bills<Home: Admission + Store>(home: &Home) {
    open(home, Budget::Unlimited).await;
    let first = claim(home).await;
    for (lease, metered) in [("a", true), ("b", false)] {
        decide(home, lease, 10).await;
        let settlement = Settlement { metered, ..settlement(lease, 4, &first) };
        home.settle(settlement).await.expect("a settlement");
    }
    let ledger = ledger(home).await;
    assert_eq!((ledger.carried, ledger.presumed), (money(8), Money::ZERO));
    let granted = home.claim(&first, &OwnerId::new("next")).await.expect("a claim");
    let Claim::Granted { carried, .. } = granted else { panic!("there is no result yet") };
    assert_eq!((carried.cost, carried.calls, carried.unmetered_calls), (money(8), 2, 1));
    assert_eq!(carried.usage, Usage { input_tokens: 2, cached_input_tokens: 0, output_tokens: 2 });
}

async fn rates_are_limited_per_endpoint<Home: Admission>(home: &Home) {
    open(home, Budget::Unlimited).await;
    let limits = Limits { requests_per_minute: Some(1), ..Limits::default() };
    home.set_limits("judge", limits).await.expect("limits");
    assert_eq!(decide(home, "a", 1).await, Decision::Admitted);
    let Decision::Wait { retry_after: Some(pause), reason } = decide(home, "b", 1).await else {
        panic!("one request a minute, and one went")
    };
    assert_eq!(reason, WaitReason::Requests);
    assert!(pause > Duration::ZERO && pause <= Duration::from_secs(60), "{pause:?}");
    let elsewhere = Ask { endpoint: "other".to_owned(), ..ask("c", 1) };
    assert_eq!(home.try_admit(&elsewhere).await.expect("a decision"), Decision::Admitted);
    assert_eq!(ledger(home).await.outstanding, money(2), "who waits holds nothing");
}

async fn refusals_cool_down<Home: Admission>(home: &Home) {
    open(home, Budget::Unlimited).await;
    let hour = Duration::from_secs(3_600);
    let endpoint = "judge".to_owned();
    let refusal = Observation { endpoint, refused: Some(hour), ..Observation::default() };
    home.observe(&refusal).await.expect("an observation");
    let Decision::Wait { retry_after: Some(pause), reason } = decide(home, "a", 1).await else {
        panic!("the provider asked to wait")
    };
    assert_eq!(reason, WaitReason::Cooldown);
    assert!(pause > hour / 2 && pause <= hour, "{pause:?}");
}

async fn ends_wake_those_who_wait<Home: Admission + Store>(home: &Home) {
    open(home, Budget::Cap(money(100))).await;
    let mut changes = home.changes();
    for (lease, end) in [("a", 0), ("b", 1), ("c", 2)] {
        assert_eq!(decide(home, lease, 60).await, Decision::Admitted);
        changes.borrow_and_update();
        let waits = decide(home, "waiting", 60).await;
        assert!(matches!(waits, Decision::Wait { reason: WaitReason::Budget, .. }), "{waits:?}");
        match end {
            0 => settle(home, lease, 1).await,
            1 => home.release(&LeaseId::new(lease)).await.expect("a release"),
            _ => home.presume_spent(&LeaseId::new(lease)).await.expect("a presumption"),
        }
        let patience = Duration::from_secs(10);
        let woken = tokio::time::timeout(patience, changes.changed()).await;
        assert!(woken.is_ok(), "the end of {lease} woke nobody");
        home.release(&LeaseId::new("waiting")).await.expect("it gives up");
    }
}

async fn callers_at_once_share_a_cap<Home: Admission + Store + 'static>(home: Arc<Home>) {
    open(&*home, Budget::Cap(money(32))).await;
    let mut callers = JoinSet::new();
    for number in 0..64 {
        let home = home.clone();
        callers.spawn(async move { decide(&*home, &format!("caller-{number}"), 10).await });
    }
    let decisions = callers.join_all().await;
    let admitted = decisions.iter().filter(|decision| **decision == Decision::Admitted).count();
    assert_eq!(admitted, 3);
    assert_eq!(ledger(&*home).await.outstanding, money(30));
}

fn run() -> RunId {
    RunId::new("conformance")
}

fn money(pico: i64) -> Money {
    Money::from_pico(pico)
}

fn ask(lease: &str, worst: i64) -> Ask {
    Ask {
        lease: LeaseId::new(lease),
        owner: OwnerId::new("here"),
        run: run(),
        endpoint: "judge".to_owned(),
        input_tokens: 1,
        max_output_tokens: 1,
        worst_cost: money(worst),
    }
}

fn settlement(lease: &str, cost: i64, claim: &ClaimKey) -> Settlement {
    Settlement {
        lease: LeaseId::new(lease),
        cost: money(cost),
        usage: Usage { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 },
        metered: true,
        finished: None,
        claim: claim.clone(),
    }
}

async fn open<Home: Admission>(home: &Home, budget: Budget) {
    home.open_run(&run(), budget).await.expect("the run opens");
}

async fn decide<Home: Admission>(home: &Home, lease: &str, worst: i64) -> Decision {
    home.try_admit(&ask(lease, worst)).await.expect("a decision")
}

async fn claim<Home: Store>(home: &Home) -> ClaimKey {
    let job = JobId::new("job");
    let key = ClaimKey { run: run(), job, round: 0, fence: 0 };
    let granted = home.claim(&key, &OwnerId::new("here")).await.expect("a claim");
    let Claim::Granted { fence, .. } = granted else { panic!("there is no result yet") };
    ClaimKey { fence, ..key }
}

async fn settle<Home: Admission + Store>(home: &Home, lease: &str, cost: i64) {
    let claim = claim(home).await;
    home.settle(settlement(lease, cost, &claim)).await.expect("a settlement");
}

async fn ledger<Home: Admission>(home: &Home) -> Ledger {
    home.ledger(&run()).await.expect("a ledger").expect("the run has a record")
}
