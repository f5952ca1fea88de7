//! The API's own description is held against what it answers, by a program that is not ours.

use crate::harness::{ApiServer, CommandHarness, Served, repository};
use std::{collections::BTreeSet, path::Path, process::Command};

/// The checks of another version may find something else.
const SCHEMATHESIS: &str = "schemathesis==4.32.5";
const TOKEN: &str = "a-token-that-writes-0123456789";

/// Requests that fit the document may ask for what cannot be had, and are told so by 422.
const ACCEPTED: &str = r#"
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "401", "403", "404", "409", "422", "429"]
"#;

/// Asks every operation, with data that fit the document and data that do not, whether it answers
/// as the document says.
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
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("16 selected / 16 total"), "{said}");
}

#[test]
fn every_answer_is_one_that_the_document_describes() {
    let harness = CommandHarness::new();
    let simulator = Served::start(&harness);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/golden");
    harness.judge(&simulator.base_url, &golden.to_string_lossy(), &[]).exits(0);
    let mut command = ApiServer::command(&harness, &["--base-url", &simulator.base_url]);
    command.env("JUROR_SERVE_WRITE_TOKEN", TOKEN);
    let api = ApiServer::start(command);
    // With names of its own making, and with names of what is there.
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
    api.ask_to_stop();
    let log = api.finish().exits(0).stderr;
    assert!(!log.contains("ERROR") && !log.contains(TOKEN), "{log}");
}

#[test]
fn the_manual_lists_every_operation_and_no_other() {
    let harness = CommandHarness::new();
    let api = ApiServer::start(ApiServer::command(&harness, &[]));
    let document = api.get("/api/v1/openapi.json").is(200).json();
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
