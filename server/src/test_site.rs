//! A server over a small runs directory, for this crate's tests.

mod fakes;

use crate::{
    access::{Access, Secret},
    app_state::AppState,
    router::router,
};
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Request, StatusCode},
};
use fakes::{FakeLauncher, SingleImageSource};
use indexmap::IndexMap;
use juror_analysis::{
    compute_report::{ReportInput, compute_report},
    metrics::AveragingPolicy,
};
use juror_app::{reporting::baseline, settings::Settings};
use juror_journal::journal::RunFiles;
use juror_report::{NoAttachments, write_output};
use juror_types::{
    id::{Digest, JobId, RunId},
    outcome::{InputRecord, JobResult, Outcome},
    rubric::{self, ParsedReply, Rubric, builtin_named},
    run::RunRecord,
    test_record::judge_record,
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// Judged image of every item.
pub const IMAGE: &[u8] = b"\x89PNG\r\n\x1a\n not much of a picture";

/// A runs directory and its server.
pub struct TestSite {
    runs: Arc<TempDir>,
    stop: CancellationToken,
}

/// A response.
pub struct PageResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl TestSite {
    /// A runs directory without runs.
    pub fn new() -> Self {
        Self { runs: Arc::new(tempfile::tempdir().unwrap()), stop: CancellationToken::new() }
    }

    /// Adds a run with a report.
    pub fn add(&self, name: &str, day: u32, items: u32, judged: bool) -> &Self {
        let directory = self.runs.path().join(name);
        fs::create_dir_all(&directory).unwrap();
        let record = record(name, day, items, judged);
        fs::write(directory.join("run.json"), json!(record).to_string()).unwrap();
        let results = (0..items).map(|item| json!(result(&record, item)).to_string() + "\n");
        fs::write(directory.join("results.jsonl"), results.collect::<String>()).unwrap();
        write_report(self.runs.path(), &record.run_id);
        self
    }

    /// Makes an item of a run unscorable, and rewrites its report.
    pub fn make_unscorable(&self, name: &str, item: usize) {
        let path = self.path(name).join("results.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines[item]["outcome"] = json!(Outcome::Unscorable);
        lines[item]["semantic"] = Value::Null;
        lines[item]["pipeline_success"] = json!(false);
        lines[item]["error"] = json!({"kind": "reply", "message": "not usable"});
        fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        write_report(self.runs.path(), &RunId::new(name));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.runs.path().join(name)
    }

    /// Router of an open server.
    pub fn open(&self) -> Router {
        self.with_tokens(None, None)
    }

    /// Router of a server with tokens.
    pub fn with_tokens(&self, read: Option<&str>, write: Option<&str>) -> Router {
        router_of(self.site(), read, write)
    }

    /// State of the server.
    pub fn site(&self) -> AppState {
        let runs_dir = self.runs.path().to_owned();
        AppState::new(
            runs_dir,
            Arc::new(SingleImageSource),
            Arc::new(FakeLauncher { runs: Arc::clone(&self.runs) }),
            baseline::rules(&Settings::resolve(&[]).unwrap()),
            30,
            self.stop.clone(),
        )
    }
}

impl PageResponse {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Checks that this is a problem of this status; returns its detail.
    pub fn problem(&self, status: u16, path: &str) -> String {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["type"], "about:blank");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["instance"], path);
        assert_eq!(problem["title"], self.status.canonical_reason().unwrap());
        problem["detail"].as_str().unwrap().to_owned()
    }
}

/// Router of a state, with tokens.
pub fn router_of(site: AppState, read: Option<&str>, write: Option<&str>) -> Router {
    let secret = |token: &str| Secret::new(token).unwrap();
    let listen = "127.0.0.1:8080".parse().unwrap();
    let access = Access::new(listen, read.map(secret), write.map(secret), Vec::new());
    router(site, access.unwrap())
}

/// Sends a request with these headers in addition to the host.
pub async fn ask(
    router: &Router,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> PageResponse {
    let mut request = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "127.0.0.1:8080");
    }
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        request = request.header(*name, *value);
    }
    let request = request.body(body.into()).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = to_bytes(body, 1 << 24).await.unwrap();
    let body = String::from_utf8_lossy(&body).into_owned();
    PageResponse { status: head.status, headers: head.headers, body }
}

/// Sends a GET request with these headers in addition to the host.
pub async fn get(router: &Router, path: &str, headers: &[(&str, &str)]) -> PageResponse {
    ask(router, "GET", path, headers, Body::empty()).await
}

fn record(name: &str, day: u32, items: u32, judged: bool) -> RunRecord {
    let rubric = builtin_named("semantic@1").unwrap();
    let judge = json!({
        "provider": "openai", "model": "gpt-4o", "temperature": 0.1, "detail": "high",
        "max_output_tokens": 1000,
    });
    let record = json!({
        "schema": 1, "run_id": name, "created_at": format!("2026-11-{day:02}T02:00:00Z"),
        "program_version": "0.1.0", "rubric": rubric.parse().unwrap().reference(),
        "dataset": {"path": "golden", "digest": Digest::from_content(b"golden"), "limit": null, "filters": []},
        "rubric_text": rubric.text, "judge": judged.then_some(judge),
        "base_url": judged.then_some("https://api.openai.com/v1"), "budget_usd": "5.00",
        "judging": {"sessions": 1, "active_ms": 84_000,
                    "ended_at": format!("2026-11-{day:02}T02:01:24Z")},
        "repeat": 1, "planned": items,
    });
    serde_json::from_value(record).unwrap()
}

fn result(record: &RunRecord, item: u32) -> JobResult {
    let id = format!("item {item}/a");
    let rubric = Rubric::parse(&record.rubric_text, "run.json").unwrap();
    let all_good =
        |good: u32| rubric.criteria.iter().map(move |one| (one.key.clone(), (good, None)));
    let answer = ParsedReply {
        scores: all_good(10 - item % 5).collect::<IndexMap<_, _>>(),
        issues: vec!["the button is 4px too wide".to_owned()],
        ..ParsedReply::default()
    };
    let judged = record.judge.is_some();
    let tag = if item.is_multiple_of(2) { "even" } else { "odd" };
    let empty = json!({
        "schema": 1, "run_id": record.run_id, "job_id": JobId::for_item(&record.run_id, &id, 0),
        "round": 0, "screenshot_id": id, "repeat": 0, "outcome": Outcome::Scored,
        "pipeline_success": true, "total_latency_ms": 1_200 + item,
        "item": {"tags": [tag], "cluster": null, "labels": {},
                 "metadata": {}, "inputs": []},
        "token_extraction": null, "retrieval": {"correct": true, "retrieved": "button"},
        "generation": null, "semantic": null, "judge": null, "reply": null,
        "usage": {"input_tokens": 1_000, "cached_input_tokens": 0, "output_tokens": 200},
        "cost_usd": "0.004500000", "attempts": 1, "cached": false, "error": null,
    });
    let mut result: JobResult = serde_json::from_value(empty).unwrap();
    let image = InputRecord::unread("screenshot", "shots/a.png");
    result.item.inputs.push(InputRecord { digest: Some(Digest::from_content(IMAGE)), ..image });
    result.semantic = judged.then(|| rubric::score(&rubric, answer).unwrap());
    result.judge = judged.then(judge_record);
    result
}

fn write_report(runs: &Path, run: &RunId) {
    let files = RunFiles::open(runs, run).unwrap();
    let rubric = Rubric::parse(&files.record().rubric_text, "run.json").unwrap();
    let input = ReportInput::new(&rubric, AveragingPolicy::default());
    let report = compute_report(&files, &input).unwrap();
    write_output(&files.path_of("report.json"), &report, &files, &NoAttachments).unwrap();
}
