//! `--wait` and `juror retry`: a fleet run is followed to its end and retried. The tests act as the
//! workers.

mod gates;

use super::servers::Servers;
use crate::harness::{CommandHarness, pico, write_items};
use juror_types::{
    id::RunId,
    job::Job,
    outcome::{ErrorKind, JobError, JobResult, Outcome},
    stage::TokenExtraction,
};
use rustix::process::Signal;
use serde_json::Value;

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
fn follow_ends_with_the_report() {
    let (harness, servers) = (CommandHarness::with_items(10), Servers::shared());
    let aggregator = servers.start_aggregator(&harness);
    let flags = ["--run-id", "night", "--wait", "-o", "night.csv", "--priority", "high"];
    let enqueue = [&["enqueue", "manifest.jsonl"], &flags[..]].concat();
    let waiting = servers.start(&harness, &enqueue);
    servers.work(10, scored);
    let waited = waiting.finish().exits(0);
    waited.stdout_contains(&["10 of 10 scored"]).stderr_contains(&[
        "run night",
        "10/10 published",
        "10/10 done",
    ]);
    let rows = std::fs::read_to_string(harness.path("night.csv")).unwrap();
    assert_eq!(rows.lines().count(), 11);

    // Following it again prints the report again.
    let again = servers.juror(&harness, &["enqueue", "--wait", "--resume", "night", "--json"]);
    let report = again.exits(0).json();
    assert_eq!(report["coverage"]["scored"], 10);
    let compared = ["enqueue", "--wait", "--resume", "night", "--baseline", "night", "--json"];
    let report = servers.juror(&harness, &compared).exits(0).json();
    assert_eq!(report["comparison"]["paired"], 10);
    // Flags of a comparison are for the baseline that the run has recorded.
    let strictly = ["enqueue", "--wait", "--resume", "night", "--strict"];
    servers.juror(&harness, &strictly).exits(0);
    // Settings decide one command, and flags the run.
    harness.write("juror.toml", "[run]\ngate = \"targets\"\n");
    let follow = ["enqueue", "--wait", "--resume", "night"];
    servers.juror(&harness, &follow).exits(100);
    harness.write("juror.toml", "");
    servers.juror(&harness, &follow).exits(0);
    let missed = [&enqueue[..], &["--gate", "targets"]].concat();
    servers.juror(&harness, &missed).exits(100).stdout_contains(&["Token Accuracy"]);

    // An invalid baseline is refused before publishing.
    harness.write(
        "changes.toml",
        "schema = 1\n[[rule]]\nmetric = \"changes.new.items\"\nat_most = 0\n",
    );
    let unanchored = ["enqueue", "manifest.jsonl", "--wait", "--gate", "changes.toml"];
    servers
        .juror(&harness, &unanchored)
        .exits(2)
        .stderr_contains(&["changes.new.items", "--baseline RUN"]);
    aggregator.stop();
}

#[test]
fn follow_without_the_journal_prints_counts() {
    let (harness, elsewhere) = (CommandHarness::new(), CommandHarness::new());
    let servers = Servers::shared();
    write_items(&harness, 4);
    let _aggregator = servers.start_aggregator(&elsewhere);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "night", "--wait"];
    let waiting = servers.start(&harness, &enqueue);
    servers.work(4, but_one);
    let waited = waiting.finish().exits(3);
    waited.stdout_contains(&["run night: 3 of 4 scored (75%), 1 failed", "aggregator's runs"]);
    let again = servers.juror(&harness, &[&enqueue[..], &["--json"]].concat()).exits(3);
    let reported = again.json();
    assert_eq!((&reported["scored"], &reported["failed"]), (&Value::from(3), &Value::from(1)));

    // Another fleet's aggregator works here: without the journal, a gate is not met by counts.
    std::fs::create_dir_all(harness.path("runs")).unwrap();
    harness.write("runs/.aggregator.lock", "");
    let gated = servers.juror(&harness, &[&enqueue[..], &["--gate", "targets"]].concat());
    gated.exits(1).stderr_contains(&["runs/night"]);
}

#[test]
fn detaching_does_not_stop_the_run() {
    let (harness, servers) = (CommandHarness::with_items(3), Servers::shared());
    let _aggregator = servers.start_aggregator(&harness);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "night", "--wait", "--gate", "targets"];
    let mut waiting = servers.start(&harness, &enqueue);
    waiting.await_stderr("3 jobs of run night are published");
    waiting.signal(Signal::INT);
    let stopped = waiting.finish().exits(3).stderr_contains(&["detached; the run continues"]);
    let line = stopped.stderr.lines().find_map(|line| line.split_once("follow it with: juror "));
    let follow: Vec<&str> = line.unwrap().1.split(' ').collect();
    assert!(!follow.contains(&"--gate"), "{follow:?}");
    let following = servers.start(&harness, &follow);
    servers.work(3, scored);
    // The recorded gate is not met by three items.
    following.finish().exits(100).stdout_contains(&["3 of 3 scored"]);
    servers.juror(&harness, &["report", "night"]).exits(100);
    let none = [&follow[..], &["--gate", ""]].concat();
    let changed = "the gate of run night is now none; before: targets";
    servers.juror(&harness, &none).exits(0).stderr_contains(&[changed]);
}

#[test]
fn pause_is_reported_and_ended_by_a_retry() {
    let (harness, servers) = (CommandHarness::with_items(5), Servers::shared());
    let _aggregator = servers.start_aggregator(&harness);
    let run = RunId::new("night");
    let mut waiting =
        servers.start(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night", "--wait"]);
    waiting.await_stderr("are published");
    servers.take_jobs(5);
    servers.run(servers.backend.pause_run(&run, "the key is refused")).unwrap();
    waiting.await_stderr("paused: the key is refused");
    waiting.await_stderr("resume with: juror retry night");
    let retried = servers.juror(&harness, &["retry", "night"]).exits(0);
    retried.stderr_contains(&["5 jobs of run night are requeued"]);
    waiting.await_stderr("the run continues");
    let taken = servers.work(5, scored);
    assert!(taken.iter().all(|taken| taken.job.round == 0), "none had a result");
    waiting.finish().exits(0).stdout_contains(&["5 of 5 scored"]);
}

#[test]
fn follow_waits_for_a_cancelled_run_and_reports_it() {
    let (harness, servers) = (CommandHarness::with_items(3), Servers::shared());
    let _aggregator = servers.start_aggregator(&harness);
    let mut waiting =
        servers.start(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night", "--wait"]);
    waiting.await_stderr("are published");
    servers.juror(&harness, &["cancel", "night"]).exits(0);
    waiting.await_stderr("cancelled: jobs that are not judged yet are skipped");
    let follow = ["enqueue", "--wait", "--resume", "night"];
    let mut later = servers.start(&harness, &follow);
    later.await_stderr("cancelled: jobs that are not judged yet are skipped");
    servers.work(3, scored);
    waiting.finish().exits(3).stdout_contains(&["3 of 3 scored"]);
    later.finish().exits(3).stdout_contains(&["3 of 3 scored"]);
    servers.juror(&harness, &follow).exits(3).stdout_contains(&["3 of 3 scored"]);
    servers
        .juror(&harness, &["enqueue", "--resume", "night"])
        .exits(2)
        .stderr_contains(&["with --wait"]);
    let over = servers.juror(&harness, &["cancel", "night"]).exits(0);
    over.stdout_contains(&["run night is cancelled"]);
}

#[test]
fn report_reads_the_fleet_ledger_and_reports_its_absence() {
    let (harness, servers) = (CommandHarness::with_items(2), Servers::shared());
    let aggregator = servers.start_aggregator(&harness);
    let flags = ["--run-id", "night", "--budget-usd", "3", "--allow-volatile-redis"];
    let enqueue = [&["enqueue", "manifest.jsonl", "--wait", "--enable-llm-judge"], &flags[..]];
    let waiting = servers.start(&harness, &enqueue.concat());
    servers.work(2, failed);
    waiting.finish().exits(3);
    aggregator.stop();
    let raise = ["enqueue", "--resume", "night", "--budget-usd", "4", "--allow-volatile-redis"];
    servers.juror(&harness, &raise).exits(0);
    let report = servers.juror(&harness, &["report", "night", "--json"]).exits(3);
    assert_eq!(report.stderr, "");
    let report = report.json();
    assert_eq!(pico(&report["cost"]["budget_usd"]), 4_000_000_000_000);
    let alone = harness.juror(&["report", "night", "--json"]).exits(3);
    alone.stderr_contains(&["the ledger of fleet", "cannot be read", "--redis URL"]);
    let listed = servers.juror(&harness, &["runs", "--json"]).exits(0);
    let listed = listed.json();
    assert_eq!(listed[0]["fleet"], servers.redis.namespace);
}

#[test]
fn run_cancelled_in_its_second_round_counts_jobs_once() {
    let (harness, servers) = (CommandHarness::with_items(4), Servers::shared());
    let _aggregator = servers.start_aggregator(&harness);
    servers.juror(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night"]).exits(0);
    servers.work(4, failed);
    servers.await_report(&RunId::new("night"), 4);
    servers.juror(&harness, &["retry", "night"]).exits(0);
    servers.await_progress(&RunId::new("night"), |progress| progress.results == 4);
    let cancelled = servers.juror(&harness, &["cancel", "night"]).exits(0);
    cancelled.stdout_contains(&["4 of 4 planned jobs were published", "4 have a result"]);
}

#[test]
fn unscored_jobs_are_retried_by_the_fleet() {
    let (harness, servers) = (CommandHarness::with_items(6), Servers::shared());
    let _aggregator = servers.start_aggregator(&harness);
    let run = RunId::new("night");
    servers.juror(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night"]).exits(0);
    let taken = servers.work(6, but_one);
    servers.await_report(&run, 6);
    // The dead letter of a job that is retried anyway is obsolete.
    let dead = taken.into_iter().find(|taken| taken.job.item.id == "item_0000").unwrap();
    servers.poison(dead.job, "killed five workers");

    let local = harness.juror(&["run", "--resume", "night"]).exits(2);
    local.stderr_contains(&["is the fleet's", "juror retry night"]);
    let flags = ["run", "manifest.jsonl", "--run-id", "night"];
    harness.juror(&flags).exits(2).stderr_contains(&["juror retry night"]);
    servers
        .juror(&harness, &["retry", "night", "-j", "3"])
        .exits(2)
        .stderr_contains(&["omit these flags"]);
    let elsewhere = ["retry", "night", "--namespace", "elsewhere"];
    servers.juror(&harness, &elsewhere).exits(2).stderr_contains(&["belongs to the fleet"]);

    let waiting = servers.start(&harness, &["retry", "night", "--wait", "--priority", "high"]);
    let again = servers.work(1, scored);
    assert_eq!((again[0].job.item.id.as_str(), again[0].job.round), ("item_0000", 1));
    waiting
        .finish()
        .exits(0)
        .stdout_contains(&["6 of 6 scored"])
        .stderr_contains(&["1 jobs of run night"]);
    let known = servers.status(&run).unwrap();
    assert_eq!((known.expected, known.jobs()), (Some(7), 6));
    assert!(servers.run(servers.queues().dead_letters()).unwrap().is_empty());

    // Repeating it changes nothing, even without access to the journal.
    let complete = servers.juror(&harness, &["retry", "night"]).exits(0);
    assert!(!complete.stderr.contains("follow it"), "{}", complete.stderr);
    complete.stderr_contains(&["run night is complete: all its 6 jobs are scored"]);
    let elsewhere = ["retry", "night", "--runs-dir", "empty"];
    servers
        .juror(&harness, &elsewhere)
        .exits(0)
        .stderr_contains(&["jobs of run night are requeued"]);
    harness.juror(&["run", "manifest.jsonl", "--run-id", "local"]).exits(0);
    servers
        .juror(&harness, &["retry", "local", "--wait"])
        .exits(2)
        .stderr_contains(&["this machine"]);
    servers.juror(&harness, &["retry", "none"]).exits(2).stderr_contains(&["run none is unknown"]);
    harness.juror(&["retry", "none"]).exits(2).stderr_contains(&["no run \"none\" in runs"]);
}
