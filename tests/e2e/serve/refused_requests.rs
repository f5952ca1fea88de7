//! Refused requests, which start no run and cost nothing.

use super::{Fixture, judged};
use crate::harness::{ApiServer, CommandHarness, RunningCommand, png};
use serde_json::{Value, json};

/// A request that differs in one field.
fn with(field: &str, value: Value) -> Value {
    let mut request = judged("refused");
    request[field] = value;
    request
}

#[test]
fn invalid_runs_are_refused_before_any_cost() {
    let harness = CommandHarness::new();
    harness.write("juror.toml", "[budget]\nrun_usd = \"2.00\"\n");
    harness.write("secret/manifest.jsonl", "{\"id\": \"a\", \"screenshot\": \"a.png\"}\n");
    harness.write("data/a.png", png(1, 8, 8));
    harness.write("data/manifest.jsonl", "{\"id\": \"a\", \"screenshot\": \"a.png\"}\n");
    harness.write("data/broken.jsonl", "{\"id\": \"a\"}\n");
    harness.write("data/rubric.toml", "");
    let secret = harness.path("secret/manifest.jsonl");
    std::os::unix::fs::symlink(&secret, harness.path("data/link.jsonl")).unwrap();
    let simulator = crate::harness::TestSimulator::start(Default::default());
    let (url, key) = (simulator.base_url(), "test-key");
    let flags = ["serve", "--listen", "127.0.0.1:0", "--data-root", "data", "--base-url", &url];
    let api = ApiServer::start(harness.command(&flags));
    let secret = secret.to_str().unwrap();
    for (request, status, words) in [
        (with("budget_usd", Value::Null), 422, "budget_usd"),
        (with("budget_usd", json!("2.01")), 422, "budget.run_usd"),
        (with("dataset", json!("../secret/manifest.jsonl")), 422, "without a leading / and"),
        (with("dataset", json!(secret)), 422, "without a leading / and"),
        (with("dataset", json!("link.jsonl")), 404, "no dataset"),
        (with("dataset", json!("none.jsonl")), 404, "no dataset"),
        (with("dataset", json!("broken.jsonl")), 422, "screenshot"),
        (with("rubric", json!("data/rubric.toml")), 422, "semantic"),
        (with("model", json!("nobody-knows-me")), 422, "price"),
        (with("repeat", json!(101)), 422, "maximum of 100"),
        (with("base_url", json!("http://127.0.0.1:1/v1")), 422, "base_url"),
    ] {
        let refused = api.post("/api/v1/runs", &request).has_status(status).body_contains(&[words]);
        assert!(!String::from_utf8_lossy(&refused.body).contains(key));
    }
    assert_eq!(simulator.requests(), 0);
    assert!(!harness.path("runs").join("refused").exists());
    assert!(!harness.path("runs").join("juror.db").exists(), "looking makes no database");
}

#[test]
fn name_of_a_foreign_directory_is_a_conflict() {
    let harness = CommandHarness::with_items(1);
    let mine = harness.write("runs/golden/manifest.jsonl", "mine\n");
    let api = ApiServer::open(&harness, &[]);
    let free = |run: &str| json!({"dataset": "manifest.jsonl", "run_id": run});
    api.post("/api/v1/runs", &free("first")).has_status(202);
    api.await_end("first");
    for run in ["golden", "juror.db"] {
        let refused = api.post("/api/v1/runs", &free(run)).has_status(409);
        let folder = harness.path("runs").display().to_string();
        assert!(!String::from_utf8_lossy(&refused.body).contains(&folder), "no path of the server");
        refused.body_contains(&["is not a run; use another run_id"]);
    }
    assert_eq!(std::fs::read_dir(mine.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn missing_key_is_refused_before_the_run_is_recorded() {
    let harness = CommandHarness::with_items(1);
    let mut command = ApiServer::command(&harness, &[]);
    command.env_remove("OPENAI_API_KEY");
    let api = ApiServer::start(command);
    api.post("/api/v1/runs", &judged("keyless")).has_status(503).body_contains(&["OPENAI_API_KEY"]);
    assert!(!harness.path("runs/keyless").exists());
}

#[test]
fn concurrent_runs_and_names_are_limited() {
    let mut fixture = Fixture::of(2, &[]);
    fixture.gate.allow(0);
    fixture.api.post("/api/v1/runs", &judged("one")).has_status(202);
    fixture
        .api
        .post("/api/v1/runs", &judged("one"))
        .has_status(409)
        .body_contains(&["run one exists already"]);
    fixture.api.post("/api/v1/runs", &judged("two")).has_status(202);
    let refused = fixture.api.post("/api/v1/runs", &judged("three")).has_status(503);
    assert!(refused.head.contains("\r\nretry-after: "), "{}", refused.head);
    refused.body_contains(&["serve.max_concurrent_runs"]);
    let form = "step=start&dataset=manifest.jsonl&enable_llm_judge=true&budget_usd=1&run_id=three";
    let browser = format!(
        "origin: {}\r\ncontent-type: application/x-www-form-urlencoded\r\n",
        fixture.api.url()
    );
    let refused = fixture.api.request("POST", "/start", &browser, form).has_status(503);
    assert!(refused.head.contains("\r\nretry-after: "), "{}", refused.head);
    refused.body_contains(&["serve.max_concurrent_runs", "name=\"budget_usd\""]);
    fixture
        .api
        .post("/api/v1/runs/one/resume", &json!({}))
        .has_status(409)
        .body_contains(&["is already active"]);
    fixture.gate.open();
    for run in ["one", "two"] {
        fixture.api.await_end(run);
    }
    fixture
        .api
        .post("/api/v1/runs/one/resume", &json!({}))
        .has_status(409)
        .body_contains(&["complete"]);
    fixture
        .api
        .post("/api/v1/runs/one/cancel", &json!({}))
        .has_status(409)
        .body_contains(&["is not running; nothing to cancel"]);
    fixture.api.post("/api/v1/runs", &judged("three")).has_status(202);
    fixture.api.await_end("three");
    // All of its replies are cached by now.
    assert_eq!(fixture.simulator.count("billed_calls"), fixture.simulator.requests());
    fixture.simulator = fixture.simulator.restart_with(Default::default());
}

#[test]
fn foreign_active_run_is_shown_and_left_unchanged() {
    let fixture = Fixture::of(2, &[]);
    let running: RunningCommand =
        fixture.harness.start_run(&fixture.simulator, "elsewhere", &["-j", "2"]);
    fixture.simulator.await_requests(2);
    let shown = fixture.api.get("/api/v1/runs/elsewhere").has_status(200).json();
    assert_eq!(shown["state"], "running", "{shown}");
    let cancelled = fixture.api.post("/api/v1/runs/elsewhere/cancel", &json!({})).has_status(409);
    cancelled.body_contains(&["run elsewhere is active in another process"]);
    fixture.api.post("/api/v1/runs/elsewhere/resume", &json!({"budget_usd": "1"})).has_status(409);
    fixture.gate.open();
    running.finish().exits(0);
}

#[test]
fn daily_caps_limit_runs_of_any_budget() {
    let harness = CommandHarness::with_items(2);
    harness.write("juror.toml", "[budget]\nday_usd = \"0.0001\"\n");
    let simulator = crate::harness::TestSimulator::start(Default::default());
    let api = ApiServer::open(&harness, &["--base-url", &simulator.base_url()]);
    api.post("/api/v1/runs", &judged("capped")).has_status(202);
    api.await_end("capped");
    assert_eq!(harness.report("capped")["coverage"]["skipped"], 2);
    assert_eq!(simulator.requests(), 0);
}

#[test]
fn other_machines_require_a_token() {
    let harness = CommandHarness::new();
    let anywhere = ["serve", "--listen", "0.0.0.0:0"];
    harness.juror(&anywhere).exits(2).stderr_contains(&["serve.read_token_file"]);
    for serve in ["hosts = [\"juror.example\"]", "trusted_proxies = [\"proxy.example\"]"] {
        harness.write("juror.toml", format!("[serve]\n{serve}\n"));
        let name = serve.split(' ').next().unwrap();
        let setting = format!("serve.{name}");
        harness.juror(&["serve", "--listen", "127.0.0.1:0"]).exits(2).stderr_contains(&[&setting]);
    }
    harness.write("juror.toml", "");
    harness.write("token", "short");
    harness.write("juror.toml", "[serve]\nwrite_token_file = \"token\"\n");
    harness.juror(&anywhere).exits(2).stderr_contains(&["token in file token"]);
    let token = "0123456789abcdef0123456789abcdef";
    harness.write("token", format!("{token}\n"));
    let api = ApiServer::open(&harness, &[]);
    api.get("/api/v1/runs").has_status(401);
    api.request("GET", "/api/v1/runs", &format!("authorization: Bearer {token}\r\n"), "")
        .has_status(200);
    let mut command = ApiServer::command(&harness, &[]);
    command.env("JUROR_SERVE_WRITE_TOKEN", "another-token-of-sixteen");
    let api = ApiServer::start(command);
    api.request("GET", "/api/v1/runs", &format!("authorization: Bearer {token}\r\n"), "")
        .has_status(401);
}
