//! Thresholds and commands of `[stages]` in a fleet: one run has the same ones on every worker.

use super::{
    servers::Servers,
    worker_fixture::{WorkerFixture, stop},
};
use crate::harness::{CommandHarness, write_items};
use juror_ledger::redis::RunStatus;
use juror_types::id::RunId;
use serde_json::{Value, json};
use std::fs;

const COMPILES: &str = "[stages]\ncompile_command = [\"true\"]\n";

#[test]
fn thresholds_are_those_of_the_enqueuing_command() {
    let (servers, harness) = (Servers::shared(), CommandHarness::new());
    let tokens = |second: &str| json!({"color.primary": "#1D4ED8", "color.text": second});
    write_items(&harness, 1);
    let half = json!({
        "id": "half", "screenshot": "shots/0000.png", "expected_tokens": tokens("#111111"),
        "extracted_tokens": tokens("#EEEEEE"),
    });
    harness.write("manifest.jsonl", format!("{half}\n"));
    harness.write("lenient.toml", "[stages]\ntoken_accuracy = 0.4\n");
    let aggregator = servers.start(&harness, &["aggregate"]);
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id"];
    for (run, flags, rate) in
        [("lenient", &["--config", "lenient.toml"][..], 1.0), ("default", &[], 0.0)]
    {
        servers.juror(&harness, &[&enqueue[..], &[run], flags].concat()).exits(0);
        let worker = servers.start(&harness, &["worker", "--data-root", "."]);
        let is_reported = |status: RunStatus| status.is_reported().then_some(());
        servers.await_status(&RunId::new(run), is_reported);
        stop(worker);
        assert_eq!(harness.report(run)["overall"]["pipeline_success_rate"], rate, "{run}");
        let threshold = if run == "lenient" { 0.4 } else { 0.8 };
        let record = fs::read(harness.path("runs").join(run).join("run.json")).unwrap();
        let record: Value = serde_json::from_slice(&record).unwrap();
        assert_eq!(record["stages"], json!({"token_accuracy": threshold}), "no command is pending");
    }
    // From a machine with other settings the run keeps its own.
    servers.juror(&harness, &["retry", "lenient"]).exits(0);
    aggregator.stop();
}

#[test]
fn worker_with_other_commands_than_the_first_one_pauses_the_run() {
    let fixture = WorkerFixture::gated(Servers::shared(), 2);
    let WorkerFixture { servers, harness, simulator, gate } = &fixture;
    harness.write("compiles.toml", COMPILES);
    let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", "night"];
    servers.juror(harness, &enqueue).exits(0);
    let first = fixture.start(&["-j", "1"]);
    simulator.await_count("billed_calls", 1);
    let other = fixture.start(&["--config", "compiles.toml", "-j", "1"]);
    let reason = servers.await_pause(&RunId::new("night"));
    assert!(reason.contains("stages.compile_command is the one with digest"), "{reason}");
    assert!(reason.contains("on this worker, but not set in the run"), "{reason}");
    gate.open();
    stop(first);
    stop(other);
    let retry = ["retry", "night", "--config", "compiles.toml"];
    let refused = "its stages.compile_command is not set, but the one with digest";
    servers.juror(harness, &retry).exits(2).stderr_contains(&[refused]);
}

#[test]
fn commands_of_the_enqueuing_command_are_required_of_workers() {
    let fixture = WorkerFixture::new(2);
    let WorkerFixture { servers, harness, .. } = &fixture;
    harness.write("compiles.toml", COMPILES);
    let settings = ["--config", "compiles.toml"];
    let enqueue = ["enqueue", "manifest.jsonl", "--run-id", "night"];
    servers.juror(harness, &[&enqueue[..], &settings].concat()).exits(0);
    let without = fixture.start(&[]);
    let reason = servers.await_pause(&RunId::new("night"));
    assert!(reason.contains("stages.compile_command is not set on this worker"), "{reason}");
    stop(without);
    let with = fixture.start(&settings);
    servers.juror(harness, &["retry", "night"]).exits(0);
    assert_eq!(servers.take_results(2).len(), 2);
    stop(with);
}
