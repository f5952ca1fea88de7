//! `juror retry`: lost messages are sent again without being billed again.

use super::{servers::Servers, worker_fixture::WorkerFixture};
use crate::harness::{CommandHarness, Finished, RunningCommand};
use juror_ledger::{admission::Budget, redis::test_server::TestRedis};
use juror_services::wait::await_file;
use juror_types::{id::RunId, outcome::JobResult, usage::Money};
use serde_json::{Value, json};

const ITEMS: u32 = 6;

/// Run with every job judged and no result left in the queue.
fn judged_in_vain() -> (WorkerFixture, RunningCommand, Vec<JobResult>) {
    let fixture = WorkerFixture::new(ITEMS);
    let flags = ["enqueue", "manifest.jsonl", "--run-id", "night", "--enable-llm-judge"];
    fixture.servers.juror(&fixture.harness, &flags).exits(0);
    let worker = fixture.start(&[]);
    let results = fixture.servers.take_results(ITEMS as usize);
    (fixture, worker, results)
}

#[test]
fn results_lost_by_the_broker_are_resent_without_a_call() {
    let (fixture, _worker, results) = judged_in_vain();
    let WorkerFixture { servers, harness, simulator, .. } = &fixture;
    let _aggregator = servers.start_aggregator(harness);
    servers.publish(&results[..2]);
    servers.await_progress(&RunId::new("night"), |progress| progress.results == 2);

    let again = servers.juror(harness, &["enqueue", "--resume", "night"]).exits(0);
    again.stderr_contains(&["published already", "republish its missing jobs: juror retry night"]);
    let retried = servers.juror(harness, &["retry", "night", "--wait"]).exits(0);
    let retried = retried
        .stderr_contains(&["4 jobs of run night are requeued", "4 scored jobs may be missing"]);
    retried.stdout_contains(&["6 of 6 scored"]);
    assert_eq!(simulator.count("billed_calls"), u64::from(ITEMS));
    let journal = harness.journal("night");
    assert!(journal.iter().all(|result| result["round"] == 0), "{journal:?}");
    assert_eq!(servers.status(&RunId::new("night")).unwrap().expected, Some(u64::from(ITEMS)));
}

#[test]
fn stopped_retry_is_continued_by_a_retry() {
    let (fixture, _worker, _results) = judged_in_vain();
    let WorkerFixture { servers, harness, .. } = &fixture;
    let night = RunId::new("night");
    let resume = || servers.juror(harness, &["enqueue", "--resume", "night"]);
    // As a retry does before its first job.
    servers.announce(&servers.status(&night).unwrap().record);
    servers.run(servers.backend.mark_retrying(&night)).unwrap();
    let refused = resume().exits(2);
    refused.stderr_contains(&[
        "a retry of run night has not published every job again",
        "juror retry night",
    ]);
    assert_eq!(servers.status(&night).unwrap().expected, None, "it stays open");
    servers.juror(harness, &["retry", "night"]).exits(0);
    let status = servers.status(&night).unwrap();
    assert!(status.expected.is_some() && !status.retrying);
    resume().exits(0).stderr_contains(&["published already"]);
}

#[test]
fn complete_run_has_nothing_to_cancel() {
    let (fixture, _worker, results) = judged_in_vain();
    let WorkerFixture { servers, harness, .. } = &fixture;
    let night = RunId::new("night");
    let says_so = || {
        let cancelled = servers.juror(harness, &["cancel", "night"]).exits(0);
        cancelled.stdout_contains(&[
            "run night is complete, nothing to cancel",
            "6 of 6 jobs have a result, 6 of them scored",
        ]);
        let reported = servers.juror(harness, &["cancel", "night", "--json"]).exits(0).stdout;
        let reported: Value = serde_json::from_str(&reported).unwrap();
        assert_eq!((&reported["cancelled"], &reported["complete"]), (&false.into(), &true.into()));
        assert!(!servers.status(&night).unwrap().cancelled);
    };
    // Every job is judged and stored, and no aggregator has seen it.
    assert_eq!(servers.status(&night).unwrap().progress, None);
    says_so();

    // The journal has all results, and Redis has lost both the stored results and the reported
    // progress.
    let aggregator = servers.start_aggregator(harness);
    servers.publish(&results);
    servers.await_report(&night, u64::from(ITEMS));
    aggregator.stop();
    let namespace = &servers.redis.namespace;
    servers.redis.command(&["DEL", &format!("{namespace}:results:night")]);
    servers.redis.command(&["HDEL", &format!("{namespace}:run:night"), "progress"]);
    says_so();
}

#[test]
fn missing_journal_requests_all_results_unless_the_aggregator_reported_them() {
    let (fixture, _worker, results) = judged_in_vain();
    let WorkerFixture { servers, harness, simulator, .. } = &fixture;
    let elsewhere = CommandHarness::new();
    let _aggregator = servers.start_aggregator(&elsewhere);
    servers.publish(&results[..2]);
    servers.await_progress(&RunId::new("night"), |progress| progress.results == 2);

    let retry = ["retry", "night", "--wait", "--json"];
    let retried = servers.juror(harness, &retry).exits(0);
    let retried = retried.stderr_contains(&["6 jobs of run night are requeued"]);
    let reported = retried.json();
    assert_eq!(reported["scored"], ITEMS);

    // All of them are reported now, so nothing is left to send.
    servers
        .juror(harness, &retry)
        .exits(0)
        .stderr_contains(&["run night is complete: all its 6 jobs"]);
    assert_eq!(simulator.count("billed_calls"), u64::from(ITEMS));
}

#[test]
fn changed_cap_is_reported_and_kept_until_the_next_change() {
    let (harness, servers) = (CommandHarness::with_items(2), Servers::with(TestRedis::durable()));
    let run = RunId::new("night");
    let _aggregator = servers.start_aggregator(&harness);
    let flags = ["--run-id", "night", "--enable-llm-judge", "--budget-usd", "0.05"];
    servers.juror(&harness, &[&["enqueue", "manifest.jsonl"], &flags[..]].concat()).exits(0);
    let stands = |cap: &str| {
        let cap: Money = cap.parse().unwrap();
        assert_eq!(servers.ledger(&run).budget, Budget::Cap(cap));
        assert_eq!(servers.status(&run).unwrap().record.budget_usd, Some(cap));
        let file = harness.path("runs/night/run.json");
        await_file(&file, |file| {
            let Ok(text) = std::fs::read_to_string(file) else { return false };
            let record: Value = serde_json::from_str(&text).unwrap();
            record["budget_usd"] == cap.to_string()
        });
    };
    stands("0.05");
    let raise = ["enqueue", "--resume", "night", "--budget-usd", "0.10"];
    let raised = servers.juror(&harness, &raise).exits(0);
    raised.stderr_contains(&["the budget of run night is now $0.100000000; before: $0.050000000"]);
    stands("0.10");

    // Neither a plain retry nor a setting changes it.
    let mut retry = servers.command(&harness, &["retry", "night"]);
    retry.env("JUROR_BUDGET_RUN_USD", "7");
    let retried = Finished::from(retry.output().unwrap()).exits(0);
    assert!(!retried.stderr.contains("the budget of run"), "{}", retried.stderr);
    stands("0.10");
    servers.redis.command(&["DEL", &format!("{}:run:night", servers.redis.namespace)]);
    servers.juror(&harness, &["retry", "night"]).exits(0);
    stands("0.10");
    let raised = servers.juror(&harness, &["retry", "night", "--budget-usd", "0.2"]).exits(0);
    raised.stderr_contains(&["the budget of run night is now $0.200000000"]);
    stands("0.20");

    let other = servers.juror(&harness, &["retry", "night", "--lane", "batch"]).exits(0);
    other.stderr_contains(&["calls of run night are bought in the lane batch from now on"]);
    assert_eq!(servers.status(&run).unwrap().record.lane.name(), "batch");
}

#[test]
fn run_with_changed_code_of_scored_items_is_neither_continued_nor_retried() {
    let fixture = WorkerFixture::new(2);
    let WorkerFixture { servers, harness, .. } = &fixture;
    let manifest: String = (0..2)
        .map(|number| {
            harness.write(&format!("code/{number}.html"), format!("<b>Number {number}</b>"));
            let line = json!({ "id": format!("item_{number}"), "generated_code": format!("code/{number}.html"),
                               "screenshot": format!("shots/{number:04}.png") });
            format!("{line}\n")
        })
        .collect();
    harness.write("manifest.jsonl", manifest);
    let _aggregator = servers.start_aggregator(harness);
    let _worker = fixture.start(&[]);
    let enqueue =
        ["enqueue", "manifest.jsonl", "--run-id", "night", "--enable-llm-judge", "--wait"];
    for _ in 0..2 {
        servers.juror(harness, &enqueue).exits(0).stdout_contains(&["2 of 2 scored"]);
    }
    harness.write("code/1.html", "<i>Number 1</i>");
    for again in [&enqueue[..], &["retry", "night", "--wait"]] {
        let refused = servers.juror(harness, again).exits(2);
        refused.stderr_contains(&["generated_code of item item_1 (code/1.html) changed"]);
    }
}
