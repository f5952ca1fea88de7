//! `juror serve`: runs started, resumed and cancelled over HTTP, and their display.

mod cancelled_runs;
mod fleet;
mod item_pages;
mod odd_directories;
mod openapi;
mod refused_requests;

use crate::harness::{ApiServer, CallGate, CommandHarness, TestSimulator, pico};
use serde_json::{Value, json};

/// Request for a run of `manifest.jsonl`.
fn judged(run: &str) -> Value {
    json!({"dataset": "manifest.jsonl", "enable_llm_judge": true, "budget_usd": "1.00",
           "run_id": run})
}

/// Harness with items, a simulator with held replies, and a running API server.
struct Fixture {
    harness: CommandHarness,
    simulator: TestSimulator,
    gate: CallGate,
    api: ApiServer,
}

impl Fixture {
    fn of(items: u32, more: &[&str]) -> Self {
        let harness = CommandHarness::with_items(items);
        let (simulator, gate) = TestSimulator::gated();
        let url = simulator.base_url();
        let api = ApiServer::open(&harness, &[&["--base-url", &url], more].concat());
        Self { harness, simulator, gate, api }
    }
}

#[test]
fn run_started_over_http_equals_juror_run() {
    let fixture = Fixture::of(6, &[]);
    fixture.gate.open();
    let answer = fixture.api.post("/api/v1/runs", &judged("web")).has_status(202);
    assert!(answer.head.contains("location: /api/v1/runs/web"), "{}", answer.head);
    assert_eq!(answer.json()["id"], "web");
    fixture.api.await_end("web");
    let here = fixture.harness.report("web");
    fixture.harness.judge_run(&fixture.simulator, "command", &["--no-cache"]).exits(0);
    let there = fixture.harness.report("command");
    assert_eq!(here["overall"]["semantic"], there["overall"]["semantic"]);
    assert_eq!(here["overall"]["token_extraction"], there["overall"]["token_extraction"]);
    for field in ["coverage", "common_issues", "common_strengths"] {
        assert_eq!(here[field], there[field], "{field}");
    }
    let interval =
        |report: &Value| report["intervals"]["semantic.avg_semantic_correctness"].clone();
    assert_eq!(interval(&here), interval(&there));
    assert_eq!(here["cost"]["results_usd"], there["cost"]["results_usd"]);
    assert_eq!(pico(&here["cost"]["budget_usd"]), 1_000_000_000_000);
    let bill = pico(&here["cost"]["total_usd"]) + pico(&there["cost"]["total_usd"]);
    assert_eq!(bill, fixture.simulator.bill());
    let metrics =
        fixture.api.get("/api/v1/evaluation/metrics?enable_llm_judge=true&run=web").has_status(200);
    let correctness = |of: &Value| of["overall"]["semantic"]["avg_semantic_correctness"].clone();
    assert_eq!(correctness(&metrics.json()), correctness(&here));
    fixture.api.request_stop();
    fixture.api.finish().exits(0).stderr_contains(&["run web: 6 of 6 jobs scored"]);
}

#[test]
fn run_over_http_is_judged_in_the_requested_lane() {
    let fixture = Fixture::of(2, &[]);
    fixture.gate.open();
    let mut request = judged("cheap");
    (request["lane"], request["model"]) = (json!("flex"), json!("gpt-5.4"));
    fixture.api.post("/api/v1/runs", &request).has_status(202);
    fixture.api.await_end("cheap");
    let results = fixture.harness.journal("cheap");
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|result| result["lane"] == "flex"), "{results:?}");
    request["lane"] = json!("turbo");
    fixture.api.post("/api/v1/runs", &request).has_status(422).body_contains(&["turbo"]);
}

#[test]
fn run_over_http_without_a_judge_needs_no_judge_settings() {
    let harness = CommandHarness::with_items(3);
    // The judge setting is ignored: each request states its own choice.
    harness.write("juror.toml", "[run]\nenable_llm_judge = true\n");
    let mut command = ApiServer::command(&harness, &["--base-url", "http://127.0.0.1:1/v1"]);
    command.env_remove("OPENAI_API_KEY");
    let api = ApiServer::start(command);
    api.post("/api/v1/runs", &json!({"dataset": "manifest.jsonl", "run_id": "free"}))
        .has_status(202);
    api.await_end("free");
    let report = harness.report("free");
    assert_eq!(report["coverage"]["scored"], 3);
    assert_eq!(report["overall"]["semantic"], Value::Null);
    assert_eq!(report["overall"]["token_extraction"]["accuracy"], 1.0);
}

#[test]
fn http_estimate_equals_juror_estimate_without_calls() {
    let fixture = Fixture::of(4, &[]);
    let estimate = fixture.api.post("/api/v1/estimate", &judged("none")).has_status(200).json();
    let url = fixture.simulator.base_url();
    let reported =
        fixture.harness.juror(&["estimate", "manifest.jsonl", "--base-url", &url, "--json"]);
    let reported = reported.exits(0).json();
    let model = &reported["models"][0];
    assert_eq!((&estimate["items"], &estimate["calls"]), (&json!(4), &model["calls"]));
    assert_eq!(estimate["expected_usd"], model["expected_usd"]);
    assert_eq!(estimate["worst_case_usd"], model["worst_case_usd"]);
    assert_eq!(estimate["expected_seconds"].as_f64().map(f64::round), model["seconds"].as_f64());
    let mut in_batches = judged("none");
    in_batches["lane"] = json!("batch");
    let cheaper = fixture.api.post("/api/v1/estimate", &in_batches).has_status(200).json();
    assert_eq!(2 * pico(&cheaper["expected_usd"]), pico(&estimate["expected_usd"]));
    let free = json!({"dataset": "manifest.jsonl", "limit": 2});
    let free = fixture.api.post("/api/v1/estimate", &free).has_status(200).json();
    assert_eq!((&free["jobs"], &free["calls"]), (&json!(2), &json!(0)));
    assert_eq!(fixture.simulator.requests(), 0);
    fixture.api.get("/api/v1/runs/none").has_status(404);
}
