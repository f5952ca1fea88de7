//! With a fleet in the settings, runs are published to it.

use super::judged;
use crate::harness::{
    ApiServer, CommandHarness, FleetHarness, FleetServers, Size, TestSimulator, pico,
};
use serde_json::json;
use std::time::Duration;

const WITHIN: Duration = Duration::from_secs(60);

fn fleet_harness(items: u32) -> (FleetHarness, ApiServer) {
    let harness = CommandHarness::with_items(items);
    let size = Size { workers: 1, aggregators: 1, at_once: 2 };
    let simulator = TestSimulator::start(Default::default());
    let fleet_harness = FleetHarness::new(&size, FleetServers::shared_broker(), harness, simulator);
    let mut command = ApiServer::command(&fleet_harness.harness, &[]);
    let (broker, redis) = (fleet_harness.servers.broker_port(), fleet_harness.servers.redis_port());
    command
        .env("JUROR_FLEET_BROKER", format!("amqp://guest:guest@127.0.0.1:{broker}"))
        .env("JUROR_FLEET_REDIS", format!("redis://127.0.0.1:{redis}"))
        .env("JUROR_FLEET_NAMESPACE", fleet_harness.servers.namespace());
    let api = ApiServer::start(command);
    (fleet_harness, api)
}

#[test]
fn run_started_over_http_is_judged_by_the_fleet() {
    let (mut fleet_harness, api) = fleet_harness(8);
    fleet_harness.start();
    let mut limited = judged("web");
    limited["rpm"] = json!(10);
    api.post("/api/v1/runs", &limited).has_status(422).body_contains(&["workers configure limits"]);
    api.post("/api/v1/runs", &judged("web")).has_status(202);
    fleet_harness.await_report("web", WITHIN);
    let report = fleet_harness.harness.report("web");
    assert_eq!(report["coverage"]["scored"], 8);
    assert_eq!(fleet_harness.simulator.count("billed_calls"), 8);
    api.post("/api/v1/runs", &judged("web")).has_status(409);
    let path = "/api/v1/runs/web/resume";
    api.post(path, &json!({})).has_status(409).body_contains(&["complete"]);
    api.post("/api/v1/runs/web/cancel", &json!({}))
        .has_status(409)
        .body_contains(&["nothing to cancel"]);
    let shown = api.get("/api/v1/runs/web").has_status(200).json();
    assert_eq!(shown["coverage"]["scored"], 8, "{shown}");
    fleet_harness.stop();
}

#[test]
fn fleet_run_is_cancelled_and_resumed_over_http() {
    let (mut fleet_harness, api) = fleet_harness(6);
    // There is no worker yet, so all jobs are skipped.
    api.get("/runs/web").has_status(404);
    let begun = api.post("/api/v1/runs", &judged("web")).has_status(202).json();
    assert_eq!((&begun["id"], &begun["planned"]), (&json!("web"), &json!(6)), "{begun}");
    assert_eq!(
        (&begun["state"], pico(&begun["budget_usd"])),
        (&json!("running"), 1_000_000_000_000)
    );
    assert!(begun["published"].as_u64().is_some_and(|published| published <= 6), "{begun}");
    api.get("/runs/web").has_status(202).body_contains(&["queued", "of 6 jobs", "juror aggregate"]);
    fleet_harness.aggregators.iter_mut().for_each(|member| member.start());
    api.post("/api/v1/runs/web/cancel", &json!({})).has_status(202);
    fleet_harness.workers.iter_mut().for_each(|member| member.start());
    fleet_harness.await_report("web", WITHIN);
    let skipped = fleet_harness.harness.report("web")["coverage"]["skipped"].as_u64().unwrap();
    assert!(skipped > 0);
    api.post("/api/v1/runs/web/resume", &json!({"budget_usd": "0.50"})).has_status(202);
    fleet_harness.await_report("web", WITHIN);
    assert_eq!(fleet_harness.harness.report("web")["coverage"]["scored"], 6);
    assert_eq!(fleet_harness.simulator.count("billed_calls"), 6);
    fleet_harness.stop();
}
