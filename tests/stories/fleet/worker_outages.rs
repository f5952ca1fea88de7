//! A worker whose servers go away while it judges: nothing is lost, and nothing is paid unbooked.

use super::{
    servers::{Servers, await_some},
    worker::{Scene, all_scored, semantic, stop},
};
use crate::workshop::proxy::{Proxy, Speaks};
use juror_common::{
    admission::Reconciliation, id::RunId, job::Job, outcome::ErrorKind,
    redis::test_server::TestRedis,
};
use juror_services::rabbitmq::Broker;

#[test]
fn a_redis_that_is_restarted_costs_no_call_and_no_bill() {
    let scene = Scene::gated(Servers::with(TestRedis::durable()), 6);
    let run = RunId::new("restarted");
    let mut worker = scene.start(&["-j", "2"]);
    scene.enqueue("restarted");
    scene.simulator.await_count("billed_calls", 2);
    scene.servers.redis.kill();
    scene.gate.open();
    worker.await_words("nobody is called until the ledger can be used again");
    scene.servers.redis.start_again();
    // As the aggregator does, whose journal knows of no result yet.
    let reconciled = || {
        let done = scene.servers.run(scene.servers.home.reconcile(&[])).ok()?;
        matches!(done, Reconciliation::Done { .. }).then_some(())
    };
    await_some(reconciled, "the ledger is reconciled");
    let results = scene.servers.take_results(6);
    all_scored(&results);
    stop(worker);
    assert_eq!(scene.simulator.count("billed_calls"), 6, "the answers were not lost");
    let ledger = scene.servers.ledger(&run);
    assert_eq!(ledger.committed.pico(), scene.simulator.bill());
    assert_eq!((ledger.presumed.pico(), ledger.outstanding.pico()), (0, 0));
    assert_eq!(
        results.iter().map(|result| result.cost_usd.pico()).sum::<i64>(),
        ledger.committed.pico()
    );
}

#[test]
fn an_emptied_redis_loses_no_job() {
    let scene = Scene::gated(Servers::with(TestRedis::own(&[])), 4);
    let worker = scene.start(&["-j", "2"]);
    let jobs = scene.enqueue("emptied");
    scene.simulator.await_count("billed_calls", 2);
    scene.servers.redis.command(&["FLUSHALL"]);
    scene.gate.open();
    // The worker may have believed for another second that the run goes on: then no budget is on
    // record, and what it takes is skipped.
    let skipped = || scene.servers.ready("results");
    await_some(|| (scene.servers.held("10m") + skipped() == 4).then_some(()), "each job is kept");
    let skipped = scene.servers.take_results(skipped() as usize);
    for result in &skipped {
        assert_eq!(result.error.as_ref().unwrap().kind, ErrorKind::Budget);
    }
    assert_eq!(scene.simulator.requests(), 2, "nobody is called without a budget on record");
    // As `juror enqueue` and `juror retry` do.
    scene.servers.announce(&scene.record("emptied", semantic()));
    let again = jobs.into_iter().map(|job| {
        let was_skipped = skipped.iter().any(|result| result.job_id == job.job_id);
        Job { round: u32::from(was_skipped), ..job }
    });
    scene.servers.enqueue(&again.collect::<Vec<_>>());
    all_scored(&scene.servers.take_results(4));
    stop(worker);
}

#[test]
fn a_broker_that_is_killed_costs_no_call() {
    let mut broker = Broker::start();
    let servers = Servers::with_broker(TestRedis::shared(), broker.port());
    let scene = Scene::gated(servers, 4);
    let mut worker = scene.start(&["-j", "2"]);
    scene.enqueue("cut");
    scene.simulator.await_count("billed_calls", 2);
    broker.restart();
    worker.await_words("connecting again");
    scene.gate.open();
    all_scored(&scene.servers.take_results(4));
    stop(worker);
    assert_eq!(scene.simulator.count("billed_calls"), 4, "nothing is asked twice");
    drop(scene);
    drop(broker);
}

#[test]
fn what_a_living_worker_has_in_hand_is_not_asked_again_by_another() {
    let scene = Scene::gated(Servers::with(TestRedis::shared()), 4);
    let first = scene.start(&["-j", "4"]);
    let jobs = scene.enqueue("doubled");
    scene.simulator.await_count("billed_calls", 4);
    let second = scene.start(&["-j", "4"]);
    // As `juror retry` does while the run is under way.
    scene.servers.enqueue(&jobs);
    await_some(|| (scene.servers.held("30s") == 4).then_some(()), "all of them wait");
    scene.gate.open();
    all_scored(&scene.servers.take_results(4));
    [first, second].into_iter().for_each(stop);
    assert_eq!(scene.simulator.count("billed_calls"), 4);
}

#[test]
fn a_worker_that_loses_the_broker_keeps_what_it_has_in_hand() {
    let scene = Scene::gated(Servers::with(TestRedis::shared()), 4);
    let port = scene.servers.broker().rsplit_once(':').unwrap().1.parse().unwrap();
    let proxy = Proxy::start(port, Speaks::Amqp, &Default::default());
    let broker = format!("amqp://guest:guest@{}", proxy.address());
    let mut first = scene.start(&["-j", "4", "--broker", &broker]);
    scene.enqueue("cut-off");
    scene.simulator.await_count("billed_calls", 4);
    let second = scene.start(&["-j", "4"]);
    proxy.shut();
    await_some(|| (scene.servers.held("30s") == 4).then_some(()), "the other one waits for it");
    scene.gate.let_through(4);
    first.await_words("connecting again");
    proxy.restore();
    all_scored(&scene.servers.take_results(4));
    assert_eq!(scene.simulator.count("billed_calls"), 4);
    [first, second].into_iter().for_each(stop);
}
