//! Runs that are cancelled or interrupted lose nothing, and go on.

use super::{Fixture, judged};
use crate::harness::{ApiServer, pico};
use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    time::Duration,
};

/// The run that asks for so many calls at once.
fn at_once(run: &str, calls: u64) -> Value {
    let mut request = judged(run);
    request["max_concurrency"] = json!(calls);
    request
}

#[test]
fn a_cancelled_run_finishes_its_calls_and_is_resumed_with_another_budget() {
    // The server's own limit holds, whatever is asked for.
    let fixture = Fixture::of(10, &["-j", "2"]);
    fixture.api.post("/api/v1/runs", &at_once("stopped", 5)).is(202);
    fixture.simulator.await_count("billed_calls", 2);
    // Both answer while the calls in flight are held back.
    let cancelled = fixture.api.post("/api/v1/runs/stopped/cancel", &json!({})).is(202).json();
    assert_eq!((&cancelled["state"], &cancelled["cancelling"]), (&json!("running"), &json!(true)));
    fixture.api.get("/runs/stopped").is(200).says(&["cancelling", "No more jobs start"]);
    fixture.gate.open();
    fixture.api.await_end("stopped");
    let report = fixture.harness.report("stopped");
    assert_eq!(report["coverage"]["scored"], 2);
    assert_eq!(pico(&report["cost"]["presumed_usd"]), 0);
    assert_eq!(fixture.simulator.requests(), 2, "no job was taken after that");
    let more = json!({"budget_usd": "0.75"});
    fixture.api.post("/api/v1/runs/stopped/resume", &more).is(202);
    fixture.api.await_end("stopped");
    let report = fixture.harness.report("stopped");
    assert_eq!(report["coverage"]["scored"], 10);
    assert_eq!(pico(&report["cost"]["budget_usd"]), 750_000_000_000);
    assert_eq!(fixture.simulator.count("billed_calls"), 10);
    assert_eq!(pico(&report["cost"]["total_usd"]), fixture.simulator.bill());
}

#[test]
fn a_server_that_is_stopped_leaves_its_runs_to_be_resumed_and_nothing_unaccounted() {
    let fixture = Fixture::of(10, &["--quiet"]);
    fixture.api.post("/api/v1/runs", &at_once("left", 3)).is(202);
    fixture.simulator.await_count("billed_calls", 3);
    fixture.api.ask_to_stop();
    fixture.api.await_refusal();
    fixture.gate.open();
    fixture.api.finish().exits(0);
    let report = fixture.harness.report("left");
    assert_eq!(report["coverage"]["scored"], 3);
    assert_eq!(pico(&report["cost"]["presumed_usd"]), 0);
    assert_eq!(fixture.simulator.requests(), 3, "no job was taken after the signal");
    fixture.harness.resume("left", &[]).exits(0).prints(&["10 of 10 scored"]);
    let total = pico(&fixture.harness.report("left")["cost"]["total_usd"]);
    assert_eq!((total, fixture.simulator.count("billed_calls")), (fixture.simulator.bill(), 10));
}

/// The data of the first event `progress` of a run that goes on.
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
fn what_a_run_spends_is_told_as_the_ledger_has_it_and_what_is_in_flight_apart() {
    let fixture = Fixture::of(3, &["-j", "1"]);
    let flags = ["-j", "1", "--budget-usd", "1"];
    let killed = fixture.harness.start_run(&fixture.simulator, "live", &flags);
    fixture.simulator.await_requests(1);
    killed.kill();
    fixture.api.post("/api/v1/runs/live/resume", &json!({})).is(202);
    fixture.simulator.await_requests(2);
    let told = first_progress(&fixture.api, "live");
    let (spent, in_flight) = (pico(&told["spent_usd"]), pico(&told["in_flight_usd"]));
    assert!(spent > 0 && in_flight > 0, "one call is lost, and one goes on: {told}");
    let shown = fixture.api.get("/api/v1/runs/live").is(200).json();
    let cost = |name: &str| pico(&shown["cost"][name]);
    assert_eq!((cost("total_usd"), cost("presumed_usd")), (spent, spent), "{shown}");
    assert_eq!((cost("in_flight_usd"), cost("results_usd")), (in_flight, 0), "{shown}");
    fixture.api.get("/runs/live").is(200).says(&["In flight, at most"]);
    fixture.gate.open();
    fixture.api.await_end("live");
    let report = fixture.harness.report("live");
    assert_eq!(pico(&report["cost"]["presumed_usd"]), spent, "still nobody knows its bill");
    assert_eq!(report["cost"]["in_flight_usd"], Value::Null);
}

#[test]
fn a_judged_run_without_a_budget_is_not_resumed_without_one() {
    let fixture = Fixture::of(3, &[]);
    let running = fixture.harness.start_run(&fixture.simulator, "open", &["-j", "1"]);
    fixture.simulator.await_count("billed_calls", 1);
    running.signal(rustix::process::Signal::INT);
    fixture.gate.let_through(1);
    running.finish().exits(3);
    fixture.gate.open();
    let path = "/api/v1/runs/open/resume";
    fixture.api.post(path, &json!({})).is(422).says(&["needs a budget"]);
    assert_eq!(fixture.simulator.requests(), 1);
    fixture.api.post(path, &json!({"budget_usd": "0.50"})).is(202);
    fixture.api.await_end("open");
    assert_eq!(fixture.harness.report("open")["coverage"]["scored"], 3);
}
