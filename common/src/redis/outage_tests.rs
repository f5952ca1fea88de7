//! Redis away, restarted, restored, emptied, full: no call goes out without admission.

use super::{
    test_server::TestRedis,
    tests::{admitted, ask, bill, claim, figures, money, run},
    *,
};
use crate::{
    admission::{
        Admission as _, Budget, Decision, JournalCosts, LedgerState, Reconciliation, WaitReason,
        budgets::Scope, differential::TestClock,
    },
    id::{LeaseId, OwnerId},
};
use futures_util::FutureExt as _;

async fn refused(home: &RedisHome, lease: &str) -> String {
    match home.try_admit(&ask(lease, "here", 1)).await {
        Err(AdmissionError::Unavailable(reason)) => reason,
        answer => panic!("{answer:?}"),
    }
}

async fn no_record(home: &RedisHome, lease: &str) -> String {
    match home.try_admit(&ask(lease, "here", 1)).await {
        Ok(Decision::NoRecord { reason }) => reason,
        answer => panic!("{answer:?}"),
    }
}

/// Costs by the journal of the run.
fn told(pico: i64) -> JournalCosts {
    JournalCosts { announced: vec![(run(), money(pico))], ..JournalCosts::default() }
}

#[tokio::test]
async fn a_restart_pauses_admission_until_it_is_reconciled_and_bills_are_booked_meanwhile() {
    let redis = TestRedis::durable();
    let settings = RedisSettings { allow_volatile: false, ..redis.settings() };
    let home = RedisHome::open(settings).await.unwrap();
    home.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    let claim = claim(&home, "job").await;
    admitted(&home, "a", "here", 10).await;

    redis.kill();
    refused(&home, "b").await;
    let away = home.settle(bill("a", 7, &claim)).await;
    assert!(matches!(away, Err(AdmissionError::Unavailable(_))), "{away:?}");

    redis.start_again();
    let reason = refused(&home, "b").await;
    assert!(reason.contains("restarted"), "{reason}");
    assert!(home.is_paused().await.unwrap());
    home.sweep().await.unwrap();
    assert_eq!(figures(&home).await, [0, 0, 0, 10]);
    assert!(home.settle(bill("a", 7, &claim)).await.unwrap().may_publish);
    refused(&home, "b").await;

    let reconciled = home.reconcile(&told(0)).await.unwrap();
    assert_eq!(reconciled, Reconciliation::Done { presumed: 0 });
    assert!(!home.is_paused().await.unwrap());
    admitted(&home, "b", "here", 10).await;
    assert_eq!(figures(&home).await, [7, 0, 7, 10]);
    home.close().await;
}

#[tokio::test]
async fn who_does_not_come_back_after_a_restart_is_waited_for_and_then_gone() {
    let redis = TestRedis::durable();
    let clock = TestClock::new();
    let open = async || RedisHome::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    let (here, there) = (open().await, open().await);
    here.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&here, "a", "here", 10).await;
    admitted(&there, "b", "there", 20).await;
    there.close().await;
    drop(there);

    redis.kill();
    // For so long that every heartbeat is old when it comes back.
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
    assert_eq!(figures(&here).await, [20, 20, 0, 10], "who reconciled is alive");
    here.close().await;
}

#[tokio::test]
async fn what_a_restored_server_has_forgotten_is_told_to_it() {
    let redis = TestRedis::own(&[]);
    let home = RedisHome::open(redis.settings()).await.unwrap();
    home.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    let claimed = claim(&home, "job").await;
    admitted(&home, "before", "here", 10).await;
    admitted(&home, "settled", "here", 20).await;
    redis.command(&["SAVE"]);
    home.settle(bill("settled", 15, &claimed)).await.unwrap();
    admitted(&home, "after", "here", 30).await;
    redis.kill();
    redis.start_again();

    assert_eq!(figures(&home).await, [20, 20, 0, 40], "nobody can tell what was settled");
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(home.reconcile(&told(15)).await.unwrap(), done);
    assert_eq!(figures(&home).await, [35, 20, 0, 40]);
    assert_eq!(home.reconcile(&told(15)).await.unwrap(), done);
    assert_eq!(figures(&home).await, [35, 20, 0, 40], "it is told once");
    let held = Decision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(home.try_admit(&ask("large", "here", 30)).await.unwrap(), held);
    home.settle(bill("after", 25, &claimed)).await.unwrap();
    let overtaking = claim(&home, "job").await;
    assert!(overtaking.fence > claimed.fence);
    admitted(&home, "large", "here", 30).await;
    home.close().await;
}

#[tokio::test]
async fn an_emptied_server_has_no_budgets_says_so_and_pauses_until_it_is_reconciled() {
    let (redis, clock) = (TestRedis::own(&[]), TestClock::new());
    let home = RedisHome::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    home.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&home, "a", "here", 10).await;
    let overtaken = claim(&home, "job").await;
    redis.command(&["FLUSHALL"]);
    redis.command(&["SCRIPT", "FLUSH"]);
    clock.pass(1);
    let reason = no_record(&home, "b").await;
    assert!(reason.contains("no budget on record") && reason.contains("emptied"), "{reason}");

    let current = claim(&home, "job").await;
    assert!(current.fence > overtaken.fence, "what was granted once is not granted again");
    assert!(!home.settle(bill("a", 7, &overtaken)).await.unwrap().may_publish);
    home.open_run_again(&run(), Budget::Cap(money(100)), money(50)).await.unwrap();
    assert_eq!(figures(&home).await, [57, 7, 0, 0], "what was paid is booked all the same");
    assert!(refused(&home, "b").await.contains("emptied"));
    home.sweep().await.unwrap();
    let waiting = Reconciliation::Waiting { owners: Vec::new() };
    assert_eq!(home.reconcile(&told(60)).await.unwrap(), waiting);
    clock.pass(20_000);
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(home.reconcile(&told(60)).await.unwrap(), done);
    assert_eq!(figures(&home).await, [67, 7, 0, 0], "it is told once");
    admitted(&home, "b", "here", 10).await;
    home.close().await;
}

#[tokio::test]
async fn a_run_opened_again_on_an_emptied_server_has_what_it_spent_and_what_others_hold() {
    let (redis, clock) = (TestRedis::own(&[]), TestClock::new());
    let open = async || RedisHome::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    let (worker, aggregator, producer) = (open().await, open().await, open().await);
    producer.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&worker, "a", "here", 30).await;
    assert!(!aggregator.is_paused().await.unwrap());
    redis.command(&["FLUSHALL"]);
    assert!(aggregator.is_paused().await.unwrap());
    open().await.open_run_again(&run(), Budget::Cap(money(100)), money(60)).await.unwrap();
    refused(&worker, "b").await;
    worker.sweep().await.unwrap();
    assert_eq!(
        figures(&aggregator).await,
        [60, 0, 0, 30],
        "what is in flight is told by its owner"
    );
    clock.pass(20_000);
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(aggregator.reconcile(&told(60)).await.unwrap(), done);
    let held = Decision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(worker.try_admit(&ask("b", "here", 11)).await.unwrap(), held);
    admitted(&worker, "b", "here", 10).await;
    for home in [worker, aggregator, producer] {
        home.close().await;
    }
}

#[tokio::test]
async fn a_server_without_a_ledger_admits_no_call_before_it_is_reconciled() {
    let redis = TestRedis::own(&[]);
    redis.command(&["FLUSHALL"]);
    let home = RedisHome::open(redis.settings()).await.unwrap();
    assert!(!home.is_paused().await.unwrap(), "nobody wants to call");
    assert_eq!(home.ledger_state(false).await.unwrap(), LedgerState::Empty);
    home.sweep().await.unwrap();
    no_record(&home, "early").await;
    home.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    assert!(refused(&home, "a").await.contains("start the aggregator"));
    let new = JournalCosts { is_new: true, ..JournalCosts::default() };
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(home.reconcile(&new).await.unwrap(), done, "nobody is waited for");
    assert_eq!(home.ledger_state(true).await.unwrap(), LedgerState::Reconciled);
    admitted(&home, "a", "here", 10).await;
    home.close().await;
}

#[tokio::test]
async fn what_a_run_spent_counts_when_it_is_opened_after_the_ledger_was_emptied() {
    let (redis, clock) = (TestRedis::own(&[]), TestClock::new());
    redis.command(&["FLUSHALL"]);
    let home = RedisHome::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    assert_eq!(home.ledger_state(true).await.unwrap(), LedgerState::Empty);
    clock.pass(20_000);
    let others = vec![(run(), money(60))];
    let journal = JournalCosts { others, ..JournalCosts::default() };
    let done = Reconciliation::Done { presumed: 0 };
    assert_eq!(home.reconcile(&journal).await.unwrap(), done);
    let today = Scope::all_of(&run(), clock.shared()()).into_iter().nth(1).unwrap();
    assert_eq!(home.spent(&today).await.unwrap().1.committed, money(0), "it is not open");
    home.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    assert_eq!(figures(&home).await, [60, 0, 0, 0]);
    assert_eq!(home.spent(&today).await.unwrap().1.committed, money(60));
    let held = home.try_admit(&ask("large", "here", 41)).await.unwrap();
    assert!(matches!(held, Decision::NoBudget { .. }), "{held:?}");
    admitted(&home, "a", "here", 40).await;
    home.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    assert_eq!(home.spent(&today).await.unwrap().1.committed, money(60), "it is dated once");
    home.close().await;
}

#[tokio::test]
async fn a_cut_connection_is_made_anew() {
    let redis = TestRedis::own(&[]);
    let home = RedisHome::open(redis.settings()).await.unwrap();
    home.open_run(&run(), Budget::Unlimited).await.unwrap();
    for lease in ["a", "b"] {
        redis.command(&["CLIENT", "KILL", "TYPE", "normal"]);
        redis.command(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        admitted(&home, lease, "here", 10).await;
    }
    let mut changes = home.changes();
    changes.borrow_and_update();
    home.release(&LeaseId::new("a")).await.unwrap();
    let woken = tokio::time::timeout(Duration::from_secs(10), changes.changed()).await;
    assert!(woken.is_ok(), "nobody listens any more");
    home.close().await;
}

#[tokio::test]
async fn a_server_that_may_forget_holds_no_finite_budget_unless_it_is_allowed() {
    let forgetful = ["--appendonly", "yes", "--appendfsync", "everysec"];
    let evicting =
        ["--appendonly", "yes", "--appendfsync", "always", "--maxmemory-policy", "allkeys-lru"];
    let servers: [(&[&str], &str); 3] =
        [(&[], "appendonly"), (&forgetful, "appendfsync"), (&evicting, "maxmemory-policy")];
    for (options, setting) in servers {
        let redis = TestRedis::own(options);
        let settings = RedisSettings { allow_volatile: false, ..redis.settings() };
        let home = RedisHome::open(settings).await.unwrap();
        match home.open_run(&run(), Budget::Cap(money(1))).await {
            Err(AdmissionError::Broken(reason)) => assert!(reason.contains(setting), "{reason}"),
            answer => panic!("{answer:?}"),
        }
        assert_eq!(home.ledger(&run()).await.unwrap(), None);
        home.open_run(&run(), Budget::Unlimited).await.unwrap();
        home.close().await;
    }
}

#[tokio::test]
async fn without_memory_nothing_is_admitted_and_nothing_is_half_done() {
    let redis = TestRedis::own(&[]);
    let home = RedisHome::open(redis.settings()).await.unwrap();
    home.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&home, "a", "here", 10).await;
    redis.command(&["CONFIG", "SET", "maxmemory", "1"]);
    let reason = refused(&home, "b").await;
    assert!(reason.contains("no memory left") && reason.contains("juror cache clear"));
    assert!(home.release(&LeaseId::new("a")).await.is_err());
    redis.command(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(figures(&home).await, [0, 0, 0, 10]);
    home.release(&LeaseId::new("a")).await.unwrap();
    assert_eq!(figures(&home).await, [0, 0, 0, 0]);
    home.close().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_or_not_open_to_us_is_named() {
    let redis = TestRedis::own(&["--requirepass", "secret"]);
    let open = async |url: &str| match RedisHome::open(RedisSettings::new(url)).await {
        Err(error) => error,
        Ok(_) => panic!("there is nothing to open at {url}"),
    };
    let locked = open(&redis.url).await;
    assert!(matches!(&locked, AdmissionError::Broken(why) if why.contains("password")), "{locked}");
    let mistaken = redis.url.replace("//", "//:guess@");
    let wrong = open(&mistaken).await;
    assert!(matches!(&wrong, AdmissionError::Broken(why) if !why.contains("guess")), "{wrong}");
    let right = RedisSettings::new(redis.url.replace("//", "//:secret@"));
    RedisHome::open(right).await.unwrap().close().await;
    redis.kill();
    let away = open(&redis.url).await;
    assert!(
        matches!(&away, AdmissionError::Unavailable(why) if why.contains("127.0.0.1")),
        "{away}"
    );
    for (url, words) in [
        ("http://:hidden@host", "write it as redis://"),
        ("rediss://:hidden@host:none", "rediss://host:6379 with TLS"),
        ("redis+sentinel://:hidden@host:26379/primary", "Redis Sentinel is not supported"),
    ] {
        let refused = open(url).await;
        let is_told = |why: &str| why.contains(words) && !why.contains("hidden");
        assert!(matches!(&refused, AdmissionError::Broken(why) if is_told(why)), "{refused}");
    }
}

#[tokio::test]
async fn a_node_of_a_cluster_is_refused() {
    let redis = TestRedis::own(&["--cluster-enabled", "yes"]);
    match RedisHome::open(redis.settings()).await {
        Err(AdmissionError::Broken(why)) => {
            assert!(why.contains("Redis Cluster") && why.contains("cluster-enabled no"), "{why}");
        }
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("scripts name keys that they compute"),
    }
}

#[tokio::test]
async fn a_lease_whose_caller_gave_up_before_the_answer_is_given_back() {
    let redis = TestRedis::shared();
    let home = RedisHome::open(redis.settings()).await.unwrap();
    home.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&home, "held", "here", 10).await;
    for again in [false, true] {
        let asked = ask("doubtful", "here", 20);
        // Sent, and dropped with the answer unread.
        let mut asking = home.try_admit(&asked);
        assert!((&mut asking).now_or_never().is_none());
        assert_eq!(figures(&home).await, [0, 0, 0, 30], "it was admitted all the same");
        drop(asking);
        if again {
            admitted(&home, "doubtful", "here", 20).await;
        }
        home.sweep().await.unwrap();
        assert_eq!(figures(&home).await, [0, 0, 0, if again { 30 } else { 10 }]);
    }
    home.close().await;
}
