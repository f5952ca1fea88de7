//! Many processes under one rate limit: the load of waiting on Redis.

use super::{test_server::TestRedis, *};
use crate::{
    admission::{
        Admission as _, AdmissionOutcome, AdmissionQueue, AdmissionRequest, Budget, CountRule,
        Limits, Observation, TokenCounting,
    },
    test_requests::{bill, claim, request, run},
};
use futures_util::future::join_all;

const PROCESSES: usize = 24;
const CALLERS_EACH: usize = 20;
const GRANTS: usize = PROCESSES * CALLERS_EACH;

/// Number of executions of a command, including those in scripts.
fn times(redis: &TestRedis, command: &str) -> usize {
    let reported = redis.command(&["INFO", "commandstats"]);
    let start = format!("cmdstat_{command}:calls=");
    let line = reported.lines().find_map(|line| line.strip_prefix(&start));
    line.and_then(|rest| rest.split(',').next()).map_or(0, |calls| calls.parse().unwrap())
}

#[tokio::test]
async fn waiting_call_is_requested_twice_regardless_of_queue_length() {
    let redis = TestRedis::own(&[]);
    let backends = join_all((0..PROCESSES).map(|_| RedisLedger::open(redis.settings()))).await;
    let backends: Vec<RedisLedger> = backends.into_iter().map(Result::unwrap).collect();
    backends[0].open_run(&run(), Budget::Unlimited).await.unwrap();
    // 20 tokens a call: all of them take about two seconds.
    let tokens_per_minute = Some(20 * GRANTS as u64 * 30);
    let limits = Limits { tokens_per_minute, refund_unused: true, ..Limits::default() };
    backends[0].set_limits("judge", limits).await.unwrap();
    let claimed = claim(&backends[0], "job").await;
    let (scripts, reads) = (times(&redis, "evalsha"), times(&redis, "hmget"));

    let process = async |number: usize, backend: &RedisLedger| {
        let (room, token) = (AdmissionQueue::new(), CancellationToken::new());
        let call = async |caller: usize| {
            let requested: AdmissionRequest =
                request(&format!("{number}-{caller}"), &format!("owner-{number}"), 1);
            let admitted = room.admit(backend, || requested.clone(), &token).await.unwrap();
            assert_eq!(admitted, AdmissionOutcome::Admitted);
            backend.settle(bill(requested.lease.as_str(), 1, &claimed)).await.unwrap();
        };
        join_all((0..CALLERS_EACH).map(call)).await;
    };
    join_all(backends.iter().enumerate().map(|(number, backend)| process(number, backend))).await;

    let scripts = times(&redis, "evalsha") - scripts;
    assert!(scripts <= 4 * GRANTS, "{scripts} scripts for {GRANTS} calls");
    let reads = times(&redis, "hmget") - reads;
    assert!(reads <= 16 * GRANTS, "{reads} reads for {GRANTS} calls");
    for backend in backends {
        backend.close().await;
    }
}

#[tokio::test]
async fn learned_token_count_rule_is_shared() {
    let redis = TestRedis::shared();
    let backend = RedisLedger::open(redis.settings()).await.unwrap();
    let nothing = TokenCounting::default();
    assert_eq!(backend.token_counting("judge").await.unwrap(), nothing);
    let endpoint = || "judge".to_owned();
    let rule = Some(CountRule::Input);
    let observed =
        |counting| Observation { endpoint: endpoint(), counting, ..Observation::default() };
    let first = TokenCounting { rule, input_scale: Some(1_500), fullest: None };
    backend.observe(&observed(first)).await.unwrap();
    let tokens_per_minute = Some(1_000);
    let reported =
        Observation { endpoint: endpoint(), tokens_per_minute, ..Observation::default() };
    backend.observe(&reported).await.unwrap();
    for fullest in [700, 900, 800] {
        let counting = TokenCounting { rule: None, input_scale: Some(540), fullest: Some(fullest) };
        backend.observe(&observed(counting)).await.unwrap();
    }
    let shared = TokenCounting { rule, input_scale: Some(1_413), fullest: Some(900) };
    assert_eq!(backend.token_counting("judge").await.unwrap(), shared);

    let other = RedisLedger::open(redis.settings()).await.unwrap();
    other.open_run(&run(), Budget::Unlimited).await.unwrap();
    assert_eq!(other.known_token_counting("judge"), nothing);
    other.try_admit(&request("first", "owner", 1)).await.unwrap();
    assert_eq!(other.known_token_counting("judge"), shared, "every decision returns it");
    other.close().await;
    backend.close().await;
}
