//! Providers without usable replies, with endless refusals or with their own token counts, seen by
//! several workers together.

use super::{
    servers::Servers,
    worker_fixture::{WorkerFixture, all_scored, stop},
};
use crate::harness::{CallGate, CommandHarness, RunningCommand, TestSimulator, pico};
use juror_simulator::{Fault, FaultPlan, Latency, Share, SimulatorConfig, TokenCount};
use juror_types::id::RunId;
use std::time::Duration;

/// Fleet whose provider always has this fault.
fn failing(items: u32, config: SimulatorConfig, fault: Fault) -> WorkerFixture {
    let rates = vec![Share { of: fault, share: 1.0 }];
    let faults = FaultPlan { rates, ..FaultPlan::default() };
    fixture(items, SimulatorConfig { faults, ..config })
}

fn fixture(items: u32, config: SimulatorConfig) -> WorkerFixture {
    let harness = CommandHarness::with_items(items);
    let (servers, simulator) = (Servers::shared(), TestSimulator::start(config));
    WorkerFixture { servers, harness, simulator, gate: CallGate::closed() }
}

#[test]
fn unusable_replies_are_counted_across_workers() {
    let fixture = failing(60, SimulatorConfig::default(), Fault::Length);
    let workers = [(); 3].map(|()| fixture.start(&["-j", "1"]));
    let run = fixture.enqueue("vain").remove(0).run_id;
    let reason = fixture.servers.await_pause(&run);
    assert!(reason.contains("items in a row got no usable reply"), "{reason}");
    workers.into_iter().for_each(stop);
    let calls = fixture.simulator.count("billed_calls");
    // Separate counts would give 56: two for each of nine items of each worker, and two more.
    assert!(calls <= 32, "{calls} calls: two for each of ten items, and those in flight");
}

#[test]
fn deadline_ends_a_wait_for_a_refusing_provider() {
    let pause = Duration::from_secs(600);
    let config = SimulatorConfig { fault_retry_after: pause, ..SimulatorConfig::default() };
    let fixture = failing(12, config, Fault::RateLimit);
    let WorkerFixture { servers, harness, simulator, .. } = &fixture;
    let run = RunId::new("late");
    let aggregator = servers.start(harness, &["aggregate"]);
    let worker = fixture.start(&["-j", "2"]);
    let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", "late"];
    servers.juror(harness, &[&enqueue[..], &["--deadline", "3s"]].concat()).exits(0);
    servers.await_report(&run, 12);
    let report = harness.report("late");
    assert_eq!(report["coverage"]["errors"]["deadline"], 12, "{report}");
    assert_eq!(pico(&report["cost"]["total_usd"]), 0);
    assert!(simulator.requests() <= 2, "no more than were in flight at the first refusal");
    stop(worker);
    aggregator.stop();
}

#[test]
fn worker_starts_with_the_shared_token_count_rule() {
    let fixture = fixture(
        40,
        SimulatorConfig {
            // More than one call at a time of each worker uses: its tokens are refilled during the
            // call, so every reply shows how many it counted, on a machine of any speed.
            tokens_per_minute: Some(12_000_000),
            token_count: Some(TokenCount::Input),
            latency: Latency::fixed(Duration::from_millis(100)),
            ..SimulatorConfig::default()
        },
    );
    let WorkerFixture { servers, harness, simulator, .. } = &fixture;
    let workers = [(); 2].map(|()| fixture.start(&["-j", "1"]));
    fixture.enqueue("first");
    all_scored(&servers.take_results(40));
    workers.into_iter().for_each(stop);
    let script = "return redis.call('HGET', redis.call('KEYS', ARGV[1])[1], 'count_rule')";
    let endpoints = format!("{}:endpoint:*", servers.redis.namespace);
    // The input is above the output limit here, so that both rules count the same.
    let rule = servers.redis.command(&["EVAL", script, "0", &endpoints]);
    assert!(["input", "larger"].contains(&rule.as_str()), "{rule}");
    let stats = simulator.stats();
    let refused = stats["refusals"]["rate_limit_exceeded"].as_u64().unwrap_or(0);
    assert_eq!(refused, 0, "two calls at once are far below the limit");

    let own = ["worker", "--base-url", &simulator.base_url(), "--data-root", "."];
    let mut command = servers.command(harness, &own);
    command.env("JUROR_LOG_LEVEL", "warn,juror_app=info");
    let mut later = RunningCommand::start(command);
    fixture.enqueue("second");
    later.await_stderr("tokens are counted by the rule that another process has learned");
    all_scored(&servers.take_results(40));
    stop(later);
}
