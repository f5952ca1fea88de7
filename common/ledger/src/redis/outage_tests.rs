//! Outages of Redis: unavailable, restarted, restored, emptied, full. No call starts without
//! admission.

use super::{
    test_server::TestRedis,
    tests::{admitted, money},
    *,
};
use crate::{
    admission::{
        Admission as _, AdmissionDecision, Budget, BudgetCalendar, Period, SharedBudget,
        WaitReason, tests::differential::TestClock,
    },
    budgets::BudgetRecords as _,
    redis::{JournalCost, JournalCosts, LedgerState, Reconciliation},
    test_requests::{bill, claim, figures, request, run},
};
use futures_util::FutureExt as _;
use juror_types::id::{LeaseId, OwnerId};

async fn refused(backend: &RedisLedger, lease: &str) -> String {
    match backend.try_admit(&request(lease, "here", 1)).await {
        Err(LedgerError::Unavailable(reason)) => reason,
        answer => panic!("{answer:?}"),
    }
}

async fn no_record(backend: &RedisLedger, lease: &str) -> String {
    match backend.try_admit(&request(lease, "here", 1)).await {
        Ok(AdmissionDecision::NoRecord { reason }) => reason,
        answer => panic!("{answer:?}"),
    }
}

/// Costs by the journal of the run.
fn costs(pico: i64) -> JournalCosts {
    let runs = vec![JournalCost::current(run(), money(pico))];
    JournalCosts { runs, ..JournalCosts::default() }
}

#[tokio::test]
async fn restart_pauses_admission_until_reconciled_and_bills_are_booked_meanwhile() {
    let redis = TestRedis::durable();
    let settings = RedisSettings { allow_volatile: false, ..redis.settings() };
    let backend = RedisLedger::open(settings).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    let claim = claim(&backend, "job").await;
    admitted(&backend, "a", "here", 10).await;

    redis.kill();
    refused(&backend, "b").await;
    let away = backend.settle(bill("a", 7, &claim)).await;
    assert!(matches!(away, Err(LedgerError::Unavailable(_))), "{away:?}");

    redis.start_again();
    let reason = refused(&backend, "b").await;
    assert!(reason.contains("restarted"), "{reason}");
    assert!(backend.is_admission_suspended().await.unwrap());
    backend.sweep().await.unwrap();
    assert_eq!(figures(&backend).await, [0, 0, 0, 10]);
    assert!(backend.settle(bill("a", 7, &claim)).await.unwrap().may_publish);
    refused(&backend, "b").await;

    let reconciled = backend.reconcile(&costs(0)).await.unwrap();
    assert_eq!(reconciled, Reconciliation::Done { presumed: 0 });
    assert!(!backend.is_admission_suspended().await.unwrap());
    admitted(&backend, "b", "here", 10).await;
    assert_eq!(figures(&backend).await, [7, 0, 7, 10]);
    backend.close().await;
}

#[tokio::test]
async fn process_missing_after_a_restart_is_awaited_and_then_expired() {
    let redis = TestRedis::durable();
    let clock = TestClock::new();
    let open =
        async || RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    let (here, there) = (open().await, open().await);
    here.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&here, "a", "here", 10).await;
    admitted(&there, "b", "there", 20).await;
    there.close().await;
    drop(there);

    redis.kill();
    // Long enough that every heartbeat has expired on return.
    clock.pass(600_000);
    redis.start_again();
    here.sweep().await.unwrap();
    let waiting = Reconciliation::Waiting { owners: vec![OwnerId::new("there")] };
    assert_eq!(here.reconcile(&JournalCosts::default()).await.unwrap(), waiting);
    refused(&here, "c").await;
    clock.pass(60_001);
    assert_eq!(
        here.reconcile(&JournalCosts::default()).await.unwrap(),
        Reconciliation::Done { presumed: 1 }
    );
    assert_eq!(figures(&here).await, [20, 20, 0, 10]);
    here.sweep().await.unwrap();
    assert_eq!(figures(&here).await, [20, 20, 0, 10], "the reconciling process is alive");
    here.close().await;
}

#[tokio::test]
async fn emptied_server_has_no_budgets_and_pauses_until_reconciled() {
    let (redis, clock) = (TestRedis::own(&[]), TestClock::new());
    let backend = RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&backend, "a", "here", 10).await;
    let overtaken = claim(&backend, "job").await;
    redis.command(&["FLUSHALL"]);
    redis.command(&["SCRIPT", "FLUSH"]);
    clock.pass(1);
    let reason = no_record(&backend, "b").await;
    assert!(
        reason.contains("no budget record") && reason.contains("Redis has lost the record"),
        "{reason}"
    );

    let current = claim(&backend, "job").await;
    assert!(current.fence > overtaken.fence, "a granted fence is never granted again");
    assert!(!backend.settle(bill("a", 7, &overtaken)).await.unwrap().may_publish);
    backend.open_run_again(&run(), Budget::Cap(money(100)), money(50)).await.unwrap();
    assert_eq!(figures(&backend).await, [57, 7, 0, 0], "the bill is booked regardless");
    assert!(refused(&backend, "b").await.contains("emptied"));
    backend.sweep().await.unwrap();
    let waiting = Reconciliation::Waiting { owners: Vec::new() };
    assert_eq!(backend.reconcile(&costs(60)).await.unwrap(), waiting);
    clock.pass(20_000);
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(backend.reconcile(&costs(60)).await.unwrap(), done);
    assert_eq!(figures(&backend).await, [67, 7, 0, 0], "it is booked once");
    admitted(&backend, "b", "here", 10).await;
    backend.close().await;
}

#[tokio::test]
async fn reopened_run_on_an_emptied_server_keeps_spent_and_reserved_amounts() {
    let (redis, clock) = (TestRedis::own(&[]), TestClock::new());
    let open =
        async || RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    let (worker, aggregator, producer) = (open().await, open().await, open().await);
    let labels = ["tag:checkout".parse().unwrap()];
    producer.set_budget_labels(&run(), &labels).await.unwrap();
    producer.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&worker, "a", "here", 30).await;
    assert!(!aggregator.is_admission_suspended().await.unwrap());
    redis.command(&["FLUSHALL"]);
    assert!(aggregator.is_admission_suspended().await.unwrap());
    let reopening = open().await;
    reopening.set_budget_labels(&run(), &labels).await.unwrap();
    reopening.open_run_again(&run(), Budget::Cap(money(100)), money(60)).await.unwrap();
    refused(&worker, "b").await;
    worker.sweep().await.unwrap();
    assert_eq!(
        figures(&aggregator).await,
        [60, 0, 0, 30],
        "leases in flight are registered by their owner"
    );
    let today = BudgetCalendar::UTC.day_of(clock.shared()());
    let [label] = labels;
    let of_label = SharedBudget { period: Period::Day, label: Some(label) }.scope(today);
    let (_, account, _) = aggregator.spent(&of_label).await.unwrap();
    assert_eq!((account.committed, account.outstanding), (money(60), money(30)));
    clock.pass(20_000);
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(aggregator.reconcile(&costs(60)).await.unwrap(), done);
    let held = AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(worker.try_admit(&request("b", "here", 11)).await.unwrap(), held);
    admitted(&worker, "b", "here", 10).await;
    for lease in ["a", "b"] {
        worker.release(&LeaseId::new(lease)).await.unwrap();
    }
    let (_, account, _) = aggregator.spent(&of_label).await.unwrap();
    assert_eq!((account.committed, account.outstanding), (money(60), money(0)));
    for backend in [worker, aggregator, producer] {
        backend.close().await;
    }
}

#[tokio::test]
async fn server_without_a_ledger_admits_no_call_before_reconciliation() {
    let redis = TestRedis::own(&[]);
    redis.command(&["FLUSHALL"]);
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    assert!(!backend.is_admission_suspended().await.unwrap(), "no call is waiting");
    assert_eq!(backend.ledger_state(false).await.unwrap(), LedgerState::Empty);
    backend.sweep().await.unwrap();
    no_record(&backend, "early").await;
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    assert!(refused(&backend, "a").await.contains("the aggregator does so"));
    let new = JournalCosts { is_new: true, ..JournalCosts::default() };
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(backend.reconcile(&new).await.unwrap(), done, "no owner is awaited");
    assert_eq!(backend.ledger_state(true).await.unwrap(), LedgerState::Reconciled);
    admitted(&backend, "a", "here", 10).await;
    backend.close().await;
}

#[tokio::test]
async fn cut_connection_is_reestablished() {
    let redis = TestRedis::own(&[]);
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    for lease in ["a", "b"] {
        redis.command(&["CLIENT", "KILL", "TYPE", "normal"]);
        redis.command(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        admitted(&backend, lease, "here", 10).await;
    }
    let mut changes = backend.changes();
    changes.borrow_and_update();
    backend.release(&LeaseId::new("a")).await.unwrap();
    let woken = tokio::time::timeout(Duration::from_secs(10), changes.changed()).await;
    assert!(woken.is_ok(), "the subscription is lost");
    backend.close().await;
}

#[tokio::test]
async fn volatile_server_accepts_no_finite_budget_unless_allowed() {
    let forgetful = ["--appendonly", "yes", "--appendfsync", "everysec"];
    let evicting =
        ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "allkeys-lru"];
    let servers: [(&[&str], &str); 3] =
        [(&[], "appendonly"), (&forgetful, "appendfsync"), (&evicting, "maxmemory-policy")];
    for (options, setting) in servers {
        let redis = TestRedis::own(options);
        let settings = RedisSettings { allow_volatile: false, ..redis.settings() };
        let backend = RedisLedger::open(settings).await.unwrap();
        match backend.open_run(&run(), Budget::Cap(money(1))).await {
            Err(LedgerError::Broken(reason)) => assert!(reason.contains(setting), "{reason}"),
            answer => panic!("{answer:?}"),
        }
        assert_eq!(backend.ledger(&run()).await.unwrap(), None);
        backend.open_run(&run(), Budget::Unlimited).await.unwrap();
        backend.close().await;
    }
}

#[tokio::test]
async fn out_of_memory_server_admits_nothing_and_makes_no_partial_writes() {
    let redis = TestRedis::own(&[]);
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&backend, "a", "here", 10).await;
    redis.command(&["CONFIG", "SET", "maxmemory", "1"]);
    let reason = refused(&backend, "b").await;
    assert!(reason.contains("out of memory") && reason.contains("juror cache clear"));
    assert!(backend.release(&LeaseId::new("a")).await.is_err());
    redis.command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(figures(&backend).await, [0, 0, 0, 10]);
    backend.release(&LeaseId::new("a")).await.unwrap();
    assert_eq!(figures(&backend).await, [0, 0, 0, 0]);
    backend.close().await;
}

#[tokio::test]
async fn unreachable_or_unauthorized_server_is_named() {
    let redis = TestRedis::own(&["--requirepass", "secret"]);
    let open = async |url: &str| match RedisLedger::open(RedisSettings::new(url)).await {
        Err(error) => error,
        Ok(_) => panic!("there is nothing to open at {url}"),
    };
    let locked = open(&redis.url).await;
    assert!(matches!(&locked, LedgerError::Broken(why) if why.contains("password")), "{locked}");
    let mistaken = redis.url.replace("//", "//:guess@");
    let wrong = open(&mistaken).await;
    assert!(matches!(&wrong, LedgerError::Broken(why) if !why.contains("guess")), "{wrong}");
    let right = RedisSettings::new(redis.url.replace("//", "//:secret@"));
    RedisLedger::open(right).await.unwrap().close().await;
    redis.kill();
    let away = open(&redis.url).await;
    assert!(matches!(&away, LedgerError::Unavailable(why) if why.contains("127.0.0.1")), "{away}");
    for (url, words) in [
        ("http://:hidden@host", "write it as redis://"),
        ("rediss://:hidden@host:none", "rediss://host:6379 with TLS"),
        ("redis+sentinel://:hidden@host:26379/primary", "Redis Sentinel is not supported"),
    ] {
        let refused = open(url).await;
        let matches_reason = |why: &str| why.contains(words) && !why.contains("hidden");
        assert!(matches!(&refused, LedgerError::Broken(why) if matches_reason(why)), "{refused}");
    }
}

#[tokio::test]
async fn cluster_node_is_refused() {
    let redis = TestRedis::own(&["--cluster-enabled", "yes"]);
    match RedisLedger::open(redis.settings()).await {
        Err(LedgerError::Broken(why)) => {
            assert!(why.contains("Redis Cluster") && why.contains("cluster-enabled no"), "{why}");
        }
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("scripts name keys that they compute"),
    }
}

#[tokio::test]
async fn lease_of_a_cancelled_caller_is_released() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&backend, "held", "here", 10).await;
    for again in [false, true] {
        let sent_request = request("doubtful", "here", 20);
        // Sent, and dropped with the reply unread.
        let mut asking = backend.try_admit(&sent_request);
        assert!((&mut asking).now_or_never().is_none());
        assert_eq!(figures(&backend).await, [0, 0, 0, 30], "it was admitted all the same");
        drop(asking);
        if again {
            admitted(&backend, "doubtful", "here", 20).await;
        }
        backend.sweep().await.unwrap();
        assert_eq!(figures(&backend).await, [0, 0, 0, if again { 30 } else { 10 }]);
    }
    backend.close().await;
}
