//! The reply cache: equal requests are billed once, and different requests never share a reply.

use crate::harness::{CommandHarness, TestSimulator, pico, png, repository};
use serde_json::{Value, json};
use std::fs;

const ITEMS: u64 = 4;

/// Dataset whose items reference all their files, and a simulator.
fn fixture() -> (CommandHarness, TestSimulator) {
    let harness = CommandHarness::new();
    let mut manifest = String::new();
    for number in 0..ITEMS {
        let line = json!({
            "id": format!("item_{number}"), "language": "tsx",
            "screenshot": format!("{number}.png"),
            "generated_code": format!("{number}.tsx"),
            "expected_tokens": format!("{number}.json"),
        });
        manifest.push_str(&format!("{line}\n"));
        harness.write(&format!("{number}.png"), png(number as u32, 48, 48));
        harness.write(&format!("{number}.tsx"), format!("export const A = () => <p>{number}</p>;"));
        harness.write(&format!("{number}.json"), "{\"color.primary\": \"#1D4ED8\"}");
    }
    harness.write("manifest.jsonl", manifest);
    (harness, TestSimulator::new())
}

fn scores(harness: &CommandHarness, run: &str) -> Vec<(String, Value)> {
    let mut scores: Vec<_> = harness
        .journal(run)
        .into_iter()
        .map(|line| (line["screenshot_id"].to_string(), line["semantic"].clone()))
        .collect();
    scores.sort_by(|one, other| one.0.cmp(&other.0));
    scores
}

#[test]
fn unchanged_dataset_makes_no_call_and_costs_nothing() {
    let (harness, simulator) = fixture();
    harness.judge_run(&simulator, "first", &[]).exits(0);
    assert_eq!(simulator.requests(), ITEMS);
    harness.judge_run(&simulator, "second", &["--budget-usd", "0"]).exits(0);
    assert_eq!(simulator.requests(), ITEMS);
    assert_eq!(scores(&harness, "second"), scores(&harness, "first"));
    for line in harness.journal("second") {
        assert_eq!((&line["cached"], &line["attempts"]), (&json!(true), &json!(0)));
        assert_eq!(pico(&line["cost_usd"]), 0);
        assert_eq!(line["judge"]["simulated"], true);
    }
    let report = harness.report("second");
    assert_eq!(pico(&report["cost"]["total_usd"]), 0);
    assert_eq!(report["cost"]["cached_verdicts"], ITEMS);
    assert_eq!(report["run"]["simulated"], true);
}

#[test]
fn changed_file_costs_exactly_one_call() {
    let (harness, simulator) = fixture();
    harness.judge_run(&simulator, "before", &[]).exits(0);
    let changes = [
        ("1.png", png(77, 48, 48)),
        ("2.tsx", b"export const A = () => <b>2</b>;".to_vec()),
        ("3.json", b"{\"color.primary\": \"#111111\"}".to_vec()),
    ];
    for (expected_requests, (file, content)) in (1..).zip(changes) {
        harness.write(file, content);
        harness.judge_run(&simulator, file, &[]).exits(0);
        assert_eq!(simulator.requests(), ITEMS + expected_requests, "{file}");
        let fresh: Vec<_> =
            harness.journal(file).into_iter().filter(|line| line["cached"] == false).collect();
        assert_eq!(fresh.len(), 1);
        assert_eq!(fresh[0]["screenshot_id"], format!("item_{}", &file[..1]));
    }
}

#[test]
fn other_changes_miss_the_cache() {
    let (harness, simulator) = fixture();
    harness.judge_run(&simulator, "first", &[]).exits(0);
    let rubric = fs::read_to_string(repository("config/rubrics/semantic.toml")).unwrap();
    harness.write("own.toml", rubric.replacen("version = 2", "version = 3", 1));
    harness.write("warm.toml", "[judge]\ntemperature = 0.7\n");
    harness.write("small.toml", "[image]\nmax_side = 32\n");
    harness.write("brief.toml", "[judge]\nmax_output_tokens = 900\n");
    harness.write("low.toml", "[judge]\ndetail = \"low\"\n");
    let mut expected_requests = ITEMS;
    for (run, flags, anew) in [
        ("model", &["--model", "gpt-4.1"][..], ITEMS),
        ("rubric", &["--rubric", "own.toml"], ITEMS),
        ("temperature", &["--config", "warm.toml"], ITEMS),
        ("max_side", &["--config", "small.toml"], ITEMS),
        ("output", &["--config", "brief.toml"], ITEMS),
        ("detail", &["--config", "low.toml"], ITEMS),
        // The first of two verdicts of each item is cached.
        ("repeat", &["--repeat", "2"], ITEMS),
        ("no_cache", &["--no-cache"], ITEMS),
        ("again", &[], 0),
    ] {
        harness.judge_run(&simulator, run, flags).exits(0);
        expected_requests += anew;
        assert_eq!(simulator.requests(), expected_requests, "{run}");
    }
}

#[test]
fn simulated_verdict_is_never_reused_for_another_endpoint() {
    let (harness, simulator) = fixture();
    harness.judge_run(&simulator, "simulated", &[]).exits(0);
    let other = TestSimulator::new();
    harness.judge_run(&other, "other", &[]).exits(0);
    assert_eq!(other.requests(), ITEMS);
    assert!(harness.journal("other").iter().all(|line| line["cached"] == false));
}

#[test]
fn run_without_the_cache_still_reuses_its_own_results() {
    let (harness, warm) = fixture();
    let (simulator, gate) = TestSimulator::gated();
    harness.judge_run(&warm, "warm", &[]).exits(0);
    let flags = ["--no-cache", "-j", "2"];
    let mut running = harness.start_run(&simulator, "own", &flags);
    gate.allow(2);
    running.await_stderr("2/4 done");
    simulator.await_count("billed_calls", 4);
    running.kill();
    // State after a crash between settlement and journal.
    fs::write(harness.path("runs/own/results.jsonl"), "").unwrap();
    gate.open();
    harness.resume("own", &["--no-cache"]).exits(0).stdout_contains(&["4 of 4 scored"]);
    assert_eq!(simulator.count("billed_calls"), 2 + 2 + 2, "two were cut off");
    assert!(harness.journal("own").iter().all(|line| line["cached"] == false));
}

#[test]
fn cleared_cache_has_no_hits() {
    let (harness, simulator) = fixture();
    harness.judge_run(&simulator, "first", &[]).exits(0);
    let stats = harness.juror(&["cache", "stats"]).exits(0);
    stats.stdout_contains(&[
        "4 replies in",
        "they cost $0.00",
        "those of the simulator are worth $0.0",
    ]);
    harness.juror(&["cache", "clear"]).exits(0);
    harness.judge_run(&simulator, "second", &[]).exits(0);
    assert_eq!(simulator.requests(), 2 * ITEMS);
}
