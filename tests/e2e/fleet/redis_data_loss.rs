//! Data loss of Redis: earlier costs are not spent again, judged items are not judged again, and
//! results are committed meanwhile.

use super::{
    aggregate::{COST, record, scored},
    servers::Servers,
};
use crate::harness::{CommandHarness, RunningCommand, TestSimulator, pico, write_items};
use juror_ledger::{
    admission::{Admission as _, AdmissionDecision, AdmissionRequest},
    error::LedgerError,
    redis::test_server::TestRedis,
};
use juror_services::wait::await_file;
use juror_types::{
    id::{LeaseId, OwnerId, RunId},
    run::RunRecord,
    usage::Money,
};
use serde_json::Value;

const ITEMS: u32 = 6;
const MONTH_ITEMS: u32 = 40;

/// Waits until the journal of a run has this many results.
fn await_results(harness: &CommandHarness, run: &str, results: usize) {
    let journal = harness.path("runs").join(run).join("results.jsonl");
    await_file(&journal, |_| harness.journal(run).len() == results);
}

#[test]
fn run_enqueued_elsewhere_waits_for_journal_reconciliation() {
    let servers = Servers::with(TestRedis::own(&[]));
    let simulator = TestSimulator::new();
    let (first, other) = (CommandHarness::new(), CommandHarness::new());
    let run = RunId::new("wiped");
    let url = simulator.base_url();
    let work = ["worker", "--base-url", &url, "--data-root", "."];
    let budget = ["--budget-usd", "1", "--allow-volatile-redis"];
    let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", "wiped"];
    let enqueue = [&enqueue[..], &budget].concat();
    write_items(&first, ITEMS);
    write_items(&other, ITEMS);

    let aggregator = servers.start_aggregator(&first);
    let worker = servers.start(&first, &work);
    servers.juror(&first, &enqueue).exits(0);
    servers.await_report(&run, ITEMS.into());
    worker.stop();
    aggregator.stop();
    let billed = simulator.bill();

    servers.redis.command(&["FLUSHALL"]);
    servers
        .juror(&other, &enqueue)
        .exits(0)
        .stderr_contains(&["calls of run wiped are suspended until the ledger is reconciled"]);
    let mut worker = servers.start(&other, &work);
    worker.await_stderr("calls are suspended until the ledger is reconciled");
    assert_eq!(
        simulator.requests(),
        u64::from(ITEMS),
        "there is no call before the reconciliation"
    );
    let mut aggregator = servers.start_aggregator(&first);
    servers.await_report(&run, ITEMS.into());
    aggregator.await_stderr("the ledger is reconciled and calls are resumed");
    worker.stop();
    aggregator.stop();
    assert_eq!(simulator.requests(), u64::from(ITEMS), "journaled jobs are not judged again");
    assert_eq!(simulator.bill(), billed);
    assert_eq!(servers.ledger(&run).committed.pico(), billed);
}

#[test]
fn run_known_only_to_a_journal_is_not_new_after_reconciliation() {
    let servers = Servers::with(TestRedis::own(&[]));
    let simulator = TestSimulator::new();
    let (first, other) = (CommandHarness::new(), CommandHarness::new());
    let url = simulator.base_url();
    let enqueue = |harness: &CommandHarness, run: &str| {
        let flags = ["--budget-usd", "1", "--allow-volatile-redis", "--run-id", run];
        let own = ["enqueue", "manifest.jsonl", "--enable-llm-judge"];
        servers.juror(harness, &[&own[..], &flags].concat())
    };
    write_items(&first, ITEMS);
    write_items(&other, ITEMS);
    let aggregator = servers.start(&first, &["aggregate"]);
    let worker = servers.start(&first, &["worker", "--base-url", &url, "--data-root", "."]);
    enqueue(&first, "spent").exits(0);
    servers.await_report(&RunId::new("spent"), ITEMS.into());
    servers.redis.command(&["FLUSHALL"]);
    // Another run initializes the ledger.
    enqueue(&other, "next").exits(0);
    servers.await_report(&RunId::new("next"), ITEMS.into());
    enqueue(&other, "spent").exits(2).stderr_contains(&[
        "still counts in the ledger",
        "juror retry --allow-volatile-redis spent",
    ]);
    worker.stop();
    aggregator.stop();
}

#[test]
fn costs_of_ended_runs_count_in_the_month_of_an_emptied_redis() {
    let servers = Servers::with(TestRedis::own(&[]));
    let simulator = TestSimulator::new();
    let harness = CommandHarness::with_items(MONTH_ITEMS);
    let url = simulator.base_url();
    let aggregator = servers.start(&harness, &["aggregate"]);
    let worker = servers.start(&harness, &["worker", "--base-url", &url, "--data-root", "."]);
    let enqueue = |run: &str, cap: &str| {
        let own = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id"];
        let flags = [run, "--wait", "--allow-volatile-redis"];
        let mut command = servers.command(&harness, &[&own[..], &flags].concat());
        command.env("JUROR_BUDGET_MONTH_USD", cap);
        RunningCommand::start(command).finish()
    };
    enqueue("ended", "1000").exits(0);
    let billed = simulator.bill();
    let estimate = harness.juror(&["estimate", "manifest.jsonl", "--enable-llm-judge", "--json"]);
    let estimate = estimate.exits(0).json();
    let worst = pico(&estimate["models"][0]["worst_one_call_usd"]) / i64::from(MONTH_ITEMS);
    assert!(billed > worst, "{billed} and {worst}");

    servers.redis.command(&["FLUSHALL"]);
    // Budget for many calls in an unused month, and for none beside that run.
    let cap = Money::from_pico(billed + worst / 2).exact();
    enqueue("next", &cap).exits(3).stdout_contains(&["0 of 40 scored", "40 skipped"]);
    assert_eq!(simulator.bill(), billed);
    let shown = servers.juror(&harness, &["budget", "show", "--json"]).exits(0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let scopes = shown.as_array().unwrap();
    for period in ["day:", "month:"] {
        let of = |scope: &&Value| scope["scope"].as_str().unwrap().starts_with(period);
        let spent = pico(&scopes.iter().find(of).unwrap()["spent_usd"]);
        assert_eq!(spent, billed, "of the {period}");
    }
    worker.stop();
    aggregator.stop();
}

#[test]
fn run_with_a_lost_redis_account_keeps_its_cap() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let results_cost = Money::from_pico(3 * COST);
    let budget_usd = Some(results_cost + Money::from_pico(COST));
    let record = RunRecord { budget_usd, ..record(&servers, "capped", 4) };
    servers.announce(&record);
    let mut aggregator = servers.start_aggregator(&harness);
    servers.publish(&[0, 1, 2].map(|number| scored(&record, number)));
    let spent = || servers.ledger(&record.run_id).committed == results_cost;
    servers.await_value("account:run:capped", || spent().then_some(()));
    let account = format!("{}:account:run:capped", servers.redis.namespace);
    servers.redis.command(&["DEL", &account]);
    let call = |cost| AdmissionRequest {
        lease: LeaseId::new("another"),
        owner: OwnerId::new("worker"),
        run: record.run_id.clone(),
        endpoint: "judge".to_owned(),
        input_tokens: 1,
        max_output_tokens: 1,
        worst_cost: Money::from_pico(cost),
    };
    let admit = |cost| servers.run(servers.backend.try_admit(&call(cost)));
    assert!(matches!(admit(COST), Err(LedgerError::Unavailable(_))));
    // As each worker does periodically.
    servers.run(servers.backend.sweep()).unwrap();
    aggregator.await_stderr("the ledger is reconciled and calls are resumed");
    assert!(spent());
    let month = servers.run(servers.backend.ledger(&record.run_id)).unwrap().unwrap().month;
    assert_eq!(month.unwrap().committed, results_cost, "the month has lost nothing");
    assert!(matches!(admit(COST + 1), Ok(AdmissionDecision::NoBudget { .. })));
    assert!(matches!(admit(COST), Ok(AdmissionDecision::Admitted)));
    aggregator.stop();
}

#[test]
fn results_are_committed_while_redis_is_emptied_and_their_costs_are_restored() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::own(&[])));
    let budget = Some(Money::from_pico(100 * COST));
    let record = RunRecord { budget_usd: budget, ..record(&servers, "kept", 4) };
    servers.announce(&record);
    let mut aggregator = servers.start_aggregator(&harness);
    servers.publish(&[scored(&record, 0), scored(&record, 1)]);
    servers.await_progress(&record.run_id, |progress| progress.results == 2);
    servers.redis.command(&["FLUSHALL"]);
    servers.publish(&[scored(&record, 2)]);
    await_results(&harness, "kept", 3);
    assert_eq!(servers.status(&record.run_id), None);
    aggregator.await_stderr("to judge the remaining jobs, run: juror retry kept");
    // As `juror retry` does.
    servers.announce(&record);
    let committed = || servers.ledger(&record.run_id).committed;
    let reported =
        || Some(committed()).filter(|committed| *committed == Money::from_pico(3 * COST));
    servers.await_value("account:run:kept", reported);
    servers.publish(&[scored(&record, 3)]);
    servers.close(&record.run_id, 4);
    servers.await_report(&record.run_id, 4);
    aggregator.stop();
    let cost = &harness.report("kept")["cost"];
    assert_eq!(cost["total_usd"], Money::from_pico(4 * COST).to_string());
}

#[test]
fn redis_restart_is_reconciled_and_results_continue() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::durable()));
    let record = record(&servers, "restarted", 2);
    servers.announce(&record);
    let mut aggregator = servers.start_aggregator(&harness);
    servers.publish(&[scored(&record, 0)]);
    servers.await_progress(&record.run_id, |progress| progress.results == 1);
    servers.redis.kill();
    servers.publish(&[scored(&record, 1)]);
    await_results(&harness, "restarted", 2);
    servers.redis.start_again();
    aggregator.await_stderr("the ledger is reconciled and calls are resumed");
    servers.close(&record.run_id, 2);
    servers.await_report(&record.run_id, 2);
    aggregator.stop().stderr_contains(&["Redis was restarted"]);
    assert_eq!(servers.ledger(&record.run_id).committed, Money::from_pico(2 * COST));
}
