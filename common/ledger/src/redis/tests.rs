use super::{test_server::TestRedis, *};
use crate::{
    admission::{
        self, Admission as _, AdmissionDecision, AdmissionRequest, Budget, Period, WaitReason,
        tests::differential::TestClock,
    },
    budgets::BudgetRecords as _,
    job_store::{self, CachedReply, JobStore as _},
    test_requests::{bill, claim, figures, request, run},
};
use juror_types::{
    id::{Digest, LeaseId, RunId},
    usage::Money,
};
use parking_lot::Mutex as StdMutex;
use std::sync::atomic::{AtomicUsize, Ordering};

pub fn money(pico: i64) -> Money {
    Money::from_pico(pico)
}

pub async fn admitted(backend: &RedisLedger, lease: &str, owner: &str, worst: i64) {
    let decision = backend.try_admit(&request(lease, owner, worst)).await.unwrap();
    assert_eq!(decision, AdmissionDecision::Admitted, "{lease}");
}

/// Backends in separate namespaces on one server.
struct Backends {
    redis: TestRedis,
    made: StdMutex<Vec<Arc<RedisLedger>>>,
    next: AtomicUsize,
}

impl Backends {
    fn new() -> Self {
        let redis = TestRedis::shared();
        Self { redis, made: StdMutex::default(), next: AtomicUsize::new(0) }
    }

    async fn fresh(&self) -> Arc<RedisLedger> {
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let namespace = format!("{}.{number}", self.redis.namespace);
        self.redis.accept_ledger(&namespace);
        let settings = RedisSettings { namespace, ..self.redis.settings() };
        let backend = Arc::new(RedisLedger::open(settings).await.unwrap());
        self.made.lock().push(backend.clone());
        backend
    }

    async fn close(self) {
        let made = self.made.into_inner();
        for backend in made {
            backend.close().await;
        }
    }
}

#[tokio::test]
async fn unreadable_cached_reply_is_missing() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    let cache_key = Digest::from_content(b"asked");
    redis.command(&["SET", &format!("{}:reply:{cache_key}", redis.namespace), "half of {"]);
    assert_eq!(backend.cached_reply(&cache_key).await.unwrap(), None);
    assert_eq!(backend.cache_stats().await.unwrap().replies, 1);
    backend.close().await;
}

#[tokio::test]
async fn admission_conforms() {
    let backends = Backends::new();
    admission::conformance::check_all(async || backends.fresh().await).await;
    backends.close().await;
}

#[tokio::test]
async fn job_store_conforms() {
    let backends = Backends::new();
    job_store::conformance::check_all(async || backends.fresh().await).await;
    backends.close().await;
}

#[tokio::test]
async fn leases_of_dead_processes_are_presumed_and_live_ones_are_kept() {
    let redis = TestRedis::shared();
    let clock = TestClock::new();
    let open =
        async || RedisLedger::open_with_clock(redis.settings(), clock.shared()).await.unwrap();
    let (here, there) = (open().await, open().await);
    here.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    admitted(&here, "a", "here", 10).await;
    admitted(&there, "b", "there", 20).await;
    clock.pass(45_000);
    here.sweep().await.unwrap();
    clock.pass(15_001);
    here.sweep().await.unwrap();
    assert_eq!(figures(&here).await, [20, 20, 0, 10], "there has been silent for too long");
    let claim = claim(&there, "job").await;
    there.settle(bill("b", 5, &claim)).await.unwrap();
    assert_eq!(figures(&here).await, [5, 0, 5, 10], "it was alive, and its bill is the truth");
    admitted(&there, "c", "there", 20).await;
    here.sweep().await.unwrap();
    assert_eq!(figures(&here).await, [5, 0, 5, 30]);
    here.close().await;
    there.close().await;
}

#[tokio::test]
async fn leases_of_a_complete_run_end_for_all_holders() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    backend.open_run(&run(), Budget::Cap(money(100))).await.unwrap();
    let other = RunId::new("other");
    backend.open_run(&other, Budget::Unlimited).await.unwrap();
    admitted(&backend, "a", "here", 10).await;
    admitted(&backend, "b", "there", 20).await;
    backend
        .try_admit(&AdmissionRequest { run: other.clone(), ..request("c", "here", 40) })
        .await
        .unwrap();
    assert_eq!(backend.close_leases(&run()).await.unwrap(), 2);
    assert_eq!(figures(&backend).await, [30, 30, 0, 0]);
    assert_eq!(backend.close_leases(&run()).await.unwrap(), 0);
    assert_eq!(backend.ledger(&other).await.unwrap().unwrap().outstanding, money(40));
    let claim = claim(&backend, "job").await;
    backend.settle(bill("b", 5, &claim)).await.unwrap();
    assert_eq!(figures(&backend).await, [15, 10, 5, 0], "its bill is the truth");
    backend.close().await;
}

#[tokio::test]
async fn lease_end_wakes_other_processes() {
    let redis = TestRedis::shared();
    let open = async || RedisLedger::open(redis.settings()).await.unwrap();
    let (here, there) = (open().await, open().await);
    here.open_run(&run(), Budget::Cap(money(10))).await.unwrap();
    admitted(&here, "a", "here", 10).await;
    let held = AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget };
    let mut changes = there.changes();
    let asks = request("b", "there", 10);
    loop {
        changes.borrow_and_update();
        let decision = there.try_admit(&asks).await.unwrap();
        if decision == AdmissionDecision::Admitted {
            break;
        }
        assert_eq!(decision, held);
        here.release(&LeaseId::new("a")).await.unwrap();
        let woken = tokio::time::timeout(Duration::from_secs(10), changes.changed()).await;
        assert!(woken.is_ok(), "no waiter was woken");
    }
    here.close().await;
    there.close().await;
}

#[tokio::test]
async fn daily_and_monthly_caps_may_change_while_spent() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    assert_eq!(backend.cap(&Period::Day.into()).await.unwrap(), None);
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    assert_eq!(backend.cap(&Period::Day.into()).await.unwrap(), Some(Budget::Unlimited));
    admitted(&backend, "a", "here", 10).await;
    backend.set_cap(&Period::Day.into(), Budget::Cap(money(15))).await.unwrap();
    let held = AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget };
    assert_eq!(backend.try_admit(&request("b", "here", 10)).await.unwrap(), held);
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    assert_eq!(backend.cap(&Period::Day.into()).await.unwrap(), Some(Budget::Cap(money(15))));
    backend.set_cap(&Period::Day.into(), Budget::Cap(money(20))).await.unwrap();
    admitted(&backend, "b", "here", 10).await;
    backend.close().await;
}

#[tokio::test]
async fn largest_amounts_neither_fail_nor_overflow() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    backend.open_run(&run(), Budget::Unlimited).await.unwrap();
    let most = Money::MAX.pico();
    let absurd = backend.try_admit(&request("a", "here", most)).await.unwrap();
    assert!(matches!(absurd, AdmissionDecision::NoBudget { .. }), "{absurd:?}");
    let claim = claim(&backend, "job").await;
    for lease in ["b", "c"] {
        backend.settle(bill(lease, most, &claim)).await.unwrap();
    }
    assert_eq!(figures(&backend).await, [most, 0, most, 0]);
    let full = backend.try_admit(&request("d", "here", 1)).await.unwrap();
    assert!(matches!(full, AdmissionDecision::NoBudget { .. }), "{full:?}");
    backend.close().await;
}

#[tokio::test]
async fn server_reports_version_and_persistence() {
    let (volatile, durable) = (TestRedis::own(&[]), TestRedis::durable());
    let backend = RedisLedger::open(volatile.settings()).await.unwrap();
    let version = backend.version().await.unwrap();
    assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()), "{version}");
    let durability_risk = backend.durability_risk().await.unwrap().unwrap();
    assert_eq!((durability_risk.setting, durability_risk.found.as_str()), ("appendonly", "no"));
    backend.close().await;
    let backend = RedisLedger::open(durable.settings()).await.unwrap();
    assert_eq!(backend.durability_risk().await.unwrap(), None);
    backend.close().await;
}

#[tokio::test]
async fn replies_expire_after_the_configured_ttl() {
    let redis = TestRedis::shared();
    let settings = RedisSettings { replies_kept: Duration::from_secs(3_600), ..redis.settings() };
    let backend = RedisLedger::open(settings).await.unwrap();
    let cache_key = Digest::from_content(b"what was asked");
    let claim = claim(&backend, "job").await;
    let (reply, cost) = ("good".to_owned(), money(1));
    let reply = CachedReply { reply, cost, ..job_store::conformance::reply() };
    let result = job_store::conformance::result(&claim, "good");
    let reply_to_cache = Some((cache_key, reply));
    backend.finish(job_store::FinishedJob { claim, result, reply_to_cache }).await.unwrap();
    let key = format!("{}:reply:{cache_key}", redis.namespace);
    let left: i64 = redis.command(&["TTL", &key]).parse().unwrap();
    assert!((1..=3_600).contains(&left), "{left}");
    backend.close().await;
}

#[test]
fn namespace_has_plain_characters_only() {
    for bad in ["", "a*", "a b", "a:b", "é"] {
        assert!(prefix(bad).is_err(), "{bad}");
    }
    assert!(prefix("juror.test-1").is_ok());
}
