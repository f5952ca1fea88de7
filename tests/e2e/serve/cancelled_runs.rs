//! Cancelled and interrupted runs lose nothing and can be resumed.

use super::{Fixture, judged};
use crate::harness::{ApiServer, pico};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    time::Duration,
};

/// Request for a run with this concurrency.
fn at_once(run: &str, calls: u64) -> Value {
    let mut request = judged(run);
    request["max_concurrency"] = json!(calls);
    request
}

#[test]
fn cancelled_run_finishes_its_calls_and_resumes_with_another_budget() {
    // The limit of the server applies to every request.
    let fixture = Fixture::of(10, &["-j", "2"]);
    fixture.api.post("/api/v1/runs", &at_once("stopped", 5)).has_status(202);
    fixture.simulator.await_count("billed_calls", 2);
    // Both respond while the calls in flight are held.
    let cancelled =
        fixture.api.post("/api/v1/runs/stopped/cancel", &json!({})).has_status(202).json();
    assert_eq!((&cancelled["state"], &cancelled["cancelling"]), (&json!("running"), &json!(true)));
    fixture
        .api
        .get("/runs/stopped")
        .has_status(200)
        .body_contains(&["cancelling", "No more jobs start"]);
    fixture.gate.open();
    fixture.api.await_end("stopped");
    let report = fixture.harness.report("stopped");
    assert_eq!(report["coverage"]["scored"], 2);
    assert_eq!(pico(&report["cost"]["presumed_usd"]), 0);
    assert_eq!(fixture.simulator.requests(), 2, "no job was taken after that");
    let more = json!({"budget_usd": "0.75"});
    fixture.api.post("/api/v1/runs/stopped/resume", &more).has_status(202);
    fixture.api.await_end("stopped");
    let report = fixture.harness.report("stopped");
    assert_eq!(report["coverage"]["scored"], 10);
    assert_eq!(pico(&report["cost"]["budget_usd"]), 750_000_000_000);
    assert_eq!(fixture.simulator.count("billed_calls"), 10);
    assert_eq!(pico(&report["cost"]["total_usd"]), fixture.simulator.bill());
}

#[test]
fn stopped_server_leaves_resumable_runs_with_all_costs_accounted() {
    let fixture = Fixture::of(10, &["--quiet"]);
    fixture.api.post("/api/v1/runs", &at_once("left", 3)).has_status(202);
    fixture.simulator.await_count("billed_calls", 3);
    fixture.api.request_stop();
    fixture.api.await_closed();
    fixture.gate.open();
    fixture.api.finish().exits(0);
    let report = fixture.harness.report("left");
    assert_eq!(report["coverage"]["scored"], 3);
    assert_eq!(pico(&report["cost"]["presumed_usd"]), 0);
    assert_eq!(fixture.simulator.requests(), 3, "no job was taken after the signal");
    fixture.harness.resume("left", &[]).exits(0).stdout_contains(&["10 of 10 scored"]);
    let total = pico(&fixture.harness.report("left")["cost"]["total_usd"]);
    assert_eq!((total, fixture.simulator.count("billed_calls")), (fixture.simulator.bill(), 10));
}

/// Data of the first `progress` event of an active run.
fn first_progress(api: &ApiServer, run: &str) -> Value {
    let address = api.url().strip_prefix("http://").unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let path = format!("/api/v1/runs/{run}/events");
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let mut behind = lines.skip_while(|line| line != "event: progress");
    let data = behind.find_map(|line| line.strip_prefix("data: ").map(str::to_owned));
    serde_json::from_str(&data.unwrap()).unwrap()
}

#[test]
fn reported_cost_matches_the_ledger_with_calls_in_flight_separate() {
    let fixture = Fixture::of(3, &["-j", "1"]);
    let flags = ["-j", "1", "--budget-usd", "1"];
    let killed = fixture.harness.start_run(&fixture.simulator, "live", &flags);
    fixture.simulator.await_requests(1);
    killed.kill();
    fixture.api.post("/api/v1/runs/live/resume", &json!({})).has_status(202);
    fixture.simulator.await_requests(2);
    let reported = first_progress(&fixture.api, "live");
    let (spent, in_flight) = (pico(&reported["spent_usd"]), pico(&reported["in_flight_usd"]));
    assert!(spent > 0 && in_flight > 0, "one call is lost, and one continues: {reported}");
    let shown = fixture.api.get("/api/v1/runs/live").has_status(200).json();
    let cost = |name: &str| pico(&shown["cost"][name]);
    assert_eq!((cost("total_usd"), cost("presumed_usd")), (spent, spent), "{shown}");
    assert_eq!((cost("in_flight_usd"), cost("results_usd")), (in_flight, 0), "{shown}");
    fixture.api.get("/runs/live").has_status(200).body_contains(&["In flight, at most"]);
    fixture.gate.open();
    fixture.api.await_end("live");
    let report = fixture.harness.report("live");
    assert_eq!(pico(&report["cost"]["presumed_usd"]), spent, "its bill is still unknown");
    assert_eq!(report["cost"]["in_flight_usd"], Value::Null);
}

#[test]
fn judged_run_without_a_budget_requires_one_on_resume() {
    let fixture = Fixture::of(3, &[]);
    let running = fixture.harness.start_run(&fixture.simulator, "open", &["-j", "1"]);
    fixture.simulator.await_count("billed_calls", 1);
    running.signal(rustix::process::Signal::INT);
    fixture.gate.allow(1);
    running.finish().exits(3);
    fixture.gate.open();
    let path = "/api/v1/runs/open/resume";
    fixture.api.post(path, &json!({})).has_status(422).body_contains(&["needs a budget"]);
    assert_eq!(fixture.simulator.requests(), 1);
    fixture.api.post(path, &json!({"budget_usd": "0.50"})).has_status(202);
    fixture.api.await_end("open");
    assert_eq!(fixture.harness.report("open")["coverage"]["scored"], 3);
}
