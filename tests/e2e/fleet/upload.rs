//! `juror enqueue --upload`: workers of other machines read a dataset from a bucket.

use super::servers::Servers;
use crate::harness::{CommandHarness, RunningCommand, TestSimulator, png};
use juror_ledger::redis::test_server::TestRedis;
use juror_services::s3;
use juror_types::id::{Digest, RunId};
use serde_json::json;
use std::process::Command;

/// Three items of two screenshots; the second has more code than is inlined into a job.
fn write_dataset(harness: &CommandHarness) {
    harness.write("set/1.png", png(1, 64, 32));
    harness.write("set/2.png", png(2, 64, 32));
    harness.write("set/small.tsx", "export const A = () => <a/>;");
    harness
        .write("set/large.tsx", format!("export const A = () => <a/>; //{}", "x".repeat(65_536)));
    let lines = [
        json!({"id": "a", "screenshot": "1.png", "generated_code": "small.tsx"}),
        json!({"id": "b", "screenshot": "2.png", "generated_code": "large.tsx"}),
        json!({"id": "c", "screenshot": "2.png", "generated_code": "<p>text</p>"}),
    ];
    harness.write("set/manifest.jsonl", lines.map(|line| format!("{line}\n")).concat());
}

fn with_account(mut command: Command) -> Command {
    command
        .env("AWS_ACCESS_KEY_ID", s3::ACCESS_KEY)
        .env("AWS_SECRET_ACCESS_KEY", s3::SECRET_KEY)
        .env("JUROR_FILES_S3_ENDPOINT", s3::shared_endpoint());
    command
}

fn worker(
    servers: &Servers,
    harness: &CommandHarness,
    simulator: &TestSimulator,
    bucket: &str,
) -> RunningCommand {
    let settings = format!("[files]\nbuckets = [\"s3://{bucket}/sets\"]\n");
    harness.write("juror.toml", settings);
    let mut command = with_account(servers.command(harness, &["worker", "-j", "2"]));
    command.env("JUROR_JUDGE_BASE_URL", simulator.base_url());
    let mut worker = RunningCommand::start(command);
    worker.await_stderr("ready: ");
    worker
}

#[test]
fn workers_without_the_dataset_folder_judge_uploaded_files() {
    let (here, elsewhere) = (CommandHarness::new(), CommandHarness::new());
    let servers = Servers::with(TestRedis::durable());
    let bucket = s3::new_bucket();
    write_dataset(&here);
    let simulator = TestSimulator::new();
    let aggregator = servers.start_aggregator(&here);
    let worker = worker(&servers, &elsewhere, &simulator, &bucket);

    let place = format!("s3://{bucket}/sets/golden");
    let flags = ["--upload", &place, "--run-id", "night", "--enable-llm-judge", "--wait"];
    let enqueue = [&["enqueue", "set"], &flags[..]].concat();
    let first = RunningCommand::start(with_account(servers.command(&here, &enqueue))).finish();
    first
        .exits(0)
        .stderr_contains(&["3 files are uploaded, 0 were there already"])
        .stdout_contains(&["3 of 3 scored"]);
    let record = servers.status(&RunId::new("night")).unwrap().record;
    assert_eq!(record.upload.as_ref(), Some(&place));
    for (id, number) in [("a", 1), ("b", 2), ("c", 2)] {
        let input = &here.result("night", id)["item"]["inputs"][0];
        let digest = Digest::from_content(&png(number, 64, 32)).to_string();
        assert_eq!(input["ref"], json!(format!("{place}/{digest}.png")));
        assert_eq!(input["digest"], json!(digest));
    }
    assert_eq!(here.result("night", "b")["generation"]["code_compiles"], true);

    // Another run uploads nothing, and its retry still finds its files.
    let flags = ["--upload", &place, "--run-id", "next", "--enable-llm-judge", "--repeat", "2"];
    let limits = ["--budget-usd", "0.000001", "--wait"];
    let enqueue = [&["enqueue", "set"], &flags[..], &limits[..]].concat();
    let next = RunningCommand::start(with_account(servers.command(&here, &enqueue))).finish();
    next.exits(3).stderr_contains(&["0 files are uploaded, 3 were there already"]);
    let retry = ["retry", "next", "--budget-usd", "1", "--wait"];
    let retried = RunningCommand::start(with_account(servers.command(&here, &retry))).finish();
    retried.exits(0).stdout_contains(&["6 of 6 scored"]);
    for role in [worker, aggregator] {
        role.stop();
    }
}

#[test]
fn upload_failure_is_named_and_nothing_is_published() {
    let (harness, servers) = (CommandHarness::new(), Servers::shared());
    write_dataset(&harness);
    let bucket = s3::new_bucket();
    let enqueue = |dataset: &str, place: &str, more: &[&str]| {
        let arguments = [&["enqueue", dataset, "--upload", place], more].concat();
        RunningCommand::start(with_account(servers.command(&harness, &arguments))).finish()
    };
    let place = format!("s3://{bucket}/sets");
    let wrong = enqueue("set", "/srv/sets", &["--dry-run"]).exits(2);
    wrong.stderr_contains(&[
        "--upload: \"/srv/sets\" is not an upload destination; use s3://bucket/prefix",
    ]);

    let gone = enqueue("set", "s3://there-is-no-such-bucket", &["--run-id", "gone"]).exits(1);
    gone.stderr_contains(&["s3://there-is-no-such-bucket/", "cannot be uploaded", "--resume gone"]);
    assert_eq!(servers.status(&RunId::new("gone")).unwrap().published, 0);

    let promised =
        json!({"id": "a", "screenshot": "1.png", "quality_score": 1, "sha256": "00".repeat(32)});
    harness.write("set/manifest.jsonl", format!("{promised}\n"));
    let other = enqueue("set", &place, &["--run-id", "other"]).exits(2);
    other.stderr_contains(&["1.png does not match the manifest"]);

    write_dataset(&harness);
    enqueue("set", &place, &["--run-id", "first", "--limit", "1"]).exits(0);
    let again = enqueue("set", "s3://elsewhere", &["--run-id", "first", "--limit", "1"]).exits(2);
    again.stderr_contains(&["run first uploaded its files to", "omit --upload"]);
}
