use super::*;
use crate::{
    admission::{
        Admission as _, AdmissionDecision, BudgetCalendar, Period, SharedBudget, WaitReason,
        tests::differential::TestClock,
    },
    budgets::BudgetRecords as _,
    redis::{
        FleetBackend as _,
        test_server::TestRedis,
        tests::{admitted, money},
    },
    test_requests::{bill, claim, figures, request, run},
};
use jiff::SignedDuration;
use juror_types::id::LeaseId;

/// Costs by the journal of the run.
fn costs(pico: i64) -> JournalCosts {
    let runs = vec![JournalCost::current(run(), money(pico))];
    JournalCosts { runs, ..JournalCosts::default() }
}

#[tokio::test]
async fn costs_lost_by_a_restored_server_are_booked_again() {
    let redis = TestRedis::own(&[]);
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    let claimed = claim(&backend, "job").await;
    admitted(&backend, "before", "here", 10).await;
    admitted(&backend, "settled", "here", 20).await;
    redis.command(&["SAVE"]);
    backend.settle(bill("settled", 15, &claimed)).await.unwrap();
    admitted(&backend, "after", "here", 30).await;
    redis.kill();
    redis.start_again();

    assert_eq!(figures(&backend).await, [20, 20, 0, 40], "settled calls are unknown");
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(backend.reconcile(&costs(15)).await.unwrap(), done);
    assert_eq!(figures(&backend).await, [35, 20, 0, 40]);
    assert_eq!(backend.reconcile(&costs(15)).await.unwrap(), done);
    assert_eq!(figures(&backend).await, [35, 20, 0, 40], "it is booked once");
    let held = AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(backend.try_admit(&request("large", "here", 30)).await.unwrap(), held);
    backend.settle(bill("after", 25, &claimed)).await.unwrap();
    let overtaking = claim(&backend, "job").await;
    assert!(overtaking.fence > claimed.fence);
    admitted(&backend, "large", "here", 30).await;
    backend.close().await;
}

#[tokio::test]
async fn cost_of_a_run_is_booked_once_on_its_last_day_after_data_loss() {
    let (redis, clock) = (TestRedis::own(&[]), TestClock::new());
    redis.command(&["FLUSHALL"]);
    let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    assert_eq!(backend.ledger_state(true).await.unwrap(), LedgerState::Empty);
    clock.pass(20_000);
    let now = Timestamp::from_millisecond(clock.shared()()).unwrap();
    let day_of = |time: Timestamp| BudgetCalendar::UTC.day_of(time.as_millisecond());
    let before = now.checked_sub(SignedDuration::from_hours(40 * 24)).unwrap();
    let label: BudgetLabel = "tag:checkout".parse().unwrap();
    let cost = |run: &RunId, pico, last_result_at| JournalCost {
        last_result_at: Some(last_result_at),
        labels: vec![label.clone()],
        ..JournalCost::current(run.clone(), money(pico))
    };
    // A clock that is ahead starts no later month.
    let ahead = now.checked_add(SignedDuration::from_hours(40 * 24)).unwrap();
    let runs = vec![cost(&run(), 60, ahead), cost(&RunId::new("old"), 5, before)];
    let journal = JournalCosts { runs, ..JournalCosts::default() };
    let booked = async || {
        let mut booked = Vec::new();
        for time in [now, before] {
            let day = day_of(time);
            let of_label = SharedBudget { period: Period::Month, label: Some(label.clone()) };
            for budget in [Period::Day.into(), Period::Month.into(), of_label] {
                booked.push(backend.spent(&budget.scope(day)).await.unwrap().1.committed.pico());
            }
        }
        booked
    };
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(backend.reconcile(&journal).await.unwrap(), done);
    assert_eq!(booked().await, [60, 60, 60, 5, 5, 5]);
    assert_eq!(backend.labels().await.unwrap(), std::slice::from_ref(&label));
    assert!(backend.has_account(&run()).await.unwrap());
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    assert_eq!(figures(&backend).await, [60, 0, 0, 0]);
    let held = backend.try_admit(&request("large", "here", 41)).await.unwrap();
    assert!(matches!(held, AdmissionDecision::NoBudget { .. }), "{held:?}");
    admitted(&backend, "a", "here", 40).await;
    backend.open_run_again(&run(), Budget::Cap(money(100)), money(60)).await.unwrap();
    assert_eq!(backend.reconcile(&journal).await.unwrap(), done);
    assert_eq!(booked().await, [60, 60, 60, 5, 5, 5], "it is booked once");
    backend.close().await;
}

#[tokio::test]
async fn bill_after_data_loss_does_not_hide_journal_costs() {
    let (redis, clock) = (TestRedis::own(&[]), TestClock::new());
    let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    let claimed = claim(&backend, "job").await;
    admitted(&backend, "a", "here", 10).await;
    redis.command(&["FLUSHALL"]);
    backend.settle(bill("a", 7, &claimed)).await.unwrap();
    assert!(!backend.has_account(&run()).await.unwrap(), "its journal is to be read");
    backend.close().await;
}

#[tokio::test]
async fn lossless_restart_books_nothing() {
    let (redis, clock) = (TestRedis::durable(), TestClock::new());
    let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    let claimed = claim(&backend, "job").await;
    admitted(&backend, "a", "here", 10).await;
    backend.settle(bill("a", 7, &claimed)).await.unwrap();
    let before = backend.ledger(&run()).await.unwrap();
    redis.kill();
    redis.start_again();
    // The call belongs to a job without a result, so that the journal has no cost.
    let done = Reconciliation::Done { presumed: 0 };
    backend.sweep().await.unwrap();
    assert_eq!(backend.reconcile(&costs(0)).await.unwrap(), done);
    assert_eq!(backend.ledger(&run()).await.unwrap(), before);
    backend.close().await;
}

/// Deletes records of the namespace, as `juror:account:run:nightly`.
fn delete_keys(redis: &TestRedis, records: &[&str]) {
    for record in records {
        let key = format!("{}:{record}", redis.namespace);
        assert_eq!(redis.command(&["EXISTS", &key]), "1", "{key}");
        redis.command(&["DEL", &key]);
    }
}

async fn is_suspended(backend: &RedisLedger, lease: &str) -> bool {
    let answer = backend.try_admit(&request(lease, "here", 1)).await;
    matches!(answer, Err(LedgerError::Unavailable(why)) if why.contains("has lost records"))
}

/// Run with a cap of 100, 22 spent and 5 in flight, and the amounts of its day and month.
async fn spending_run(redis: &TestRedis, clock: &TestClock) -> (RedisLedger, Scope) {
    let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    let claimed = claim(&backend, "job").await;
    for (lease, worst) in [("a", 10), ("b", 20), ("c", 5)] {
        admitted(&backend, lease, "here", worst).await;
    }
    backend.settle(bill("a", 7, &claimed)).await.unwrap();
    backend.settle(bill("b", 15, &claimed)).await.unwrap();
    let today = BudgetCalendar::UTC.day_of(clock.shared()());
    let today = SharedBudget::from(Period::Day).scope(today);
    (backend, today)
}

#[tokio::test]
async fn a_lost_account_suspends_calls_until_it_is_restored_from_the_journal() {
    let (redis, clock) = (TestRedis::shared(), TestClock::new());
    let (backend, today) = spending_run(&redis, &clock).await;
    delete_keys(&redis, &["account:run:nightly"]);
    assert!(is_suspended(&backend, "d").await);
    assert!(backend.is_admission_suspended().await.unwrap());
    // Reopening it without its journal gives it no other account.
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    backend.sweep().await.unwrap();
    let waiting = Reconciliation::Waiting { owners: Vec::new() };
    assert_eq!(backend.reconcile(&costs(30)).await.unwrap(), waiting);
    assert!(is_suspended(&backend, "d").await);
    clock.pass(20_000);
    let done = Reconciliation::Done { presumed: 0 };
    for _ in 0..2 {
        assert_eq!(backend.reconcile(&costs(30)).await.unwrap(), done);
        assert_eq!(figures(&backend).await, [52, 0, 22, 5]);
    }
    let of_day = backend.spent(&today).await.unwrap().1;
    assert_eq!((of_day.committed, of_day.outstanding), (money(22), money(5)), "it lost nothing");
    let held = AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(backend.try_admit(&request("d", "here", 44)).await.unwrap(), held);
    admitted(&backend, "d", "here", 43).await;
    backend.close().await;
}

#[tokio::test]
async fn settlements_on_a_lost_account_keep_the_cap() {
    let (redis, clock) = (TestRedis::shared(), TestClock::new());
    let (backend, _) = spending_run(&redis, &clock).await;
    let claimed = claim(&backend, "job").await;
    backend.presume_spent(&LeaseId::new("c")).await.unwrap();
    admitted(&backend, "d", "here", 20).await;
    let record = juror_types::test_record::record("nightly");
    backend.announce_run(&record).await.unwrap();
    delete_keys(&redis, &["account:run:nightly", "budget:run:nightly"]);
    backend.settle(bill("c", 1, &claimed)).await.unwrap();
    backend.settle(bill("d", 2, &claimed)).await.unwrap();
    let reopened = backend.open_run_again(&run(), Budget::Cap(money(100)), money(30)).await;
    reopened.unwrap();
    assert!(is_suspended(&backend, "e").await);
    backend.sweep().await.unwrap();
    clock.pass(20_000);
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(backend.reconcile(&costs(30)).await.unwrap(), done);
    assert_eq!(figures(&backend).await, [55, 0, 25, 0], "30 of results, and 25 of this job");
    backend.close().await;
}

#[tokio::test]
async fn lost_account_with_a_damaged_journal_admits_no_call() {
    let (redis, clock) = (TestRedis::shared(), TestClock::new());
    let (backend, _) = spending_run(&redis, &clock).await;
    delete_keys(&redis, &["account:run:nightly"]);
    // The aggregator may be the first to detect it.
    let damaged = JournalCost { cost: None, ..JournalCost::current(run(), money(0)) };
    let journal = JournalCosts { runs: vec![damaged], is_new: false };
    let waiting = backend.reconcile(&journal).await.unwrap();
    assert!(matches!(waiting, Reconciliation::Waiting { .. }), "{waiting:?}");
    assert!(backend.is_admission_suspended().await.unwrap());
    clock.pass(20_000);
    backend.sweep().await.unwrap();
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(backend.reconcile(&journal).await.unwrap(), done);
    let refused = backend.try_admit(&request("d", "here", 1)).await.unwrap();
    assert!(matches!(refused, AdmissionDecision::NoBudget { .. }), "{refused:?}");
    backend.close().await;
}
