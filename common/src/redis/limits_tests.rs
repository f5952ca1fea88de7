//! Many processes under one rate limit: what their waiting costs Redis.

use super::{
    test_server::TestRedis,
    tests::{ask, bill, claim, run},
    *,
};
use crate::admission::{
    Admission as _, Admittance, Ask, Budget, CountRule, Limits, Observation, WaitingRoom,
};
use futures_util::future::join_all;

const PROCESSES: usize = 24;
const CALLERS_EACH: usize = 20;
const GRANTS: usize = PROCESSES * CALLERS_EACH;

/// Number of runs of a command, scripts' own commands included.
fn times(redis: &TestRedis, command: &str) -> usize {
    let told = redis.command(&["INFO", "commandstats"]);
    let start = format!("cmdstat_{command}:calls=");
    let line = told.lines().find_map(|line| line.strip_prefix(&start));
    line.and_then(|rest| rest.split(',').next()).map_or(0, |calls| calls.parse().unwrap())
}

#[tokio::test]
async fn a_call_that_waits_is_asked_for_twice_however_many_wait_beside_it() {
    let redis = TestRedis::own(&[]);
    let homes = join_all((0..PROCESSES).map(|_| RedisHome::open(redis.settings()))).await;
    let homes: Vec<RedisHome> = homes.into_iter().map(Result::unwrap).collect();
    homes[0].open_run(&run(), Budget::Unlimited).await.unwrap();
    // 20 tokens a call: all of them take about two seconds.
    let tokens_per_minute = Some(20 * GRANTS as u64 * 30);
    let limits = Limits { tokens_per_minute, refund_unused: true, ..Limits::default() };
    homes[0].set_limits("judge", limits).await.unwrap();
    let claimed = claim(&homes[0], "job").await;
    let (scripts, reads) = (times(&redis, "evalsha"), times(&redis, "hmget"));

    let process = async |number: usize, home: &RedisHome| {
        let (room, token) = (WaitingRoom::new(), CancellationToken::new());
        let call = async |caller: usize| {
            let asked: Ask = ask(&format!("{number}-{caller}"), &format!("owner-{number}"), 1);
            let admitted = room.admit(home, || asked.clone(), &token).await.unwrap();
            assert_eq!(admitted, Admittance::Admitted);
            home.settle(bill(asked.lease.as_str(), 1, &claimed)).await.unwrap();
        };
        join_all((0..CALLERS_EACH).map(call)).await;
    };
    join_all(homes.iter().enumerate().map(|(number, home)| process(number, home))).await;

    let scripts = times(&redis, "evalsha") - scripts;
    assert!(scripts <= 4 * GRANTS, "{scripts} scripts for {GRANTS} calls");
    let reads = times(&redis, "hmget") - reads;
    assert!(reads <= 16 * GRANTS, "{reads} reads for {GRANTS} calls");
    for home in homes {
        home.close().await;
    }
}

#[tokio::test]
async fn a_learned_rule_of_counting_is_there_for_others() {
    let redis = TestRedis::shared();
    let home = RedisHome::open(redis.settings()).await.unwrap();
    assert_eq!(home.count_rule("judge").await.unwrap(), None);
    let endpoint = || "judge".to_owned();
    let count_rule = Some(CountRule::Input);
    let learned = Observation { endpoint: endpoint(), count_rule, ..Observation::default() };
    home.observe(&learned).await.unwrap();
    let tokens_per_minute = Some(1_000);
    let told = Observation { endpoint: endpoint(), tokens_per_minute, ..Observation::default() };
    home.observe(&told).await.unwrap();
    assert_eq!(home.count_rule("judge").await.unwrap(), Some(CountRule::Input));
    home.close().await;
}
