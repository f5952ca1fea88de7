//! The OpenAPI document, compared with the responses by an independent program.

use crate::harness::{ApiServer, CommandHarness, SimulatorProcess, repository};
use std::{collections::BTreeSet, path::Path, process::Command};

/// Pinned, since another version may have different checks.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";
const TOKEN: &str = "a-token-that-writes-0123456789";

/// Valid requests may name missing resources, and receive 422.
const ACCEPTED: &str = r#"
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "422", "429"]
"#;

/// Tests every operation with valid and invalid data against the document.
fn check(harness: &CommandHarness, api: &ApiServer, configuration: &str) {
    let python = juror_services::install::python_with(SCHEMATHESIS, "schemathesis");
    let program = python.parent().unwrap().join("schemathesis");
    let configuration = harness.write("schemathesis.toml", configuration);
    let mut command = Command::new(program);
    command.current_dir(harness.path("")).arg("--config-file").arg(configuration);
    command.args(["run", &format!("{}/api/v1/openapi.json", api.url())]);
    command.args(["--header", &format!("authorization: Bearer {TOKEN}")]);
    command.args(["--checks", "all", "--max-examples", "10", "--seed", "20261122"]);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{message}");
    assert!(message.contains("16 selected / 16 total"), "{message}");
}

#[test]
fn responses_match_the_openapi_document() {
    let harness = CommandHarness::new();
    let simulator = SimulatorProcess::start(&harness);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/golden");
    harness.judge(&simulator.base_url, &golden.to_string_lossy(), &[]).exits(0);
    let mut command = ApiServer::command(&harness, &["--base-url", &simulator.base_url]);
    command.env("JUROR_SERVE_WRITE_TOKEN", TOKEN);
    let api = ApiServer::start(command);
    // With generated names and with existing ones.
    check(&harness, &api, ACCEPTED);
    let results = std::fs::read_to_string(harness.path("runs/first/results.jsonl")).unwrap();
    let result: serde_json::Value = serde_json::from_str(results.lines().next().unwrap()).unwrap();
    let (item, digest) = (&result["screenshot_id"], &result["item"]["inputs"][0]["digest"]);
    check(
        &harness,
        &api,
        &format!(
            r#"
[parameters]
"path.run" = "first"
"path.item" = {item}
"path.digest" = {digest}
"path.rubric" = "acrue"
"query.base" = "first"
"query.head" = "first"
"query.run" = "first"
"header.last-event-id" = "20"
{ACCEPTED}"#
        ),
    );
    api.request_stop();
    let log = api.finish().exits(0).stderr;
    assert!(!log.contains("ERROR") && !log.contains(TOKEN), "{log}");
}

#[test]
fn manual_lists_exactly_the_operations() {
    let harness = CommandHarness::new();
    let api = ApiServer::start(ApiServer::command(&harness, &[]));
    let document = api.get("/api/v1/openapi.json").has_status(200).json();
    let base = document["servers"][0]["url"].as_str().unwrap();
    let mut described: BTreeSet<String> = BTreeSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let methods = ["get", "post"].into_iter().filter(|method| operations.get(method).is_some());
        described.extend(methods.map(|method| format!("{} {base}{path}", method.to_uppercase())));
    }
    let page = std::fs::read_to_string(repository("docs/api.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let is_operation = |row: &&str| row.starts_with("GET /api/") || row.starts_with("POST /api/");
    let listed: BTreeSet<String> = rows.filter(is_operation).map(str::to_owned).collect();
    assert_eq!(listed, described);
}
