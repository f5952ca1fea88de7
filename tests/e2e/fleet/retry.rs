//! `juror retry`: what got lost on its way comes again, without being paid again.

use super::{
    servers::{Servers, await_some},
    worker::WorkerFixture,
};
use crate::harness::{CommandHarness, Finished, RunningCommand, write_items};
use juror_ledger::{admission::Budget, redis::test_server::TestRedis};
use juror_types::{id::RunId, outcome::JobResult, usage::Money};
use rustix::process::Signal;
use serde_json::Value;

const ITEMS: u32 = 6;

fn aggregator(servers: &Servers, harness: &CommandHarness) -> RunningCommand {
    let mut aggregator = servers.start(harness, &["aggregate"]);
    aggregator.await_words("active: writing the results of fleet");
    aggregator
}

/// A run of which every job is judged, and no result is in the queue any more.
fn judged_in_vain() -> (WorkerFixture, RunningCommand, Vec<JobResult>) {
    let fixture = WorkerFixture::new(ITEMS);
    let flags = ["enqueue", "manifest.jsonl", "--run-id", "night", "--enable-llm-judge"];
    fixture.servers.juror(&fixture.harness, &flags).exits(0);
    let worker = fixture.start(&[]);
    let results = fixture.servers.take_results(ITEMS as usize);
    (fixture, worker, results)
}

#[test]
fn results_that_the_broker_lost_come_again_and_nobody_is_called() {
    let (fixture, _worker, results) = judged_in_vain();
    let WorkerFixture { servers, harness, simulator, .. } = &fixture;
    let _aggregator = aggregator(servers, harness);
    servers.publish(&results[..2]);
    servers.await_progress(&RunId::new("night"), |progress| progress.results == 2);

    let again = servers.juror(harness, &["enqueue", "--resume", "night"]).exits(0);
    again.says(&["published already", "republish its missing jobs: juror retry night"]);
    let retried = servers.juror(harness, &["retry", "night", "--wait"]).exits(0);
    let retried =
        retried.says(&["4 jobs of run night are requeued", "4 scored jobs may be missing"]);
    retried.prints(&["6 of 6 scored"]);
    assert_eq!(simulator.count("billed_calls"), u64::from(ITEMS));
    let journal = harness.journal("night");
    assert!(journal.iter().all(|result| result["round"] == 0), "{journal:?}");
    assert_eq!(servers.status(&RunId::new("night")).unwrap().expected, Some(u64::from(ITEMS)));
}

#[test]
fn nothing_is_left_to_cancel_once_every_job_has_its_result_whoever_has_told_of_it() {
    let (fixture, _worker, results) = judged_in_vain();
    let WorkerFixture { servers, harness, .. } = &fixture;
    let night = RunId::new("night");
    let says_so = || {
        let cancelled = servers.juror(harness, &["cancel", "night"]).exits(0);
        cancelled.prints(&[
            "run night is complete, nothing to cancel",
            "6 of 6 jobs have a result, 6 of them scored",
        ]);
        let told = servers.juror(harness, &["cancel", "night", "--json"]).exits(0).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!((&told["cancelled"], &told["complete"]), (&false.into(), &true.into()));
        assert!(!servers.status(&night).unwrap().cancelled);
    };
    // All is judged and stored, and no aggregator has seen any of it.
    assert_eq!(servers.status(&night).unwrap().progress, None);
    says_so();

    // The journal has it all, and Redis has forgotten both what is stored and what was told.
    let aggregator = aggregator(servers, harness);
    servers.publish(&results);
    servers.await_report(&night, u64::from(ITEMS));
    aggregator.signal(Signal::TERM);
    aggregator.finish().exits(0);
    let namespace = &servers.redis.namespace;
    servers.redis.command(&["DEL", &format!("{namespace}:results:night")]);
    servers.redis.command(&["HDEL", &format!("{namespace}:run:night"), "progress"]);
    says_so();
}

#[test]
fn without_the_journal_all_are_sent_for_if_the_aggregator_told_of_fewer() {
    let (fixture, _worker, results) = judged_in_vain();
    let WorkerFixture { servers, harness, simulator, .. } = &fixture;
    let elsewhere = CommandHarness::new();
    let _aggregator = aggregator(servers, &elsewhere);
    servers.publish(&results[..2]);
    servers.await_progress(&RunId::new("night"), |progress| progress.results == 2);

    let retry = ["retry", "night", "--wait", "--json"];
    let retried = servers.juror(harness, &retry).exits(0);
    let retried = retried.says(&["6 jobs of run night are requeued"]);
    let told: Value = serde_json::from_str(&retried.stdout).unwrap();
    assert_eq!(told["scored"], ITEMS);

    // Now that it has told of all of them, nothing is left to send.
    servers.juror(harness, &retry).exits(0).says(&["run night is complete: all its 6 jobs"]);
    assert_eq!(simulator.count("billed_calls"), u64::from(ITEMS));
}

#[test]
fn a_changed_cap_is_told_and_stays_until_another_is_given() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::durable()));
    write_items(&harness, 2);
    let run = RunId::new("night");
    let _aggregator = aggregator(&servers, &harness);
    let flags = ["--run-id", "night", "--enable-llm-judge", "--budget-usd", "0.05"];
    servers.juror(&harness, &[&["enqueue", "manifest.jsonl"], &flags[..]].concat()).exits(0);
    let stands = |cap: &str| {
        let cap: Money = cap.parse().unwrap();
        assert_eq!(servers.ledger(&run).budget, Budget::Cap(cap));
        assert_eq!(servers.status(&run).unwrap().record.budget_usd, Some(cap));
        let file = harness.path("runs/night/run.json");
        let written = || {
            let text = std::fs::read_to_string(&file).ok()?;
            let record: Value = serde_json::from_str(&text).unwrap();
            Some(record["budget_usd"].clone()).filter(|written| *written == cap.to_string())
        };
        await_some(written, &format!("a run.json with {cap}"));
    };
    stands("0.05");
    let raise = ["enqueue", "--resume", "night", "--budget-usd", "0.10"];
    let raised = servers.juror(&harness, &raise).exits(0);
    raised.says(&["the budget of run night is now $0.100000000; before: $0.050000000"]);
    stands("0.10");

    // Neither a plain retry nor a setting has a say in it.
    let mut retry = servers.command(&harness, &["retry", "night"]);
    retry.env("JUROR_BUDGET_RUN_USD", "7");
    let retried = Finished::from(retry.output().unwrap()).exits(0);
    assert!(!retried.stderr.contains("the budget of run"), "{}", retried.stderr);
    stands("0.10");
    servers.redis.command(&["DEL", &format!("{}:run:night", servers.redis.namespace)]);
    servers.juror(&harness, &["retry", "night"]).exits(0);
    stands("0.10");
    let raised = servers.juror(&harness, &["retry", "night", "--budget-usd", "0.2"]).exits(0);
    raised.says(&["the budget of run night is now $0.200000000"]);
    stands("0.20");
}
