//! `juror enqueue` and `juror cancel`: jobs are published once each, despite interruptions.

mod interruptions;

use super::servers::{Servers, Taken};
use crate::harness::{CommandHarness, TestSimulator, write_items};
use juror_ledger::{
    admission::Budget,
    redis::{RunStatus, test_server::TestRedis},
};
use juror_queue::Priority;
use juror_types::{
    id::RunId,
    item::{Language, Text, TokenSource},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, process::Stdio};

fn status(servers: &Servers, run: &str) -> RunStatus {
    servers.status(&RunId::new(run)).unwrap()
}

fn ids(taken: &[Taken]) -> BTreeSet<String> {
    taken.iter().map(|taken| format!("{}.{}", taken.job.item.id, taken.job.repeat)).collect()
}

#[test]
fn concurrent_starts_of_one_run_name_refuse_all_but_one() {
    let (harness, servers) = (CommandHarness::with_items(12), Servers::shared());
    let start = |limit: &str| {
        let flags = ["enqueue", "manifest.jsonl", "--run-id", "night", "--limit", limit];
        let mut command = servers.command(&harness, &flags);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started = [("2", start("2")), ("12", start("12"))];
    let (mut jobs, mut codes) = (0, Vec::new());
    for (limit, started) in started {
        let ended = started.wait_with_output().unwrap();
        codes.push(ended.status.code());
        if ended.status.success() {
            jobs = limit.parse().unwrap();
        }
    }
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(2)]);
    let known = status(&servers, "night");
    assert_eq!((known.record.planned, known.expected), (jobs, Some(jobs)));
    assert_eq!(servers.take_jobs(jobs as usize).len(), jobs as usize);
}

#[test]
fn new_run_with_the_name_of_a_blessed_run_is_refused() {
    let (harness, servers) = (CommandHarness::with_items(1), Servers::shared());
    harness.juror(&["run", "manifest.jsonl", "--run-id", "monday"]).exits(0);
    harness.juror(&["bless", "monday"]).exits(0);
    servers
        .juror(&harness, &["enqueue", "manifest.jsonl", "--run-id", "main"])
        .exits(2)
        .stderr_contains(&["run monday is blessed as \"main\"", "another run id"]);
    assert!(servers.status(&RunId::new("main")).is_none());
}

#[test]
fn each_job_is_published_once_and_the_run_is_closed() {
    let (harness, servers) = (CommandHarness::with_items(12), Servers::shared());
    let flags = ["--run-id", "night", "--enable-llm-judge", "--repeat", "2", "--limit", "10"];
    let mut enqueue =
        servers.command(&harness, &[&["enqueue", "manifest.jsonl"], &flags[..]].concat());
    // Endpoint and key are settings of the workers.
    enqueue.env_remove("OPENAI_API_KEY").env("JUROR_JUDGE_BASE_URL", "http://127.0.0.1:1/v1");
    let enqueued = crate::harness::Finished::from(enqueue.output().unwrap()).exits(0);
    assert_eq!(enqueued.stdout, "night\n");
    enqueued.stderr_contains(&["20/20 published", "no budget", "enqueue --wait --resume night"]);

    let known = status(&servers, "night");
    assert_eq!((known.expected, known.cancelled), (Some(20), false));
    assert_eq!(known.record.fleet.as_ref(), Some(&servers.redis.namespace));
    assert_eq!((known.record.planned, known.record.base_url), (20, None));
    assert_eq!(servers.ledger(&RunId::new("night")).budget, Budget::Unlimited);

    let taken = servers.take_jobs(20);
    assert_eq!(ids(&taken).len(), 20);
    for taken in &taken {
        assert_eq!((taken.times, taken.priority, taken.job.round), (1, Priority::Normal, 0));
        assert_eq!(taken.job.judge, known.record.judge);
        assert_eq!(taken.job.rubric, known.record.rubric);
    }
    assert!(!harness.path("runs").exists(), "a run directory is the aggregator's");

    let again = servers.juror(&harness, &["enqueue", "--resume", "night"]).exits(0);
    assert_eq!(again.stdout, "night\n");
    again.stderr_contains(&["every job of run night is published already", "juror retry night"]);
    assert_eq!(status(&servers, "night").expected, Some(20));
}

#[test]
fn summary_is_json_and_priority_selects_the_queue() {
    let (harness, servers) = (CommandHarness::with_items(3), Servers::shared());
    let flags = ["enqueue", "manifest.jsonl", "--priority", "high", "--json", "--quiet"];
    let enqueued = servers.juror(&harness, &flags).exits(0);
    assert_eq!(enqueued.stderr, "", "quiet");
    let reported = enqueued.json();
    let run = reported["run_id"].as_str().unwrap();
    assert_eq!(
        (&reported["planned"], &reported["published"], &reported["complete"]),
        (&json!(3), &json!(3), &json!(true))
    );
    assert_eq!(status(&servers, run).expected, Some(3));
    let taken = servers.take_jobs(3);
    assert!(
        taken.iter().all(|taken| taken.priority == Priority::High && taken.job.judge.is_none())
    );
}

#[test]
fn small_files_are_inlined_and_images_and_large_files_are_referenced() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    let elsewhere = CommandHarness::new();
    let absolute = elsewhere.write("2.png", "").display().to_string();
    harness.write("set/shots/1.png", "");
    harness.write("set/small.tsx", "export const A = () => <a/>;");
    harness.write("set/large.tsx", "x".repeat(64 * 1024 + 1));
    harness.write("set/tokens.json", r#"{"gap": "4px"}"#);
    let lines = [
        json!({"id": "a", "screenshot": "shots/1.png", "generated_code": "small.tsx",
               "expected_tokens": "tokens.json", "short": "x", "long": "x".repeat(1025)}),
        json!({"id": "b", "screenshot": absolute, "generated_code": "large.tsx"}),
    ];
    harness.write("set/manifest.jsonl", lines.map(|line| format!("{line}\n")).concat());
    let root = elsewhere.path("").display().to_string();
    let flags = ["enqueue", "set", "--data-root", &root, "--run-id", "files"];
    servers
        .juror(&harness, &flags)
        .exits(0)
        .stderr_contains(&["\"long\" has more than 1024 bytes"]);
    let taken = servers.take_jobs(2);
    let item = |id: &str| &taken.iter().find(|taken| taken.job.item.id == id).unwrap().job.item;
    let (a, b) = (item("a"), item("b"));
    assert_eq!(a.images["screenshot"].reference, "shots/1.png");
    assert_eq!(a.generated_code, Some(Text::Inline("export const A = () => <a/>;".into())));
    assert_eq!(a.language, Some(Language::Tsx));
    assert_eq!(a.expected_tokens, Some(TokenSource::Inline(json!({"gap": "4px"}))));
    assert_eq!(Value::from(a.metadata.clone()), json!({"short": "x"}));
    assert_eq!(b.images["screenshot"].reference, absolute);
    assert_eq!(b.generated_code, Some(Text::Path("large.tsx".into())));
}

#[test]
fn enqueue_refuses_the_name_of_another_run() {
    let (harness, servers) = (CommandHarness::with_items(3), Servers::shared());
    let other = std::fs::read_to_string(harness.path("manifest.jsonl")).unwrap();
    harness.write("other.jsonl", other.lines().next().unwrap());
    servers.juror(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night"]).exits(0);
    let another = servers.juror(&harness, &["enqueue", "other.jsonl", "--run-id", "night"]);
    another
        .exits(2)
        .stderr_contains(&["run night exists with other settings", "manifest.jsonl (digest "]);
    let flags = ["enqueue", "manifest.jsonl", "--run-id", "night", "--repeat", "2"];
    servers
        .juror(&harness, &flags)
        .exits(2)
        .stderr_contains(&["its repeat is 1, but 2 is requested"]);
    let same = servers.juror(&harness, &["enqueue", "manifest.jsonl", "--run-id", "night"]);
    same.exits(0).stderr_contains(&["published already"]);

    harness.juror(&["run", "manifest.jsonl", "--run-id", "local"]).exits(0);
    let local = servers.juror(&harness, &["enqueue", "manifest.jsonl", "--run-id", "local"]);
    local.exits(2).stderr_contains(&["a run of this machine", "juror run --resume local"]);
    let unknown = servers.juror(&harness, &["enqueue", "--resume", "none"]);
    unknown.exits(2).stderr_contains(&["run none is unknown in fleet"]);
    assert_eq!(servers.take_jobs(3).len(), 3);
}

#[test]
fn nothing_is_published_on_a_volatile_budget() {
    let (harness, servers) = (CommandHarness::with_items(2), Servers::with(TestRedis::own(&[])));
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "paid", "--enable-llm-judge"];
    let capped = [&enqueue[..], &["--budget-usd", "1"]].concat();
    let refused = servers.juror(&harness, &capped).exits(2);
    assert_eq!(refused.stdout, "");
    refused.stderr_contains(&["may lose the record of what was spent", "--allow-volatile-redis"]);
    assert_eq!(servers.status(&RunId::new("paid")), None);

    let accepted = [&capped[..], &["--allow-volatile-redis"]].concat();
    servers.juror(&harness, &accepted).exits(0);
    let budget = || servers.ledger(&RunId::new("paid")).budget;
    assert_eq!(budget(), Budget::Cap("1".parse().unwrap()));
    let raise = ["enqueue", "--resume", "paid", "--budget-usd", "2", "--allow-volatile-redis"];
    servers.juror(&harness, &raise).exits(0);
    assert_eq!(budget(), Budget::Cap("2".parse().unwrap()));
}

#[test]
fn invalid_requests_are_reported_before_publishing() {
    let (harness, servers) = (CommandHarness::with_items(2), Servers::shared());
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "night"];
    let refused = |more: &[&str], expected_text: &[&str]| {
        servers
            .juror(&harness, &[&enqueue[..], more].concat())
            .exits(2)
            .stderr_contains(expected_text);
    };
    refused(&["--gate", "missing.toml"], &["missing.toml"]);
    refused(&["-o", "a.json"], &["add --wait"]);
    refused(&["--wait", "-o", "a.json"], &["no aggregator works in runs", "--runs-dir"]);
    refused(&["--wait", "--gate", "production"], &["report the run on the aggregator"]);
    harness.juror(&enqueue).exits(2).stderr_contains(&["--broker URL", "JUROR_FLEET_BROKER"]);
    let nowhere = [&enqueue[..], &["--redis", "redis://127.0.0.1:1"]].concat();
    servers.juror(&harness, &nowhere).exits(1).stderr_contains(&["Redis at 127.0.0.1:1"]);

    let dry = [&enqueue[..], &["--dry-run"]].concat();
    servers
        .juror(&harness, &dry)
        .exits(0)
        .stdout_contains(&["2 of 2 items", "Nothing was published."]);
    assert_eq!(servers.status(&RunId::new("night")), None);
    let mut away = servers.command(&harness, &dry);
    away.env("JUROR_FLEET_BROKER", "amqp://127.0.0.1:1");
    crate::harness::Finished::from(away.output().unwrap())
        .exits(1)
        .stderr_contains(&["127.0.0.1:1"]);
}

#[test]
fn doctor_checks_the_servers() {
    let (harness, simulator) = (CommandHarness::new(), TestSimulator::new());
    let volatile = Servers::with(TestRedis::own(&[]));
    let base_url = simulator.base_url();
    let doctor = ["doctor", "--base-url", &base_url];
    let seen = volatile.juror(&harness, &doctor).exits(0);
    seen.stdout_contains(&[
        "ok    broker    RabbitMQ",
        "warn  redis     Redis",
        "appendonly is no",
    ]);
    let durable = Servers::with(TestRedis::durable());
    durable
        .juror(&harness, &doctor)
        .exits(0)
        .stdout_contains(&["ok    redis", "its storage is durable"]);
    let away = [&doctor[..], &["--redis", "redis://127.0.0.1:1"]].concat();
    durable.juror(&harness, &away).exits(1).stdout_contains(&["BAD   redis"]);
    harness.juror(&doctor).exits(0).stdout_contains(&["a run can start"]);
}
