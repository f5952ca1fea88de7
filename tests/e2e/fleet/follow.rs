//! `--wait` and `juror retry`: a run of the fleet is followed to its end, and judged again. Workers
//! are played by the tests.

use super::servers::Servers;
use crate::harness::{CommandHarness, RunningCommand, pico, write_items};
use juror_ledger::redis::test_server::TestRedis;
use juror_types::{
    id::RunId,
    job::Job,
    outcome::{ErrorKind, JobError, JobResult, Outcome},
    stage::TokenExtraction,
};
use rustix::process::Signal;
use serde_json::Value;

fn aggregator(servers: &Servers, harness: &CommandHarness) -> RunningCommand {
    let mut aggregator = servers.start(harness, &["aggregate"]);
    aggregator.await_words("active: writing the results of fleet");
    aggregator
}

fn scored(job: &Job) -> Option<JobResult> {
    let mut result = JobResult::empty(job, Outcome::Scored);
    result.pipeline_success = Some(true);
    result.token_extraction = Some(TokenExtraction { accuracy: 0.82 });
    Some(result)
}

fn failed(job: &Job) -> Option<JobResult> {
    let mut result = JobResult::empty(job, Outcome::Failed);
    result.pipeline_success = Some(false);
    let message = "shots/0001.png: no such file".to_owned();
    result.error = Some(JobError { kind: ErrorKind::Image, message });
    Some(result)
}

/// The first of the items fails.
fn but_one(job: &Job) -> Option<JobResult> {
    if job.item.id == "item_0000" { failed(job) } else { scored(job) }
}

#[test]
fn a_run_is_followed_to_its_report() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::shared()));
    write_items(&harness, 10);
    let aggregator = aggregator(&servers, &harness);
    let flags = ["--run-id", "night", "--wait", "-o", "night.csv", "--priority", "high"];
    let enqueue = [&["enqueue", "manifest.jsonl"], &flags[..]].concat();
    let waiting = servers.start(&harness, &enqueue);
    servers.work(10, scored);
    let waited = waiting.finish().exits(0);
    waited.prints(&["10 of 10 scored"]).says(&["run night", "10/10 published", "10/10 done"]);
    let rows = std::fs::read_to_string(harness.path("night.csv")).unwrap();
    assert_eq!(rows.lines().count(), 11);

    // Following it again is the report again.
    let again = servers.juror(&harness, &["enqueue", "--wait", "--resume", "night", "--json"]);
    let report: Value = serde_json::from_str(&again.exits(0).stdout).unwrap();
    assert_eq!(report["coverage"]["scored"], 10);
    let compared = ["enqueue", "--wait", "--resume", "night", "--baseline", "night", "--json"];
    let report: Value =
        serde_json::from_str(&servers.juror(&harness, &compared).exits(0).stdout).unwrap();
    assert_eq!(report["comparison"]["paired"], 10);
    let missed = [&enqueue[..], &["--gate", "targets"]].concat();
    servers.juror(&harness, &missed).exits(100).prints(&["Token Accuracy"]);

    // What no run can be held against is refused before anything is published.
    harness.write(
        "changes.toml",
        "schema = 1\n[[rule]]\nmetric = \"changes.new.items\"\nat_most = 0\n",
    );
    let unanchored = ["enqueue", "manifest.jsonl", "--wait", "--gate", "changes.toml"];
    servers.juror(&harness, &unanchored).exits(2).says(&["changes.new.items", "--baseline RUN"]);
    aggregator.signal(Signal::TERM);
    aggregator.finish().exits(0);
}

#[test]
fn where_the_journal_is_elsewhere_counts_are_told() {
    let (harness, elsewhere) = (CommandHarness::new(), CommandHarness::new());
    let servers = Servers::with(TestRedis::shared());
    write_items(&harness, 4);
    let _aggregator = aggregator(&servers, &elsewhere);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "night", "--wait"];
    let waiting = servers.start(&harness, &enqueue);
    servers.work(4, but_one);
    let waited = waiting.finish().exits(3);
    waited.prints(&[
        "run night: 3 of 4 scored, 0 without output, 0 unscorable, 1 failed",
        "aggregator's runs",
    ]);
    let again = servers.juror(&harness, &[&enqueue[..], &["--json"]].concat()).exits(3);
    let told: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&told["scored"], &told["failed"]), (&Value::from(3), &Value::from(1)));
}

#[test]
fn who_stops_waiting_stops_nobody_else() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::shared()));
    write_items(&harness, 3);
    let _aggregator = aggregator(&servers, &harness);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "night", "--wait"];
    let mut waiting = servers.start(&harness, &enqueue);
    waiting.await_words("3 jobs of run night are published");
    waiting.signal(Signal::INT);
    let stopped = waiting.finish().exits(3).says(&["detached; the run continues"]);
    let line = stopped.stderr.lines().find_map(|line| line.split_once("follow it with: juror "));
    let follow: Vec<&str> = line.unwrap().1.split(' ').collect();
    let following = servers.start(&harness, &follow);
    servers.work(3, scored);
    following.finish().exits(0).prints(&["3 of 3 scored"]);
}

#[test]
fn a_pause_is_told_and_a_retry_ends_it() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::shared()));
    write_items(&harness, 5);
    let _aggregator = aggregator(&servers, &harness);
    let run = RunId::new("night");
    let mut waiting =
        servers.start(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night", "--wait"]);
    waiting.await_words("are published");
    servers.take_jobs(5);
    servers.run(servers.backend.pause_run(&run, "the key is refused")).unwrap();
    waiting.await_words("paused: the key is refused");
    waiting.await_words("resume with: juror retry night");
    let retried = servers.juror(&harness, &["retry", "night"]).exits(0);
    retried.says(&["5 jobs of run night are requeued"]);
    waiting.await_words("the run continues");
    let taken = servers.work(5, scored);
    assert!(taken.iter().all(|taken| taken.job.round == 0), "none had a result");
    waiting.finish().exits(0).prints(&["5 of 5 scored"]);
}

#[test]
fn a_cancelled_run_is_waited_for_and_tells_so() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::shared()));
    write_items(&harness, 3);
    let _aggregator = aggregator(&servers, &harness);
    let mut waiting =
        servers.start(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night", "--wait"]);
    waiting.await_words("are published");
    servers.juror(&harness, &["cancel", "night"]).exits(0);
    waiting.await_words("cancelled: jobs that are not judged yet are skipped");
    let follow = ["enqueue", "--wait", "--resume", "night"];
    let mut later = servers.start(&harness, &follow);
    later.await_words("cancelled: jobs that are not judged yet are skipped");
    servers.work(3, scored);
    waiting.finish().exits(3).prints(&["3 of 3 scored"]);
    later.finish().exits(3).prints(&["3 of 3 scored"]);
    servers.juror(&harness, &follow).exits(3).prints(&["3 of 3 scored"]);
    servers.juror(&harness, &["enqueue", "--resume", "night"]).exits(2).says(&["with --wait"]);
    let over = servers.juror(&harness, &["cancel", "night"]).exits(0);
    over.prints(&["run night is cancelled"]);
}

#[test]
fn what_was_not_scored_is_judged_again_by_the_fleet() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::shared()));
    write_items(&harness, 6);
    let _aggregator = aggregator(&servers, &harness);
    let run = RunId::new("night");
    servers.juror(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night"]).exits(0);
    let taken = servers.work(6, but_one);
    servers.await_report(&run, 6);
    // A letter of a job that is sent again anyway is of no more use.
    let dead = taken.into_iter().find(|taken| taken.job.item.id == "item_0000").unwrap();
    servers.poison(dead.job, "killed five workers");

    let local = harness.juror(&["run", "--resume", "night"]).exits(2);
    local.says(&["is the fleet's", "juror retry night"]);
    let flags = ["run", "manifest.jsonl", "--run-id", "night"];
    harness.juror(&flags).exits(2).says(&["juror retry night"]);
    servers.juror(&harness, &["retry", "night", "-j", "3"]).exits(2).says(&["omit these flags"]);
    let elsewhere = ["retry", "night", "--namespace", "elsewhere"];
    servers.juror(&harness, &elsewhere).exits(2).says(&["belongs to the fleet"]);

    let waiting = servers.start(&harness, &["retry", "night", "--wait", "--priority", "high"]);
    let again = servers.work(1, scored);
    assert_eq!((again[0].job.item.id.as_str(), again[0].job.round), ("item_0000", 1));
    waiting.finish().exits(0).prints(&["6 of 6 scored"]).says(&["1 jobs of run night"]);
    let known = servers.status(&run).unwrap();
    assert_eq!((known.expected, known.jobs()), (Some(7), 6));
    assert!(servers.run(servers.queues().dead_letters()).unwrap().is_empty());

    // Repeating it changes nothing, also where the journal is not to be seen.
    let complete = servers.juror(&harness, &["retry", "night"]).exits(0);
    assert!(!complete.stderr.contains("follow it"), "{}", complete.stderr);
    complete.says(&["run night is complete: all its 6 jobs are scored"]);
    let elsewhere = ["retry", "night", "--runs-dir", "empty"];
    servers.juror(&harness, &elsewhere).exits(0).says(&["jobs of run night are requeued"]);
    harness.juror(&["run", "manifest.jsonl", "--run-id", "local"]).exits(0);
    servers.juror(&harness, &["retry", "local", "--wait"]).exits(2).says(&["this machine"]);
    servers.juror(&harness, &["retry", "none"]).exits(2).says(&["run none is unknown"]);
    harness.juror(&["retry", "none"]).exits(2).says(&["no run \"none\" in runs"]);
}

#[test]
fn a_report_reads_the_fleets_ledger_and_says_when_it_cannot() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::shared()));
    write_items(&harness, 2);
    let aggregator = aggregator(&servers, &harness);
    let flags = ["--run-id", "night", "--budget-usd", "3", "--allow-volatile-redis"];
    let enqueue = [&["enqueue", "manifest.jsonl", "--wait", "--enable-llm-judge"], &flags[..]];
    let waiting = servers.start(&harness, &enqueue.concat());
    servers.work(2, failed);
    waiting.finish().exits(3);
    aggregator.signal(Signal::TERM);
    aggregator.finish().exits(0);
    let raise = ["enqueue", "--resume", "night", "--budget-usd", "4", "--allow-volatile-redis"];
    servers.juror(&harness, &raise).exits(0);
    let report = servers.juror(&harness, &["report", "night", "--json"]).exits(3);
    assert_eq!(report.stderr, "");
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(pico(&report["cost"]["budget_usd"]), 4_000_000_000_000);
    let alone = harness.juror(&["report", "night", "--json"]).exits(3);
    alone.says(&["the ledger of fleet", "cannot be read", "--redis URL"]);
    let listed = servers.juror(&harness, &["runs", "--json"]).exits(0);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed[0]["fleet"], servers.redis.namespace);
}

#[test]
fn a_run_that_is_cancelled_in_its_second_round_counts_its_jobs_once() {
    let (harness, servers) = (CommandHarness::new(), Servers::with(TestRedis::shared()));
    write_items(&harness, 4);
    let _aggregator = aggregator(&servers, &harness);
    servers.juror(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night"]).exits(0);
    servers.work(4, failed);
    servers.await_report(&RunId::new("night"), 4);
    servers.juror(&harness, &["retry", "night"]).exits(0);
    servers.await_progress(&RunId::new("night"), |progress| progress.results == 4);
    let cancelled = servers.juror(&harness, &["cancel", "night"]).exits(0);
    cancelled.prints(&["4 of 4 planned jobs were published", "4 have a result"]);
}
