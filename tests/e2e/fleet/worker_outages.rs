//! Outages of a worker's servers during judging: nothing is lost, and every bill is booked.

use super::{
    servers::Servers,
    worker_fixture::{WorkerFixture, all_scored, semantic, stop},
};
use crate::harness::{
    CommandHarness, RunningCommand, pico,
    proxy::{FaultProxy, ProxiedProtocol},
};
use juror_ledger::redis::{
    FleetBackend as _, JournalCosts, Reconciliation, test_server::TestRedis,
};
use juror_services::{process::free_port, rabbitmq::Broker, wait::poll};
use juror_types::id::RunId;
use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

impl WorkerFixture {
    /// As an aggregator does whose journal has no result yet.
    fn reconciled(&self) -> Option<()> {
        let done =
            self.servers.run(self.servers.backend.reconcile(&JournalCosts::default())).ok()?;
        matches!(done, Reconciliation::Done { .. }).then_some(())
    }
}

/// Status line and body of a response of a role's listener.
fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn role_that_waits_for_its_servers_is_alive_and_not_ready() {
    let harness = CommandHarness::new();
    let servers = Servers::shared();
    let worker: &[&str] = &["worker", "--data-root", "."];
    let roles = [(worker, "broker\nredis\n"), (&["aggregate"], "broker\nlock\nredis\n")];
    for (role, unmet) in roles {
        let listen = format!("127.0.0.1:{}", free_port());
        let mut command = servers.command(&harness, &[role, &["--listen", &listen]].concat());
        command.env("JUROR_FLEET_REDIS", format!("redis://127.0.0.1:{}", free_port()));
        let mut waiting = RunningCommand::start(command);
        waiting.await_stderr("retrying for at most");
        assert!(get(&listen, "/healthz").starts_with("HTTP/1.1 200"), "{role:?}");
        let readiness = get(&listen, "/readyz");
        assert!(readiness.starts_with("HTTP/1.1 503") && readiness.ends_with(unmet), "{readiness}");
        waiting.stop();
    }
}

#[test]
fn redis_restart_repeats_no_call_and_no_bill() {
    let fixture = WorkerFixture::gated(Servers::with(TestRedis::durable()), 6);
    let run = RunId::new("restarted");
    let mut worker = fixture.start(&["-j", "2"]);
    fixture.enqueue("restarted");
    fixture.simulator.await_count("billed_calls", 2);
    fixture.servers.redis.kill();
    fixture.gate.open();
    worker.await_stderr("vision API calls are suspended: ");
    fixture.servers.redis.start_again();
    poll("the ledger is reconciled", || fixture.reconciled());
    let results = fixture.servers.take_results(6);
    all_scored(&results);
    stop(worker);
    assert_eq!(fixture.simulator.count("billed_calls"), 6, "the replies were not lost");
    let ledger = fixture.servers.ledger(&run);
    assert_eq!(ledger.committed.pico(), fixture.simulator.bill());
    assert_eq!((ledger.presumed.pico(), ledger.outstanding.pico()), (0, 0));
    assert_eq!(
        results.iter().map(|result| result.cost_usd.pico()).sum::<i64>(),
        ledger.committed.pico()
    );
}

#[test]
fn emptied_redis_loses_no_job() {
    let fixture = WorkerFixture::gated(Servers::with(TestRedis::own(&[])), 4);
    let worker = fixture.start(&["-j", "2"]);
    let jobs = fixture.enqueue("emptied");
    fixture.simulator.await_count("billed_calls", 2);
    fixture.servers.redis.command(&["FLUSHALL"]);
    fixture.gate.open();
    // For another second, the worker may consider the run active: no budget is recorded then.
    fixture.servers.await_held("10m", 4);
    assert_eq!(fixture.servers.ready("results"), 0, "none is skipped");
    assert_eq!(fixture.simulator.requests(), 2, "there is no call without a recorded budget");
    // As `juror enqueue` and `juror retry` do.
    fixture.servers.announce(&fixture.record("emptied", semantic()));
    fixture.servers.enqueue(&jobs);
    poll("the ledger is reconciled", || fixture.reconciled());
    all_scored(&fixture.servers.take_results(4));
    stop(worker);
}

#[test]
fn held_jobs_continue_once_the_ledger_is_reconciled() {
    let fixture = WorkerFixture::gated(Servers::with(TestRedis::own(&[])), 4);
    let worker = fixture.start(&["-j", "2"]);
    fixture.enqueue("held");
    fixture.simulator.await_count("billed_calls", 2);
    fixture.servers.redis.command(&["FLUSHALL"]);
    fixture.gate.open();
    fixture.servers.await_held("10m", 4);
    fixture.servers.announce(&fixture.record("held", semantic()));
    let aggregator = fixture.servers.start(&fixture.harness, &["aggregate"]);
    fixture.servers.await_progress(&RunId::new("held"), |progress| progress.counts.scored == 4);
    stop(worker);
    aggregator.stop();
}

#[test]
fn emptied_redis_grants_no_budget_twice() {
    let fixture = WorkerFixture::gated(Servers::with(TestRedis::durable()), 40);
    fixture.gate.open();
    let WorkerFixture { servers, harness, simulator, .. } = &fixture;
    let estimate = harness.juror(&["estimate", "manifest.jsonl", "--enable-llm-judge", "--json"]);
    let estimate = estimate.exits(0).json();
    let cap = pico(&estimate["models"][0]["worst_one_call_usd"]) * 3 / 20;
    let budget = format!("{}.{:012}", cap / 1_000_000_000_000, cap % 1_000_000_000_000);
    let (worker, aggregator) =
        (fixture.start(&["-j", "4"]), servers.start(harness, &["aggregate"]));
    let judged = ["--budget-usd", &budget, "--wait"];
    let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", "emptied"];
    servers.juror(harness, &[&enqueue[..], &judged].concat());
    let spent = simulator.bill();
    assert!(cap / 2 < spent && spent <= cap, "{spent} of {cap}");
    servers.redis.command(&["FLUSHALL"]);
    servers.juror(harness, &[&["retry", "emptied"][..], &judged].concat());
    let billed = simulator.bill();
    assert!(billed <= cap, "{billed} of {cap} were billed, {spent} before");
    let ledger = servers.ledger(&RunId::new("emptied"));
    assert_eq!((ledger.committed.pico(), ledger.outstanding.pico()), (billed, 0));
    let journal = harness.journal("emptied");
    assert!(journal.iter().any(|result| result["round"] == 1), "it went on");
    stop(worker);
    aggregator.stop();
}

#[test]
fn cache_of_a_full_redis_can_be_cleared() {
    let fixture = WorkerFixture::gated(Servers::with(TestRedis::own(&[])), 3);
    fixture.gate.open();
    let WorkerFixture { servers, harness, .. } = &fixture;
    let worker = fixture.start(&[]);
    fixture.enqueue("cached");
    all_scored(&servers.take_results(3));
    stop(worker);
    servers.redis.command(&["CONFIG", "SET", "maxmemory", "1"]);
    servers
        .juror(harness, &["cache", "stats"])
        .exits(0)
        .stdout_contains(&["3 replies in", "in Redis at"]);
    let cache = ["cache", "clear", "--redis", &servers.redis.url];
    servers.juror(harness, &cache).exits(0).stdout_contains(&["3 replies", "removed"]);
    servers.juror(harness, &["cache", "stats"]).exits(0).stdout_contains(&["0 replies in"]);
    harness
        .juror(&["cache", "stats"])
        .exits(0)
        .stdout_contains(&["0 replies in 0 bytes; they cost"]);
}

#[test]
fn broker_kill_repeats_no_call() {
    let mut broker = Broker::start();
    let servers = Servers::with_broker(TestRedis::shared(), broker.port());
    let fixture = WorkerFixture::gated(servers, 4);
    let mut worker = fixture.start(&["-j", "2"]);
    fixture.enqueue("cut");
    fixture.simulator.await_count("billed_calls", 2);
    broker.restart();
    worker.await_stderr("reconnecting");
    fixture.gate.open();
    all_scored(&fixture.servers.take_results(4));
    stop(worker);
    assert_eq!(fixture.simulator.count("billed_calls"), 4, "no call is repeated");
    drop(fixture);
    drop(broker);
}

#[test]
fn job_in_progress_on_a_live_worker_is_not_started_by_another() {
    let fixture = WorkerFixture::gated(Servers::shared(), 4);
    let first = fixture.start(&["-j", "4"]);
    let jobs = fixture.enqueue("doubled");
    fixture.simulator.await_count("billed_calls", 4);
    let second = fixture.start(&["-j", "4"]);
    // As `juror retry` does while the run is under way.
    fixture.servers.enqueue(&jobs);
    fixture.servers.await_held("30s", 4);
    fixture.gate.open();
    all_scored(&fixture.servers.take_results(4));
    [first, second].into_iter().for_each(stop);
    assert_eq!(fixture.simulator.count("billed_calls"), 4);
}

#[test]
fn worker_without_a_broker_keeps_its_jobs_in_progress() {
    let fixture = WorkerFixture::gated(Servers::shared(), 4);
    let port = fixture.servers.broker().rsplit_once(':').unwrap().1.parse().unwrap();
    let proxy = FaultProxy::start(port, ProxiedProtocol::Amqp, &Default::default());
    let broker = format!("amqp://guest:guest@{}", proxy.address());
    let mut first = fixture.start(&["-j", "4", "--broker", &broker]);
    fixture.enqueue("cut-off");
    fixture.simulator.await_count("billed_calls", 4);
    let second = fixture.start(&["-j", "4"]);
    proxy.shut();
    fixture.servers.await_held("30s", 4);
    fixture.gate.allow(4);
    first.await_stderr("reconnecting");
    proxy.restore();
    all_scored(&fixture.servers.take_results(4));
    assert_eq!(fixture.simulator.count("billed_calls"), 4);
    [first, second].into_iter().for_each(stop);
}
