//! Runs that are stopped, killed or cancelled while they are published.

use super::*;
use rustix::process::Signal;

const PAUSES: &str = "publishing pauses until it accepts messages";
/// More messages than a priority queue with a limit of five accepts before the broker reports that
/// it is full: the unconfirmed window, and some.
const MANY: usize = 3_000;

/// Dataset of this many items of one screenshot.
fn write_lines(harness: &CommandHarness, count: usize) {
    harness.write("1.png", "");
    let line = |id| json!({"id": format!("{id}"), "screenshot": "1.png", "quality_score": 0.9});
    let lines: String = (0..count).map(|id| format!("{}\n", line(id))).collect();
    harness.write("manifest.jsonl", lines);
}

#[test]
fn interrupted_enqueue_continues() {
    let (harness, servers) = (CommandHarness::new(), Servers::cramped(5));
    write_lines(&harness, MANY);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "shaken"];
    let mut killed = servers.start(&harness, &enqueue);
    killed.await_stderr(PAUSES);
    killed.kill();
    assert_eq!(status(&servers, "shaken").expected, None);

    let mut stopped = servers.start(&harness, &enqueue);
    stopped.await_stderr(PAUSES);
    stopped.signal(Signal::INT);
    let stopped = stopped.finish().exits(3);
    assert_eq!(stopped.stdout, "shaken\n", "the id is printed before any failure");
    let line =
        stopped.stderr.lines().find_map(|line| line.split_once("resume with: juror ")).unwrap();
    assert_eq!(line.1, "enqueue --resume shaken");
    assert!(stopped.stderr.contains("juror cancel shaken"), "{}", stopped.stderr);
    assert_eq!(status(&servers, "shaken").expected, None);

    let again: Vec<&str> = line.1.split(' ').collect();
    let going_on = servers.start(&harness, &again);
    let taken = servers.take_jobs(MANY);
    going_on.finish().exits(0);
    assert_eq!(ids(&taken).len(), MANY);
    assert!(taken.iter().any(|taken| taken.times > 1), "duplicates are the workers' to absorb");
    assert_eq!(status(&servers, "shaken").expected, Some(MANY as u64));
}

#[test]
fn resumed_run_applies_and_reports_a_new_deadline() {
    let (harness, servers) = (CommandHarness::new(), Servers::cramped(5));
    let deadline = |run: &str| status(&servers, run).record.deadline.unwrap();
    write_items(&harness, 2);
    let first = ["enqueue", "manifest.jsonl", "--run-id", "whole", "--deadline", "60m"];
    servers.juror(&harness, &first).exits(0);
    let before = deadline("whole");
    let again = ["enqueue", "--resume", "whole", "--deadline", "300m"];
    let message = format!("; before: {before}");
    servers
        .juror(&harness, &again)
        .exits(0)
        .stderr_contains(&["the deadline of run whole is", &message]);
    assert!(deadline("whole") > before);
    servers.juror(&harness, &again[..3]).exits(0);
    assert!(deadline("whole") > before, "without a word it stays");
    servers.take_jobs(2);

    write_lines(&harness, MANY);
    let half = ["enqueue", "manifest.jsonl", "--run-id", "half"];
    let mut running = servers.start(&harness, &[&half[..], &["--deadline", "60m"]].concat());
    running.await_stderr(PAUSES);
    running.kill();
    let before = deadline("half");
    let mut again = servers.start(&harness, &[&half[..], &["--deadline", "300m"]].concat());
    again.await_stderr(&format!("; before: {before}"));
    assert!(deadline("half") > before);
    again.kill();
}

#[test]
fn run_is_cancelled_during_publishing() {
    let (harness, servers) = (CommandHarness::new(), Servers::cramped(5));
    write_lines(&harness, MANY);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "doomed"];
    let mut running = servers.start(&harness, &enqueue);
    running.await_stderr(PAUSES);
    let cancelled = servers.juror(&harness, &["cancel", "doomed"]).exits(0);
    cancelled.stdout_contains(&[
        "run doomed is cancelled",
        "of 3000 planned jobs were published",
        "0 have a result",
    ]);
    running.finish().exits(3).stderr_contains(&["was cancelled while it was published"]);
    let known = status(&servers, "doomed");
    let expected = known.expected.unwrap();
    assert!(known.cancelled && (1..MANY as u64).contains(&expected), "{expected}");
    let again = servers.juror(&harness, &["cancel", "doomed", "--json"]).exits(0);
    let reported = again.json();
    assert_eq!((&reported["cancelled"], &reported["published"]), (&json!(true), &json!(expected)));

    servers
        .juror(&harness, &enqueue)
        .exits(2)
        .stderr_contains(&["was cancelled", "juror retry doomed"]);
    servers
        .juror(&harness, &["cancel", "none"])
        .exits(2)
        .stderr_contains(&["run none is unknown in fleet"]);
    write_items(&harness, 1);
    harness.juror(&["run", "manifest.jsonl", "--run-id", "local"]).exits(0);
    let complete = servers.juror(&harness, &["cancel", "local"]).exits(0);
    complete.stdout_contains(&["run local is complete, nothing to cancel", "1 of 1 jobs have"]);
}
