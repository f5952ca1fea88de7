//! With a fleet in the settings, runs are published to it.

use super::judged;
use crate::harness::{FleetStory, Harness, Servers, Simulator, Size, WebDoor, pico, write_items};
use serde_json::json;
use std::time::Duration;

const WITHIN: Duration = Duration::from_secs(60);

fn story(items: u32) -> (FleetStory, WebDoor) {
    let harness = Harness::new();
    write_items(&harness, items);
    let size = Size { workers: 1, aggregators: 1, at_once: 2 };
    let simulator = Simulator::start(Default::default());
    let story = FleetStory::new(&size, Servers::shared_broker(), harness, simulator);
    let mut command = WebDoor::command(&story.harness, &[]);
    let (broker, redis) = (story.servers.broker_port(), story.servers.redis_port());
    command
        .env("JUROR_FLEET_BROKER", format!("amqp://guest:guest@127.0.0.1:{broker}"))
        .env("JUROR_FLEET_REDIS", format!("redis://127.0.0.1:{redis}"))
        .env("JUROR_FLEET_NAMESPACE", story.servers.namespace());
    let door = WebDoor::start(command);
    (story, door)
}

#[test]
fn a_run_started_over_http_is_judged_by_the_fleet() {
    let (mut story, door) = story(8);
    story.start();
    let mut limited = judged("web");
    limited["rpm"] = json!(10);
    door.post("/api/v1/runs", &limited).is(422).says(&["workers have limits of their own"]);
    door.post("/api/v1/runs", &judged("web")).is(202);
    story.await_report("web", WITHIN);
    let report = story.harness.report("web");
    assert_eq!(report["coverage"]["scored"], 8);
    assert_eq!(story.simulator.count("billed_calls"), 8);
    door.post("/api/v1/runs", &judged("web")).is(409);
    let path = "/api/v1/runs/web/resume";
    door.post(path, &json!({})).is(409).says(&["complete"]);
    door.post("/api/v1/runs/web/cancel", &json!({})).is(409).says(&["nothing to cancel"]);
    let shown = door.get("/api/v1/runs/web").is(200).json();
    assert_eq!(shown["coverage"]["scored"], 8, "{shown}");
    story.stop();
}

#[test]
fn a_fleets_run_is_cancelled_and_resumed_over_http() {
    let (mut story, door) = story(6);
    // Nobody judges yet, so all of it is skipped.
    door.get("/runs/web").is(404);
    let begun = door.post("/api/v1/runs", &judged("web")).is(202).json();
    assert_eq!((&begun["id"], &begun["planned"]), (&json!("web"), &json!(6)), "{begun}");
    assert_eq!(
        (&begun["state"], pico(&begun["budget_usd"])),
        (&json!("running"), 1_000_000_000_000)
    );
    assert!(begun["published"].as_u64().is_some_and(|published| published <= 6), "{begun}");
    door.get("/runs/web").is(202).says(&["on its way", "of 6 jobs", "juror aggregate"]);
    story.aggregators.iter_mut().for_each(|member| member.start());
    door.post("/api/v1/runs/web/cancel", &json!({})).is(202);
    story.workers.iter_mut().for_each(|member| member.start());
    story.await_report("web", WITHIN);
    let skipped = story.harness.report("web")["coverage"]["skipped"].as_u64().unwrap();
    assert!(skipped > 0);
    door.post("/api/v1/runs/web/resume", &json!({"budget_usd": "0.50"})).is(202);
    story.await_report("web", WITHIN);
    assert_eq!(story.harness.report("web")["coverage"]["scored"], 6);
    assert_eq!(story.simulator.count("billed_calls"), 6);
    story.stop();
}
