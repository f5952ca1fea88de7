//! Findings of `juror doctor`.

use crate::harness::{CommandHarness, Finished, TestSimulator};
use juror_services::install;
use juror_simulator::{Quirk, SimulatorConfig};
use juror_types::model::Prices;
use serde_json::Value;

fn simulator() -> TestSimulator {
    let key = Some("test-key".to_owned());
    TestSimulator::start(SimulatorConfig { key, ..SimulatorConfig::default() })
}

#[test]
fn healthy_setup_passes() {
    let harness = CommandHarness::with_items(2);
    let simulator = simulator();
    let flags = ["doctor", "manifest.jsonl", "--base-url", &simulator.base_url()];
    harness.juror(&flags).exits(0).stdout_contains(&[
        "gpt-4o: $2.50 a million tokens in, $10.00 out",
        "found (never printed)",
        "which is the simulator",
        "juror.db can be written",
        "2 items, 2 jobs",
        "a run can start",
    ]);
    let checks = harness.juror(&[&flags[..], &["--json"]].concat()).exits(0);
    let checks: Vec<Value> = serde_json::from_str(&checks.stdout).unwrap();
    assert!(checks.len() >= 7 && checks.iter().all(|check| check["health"] != "bad"), "{checks:?}");
    assert_eq!(simulator.requests(), 0, "the check is free");
}

#[test]
fn problems_are_reported_with_their_remedy() {
    let harness = CommandHarness::with_items(1);
    let simulator = simulator();
    let url = simulator.base_url();
    let ill = |flags: &[&str], message: &[&str]| {
        let found = harness.juror(&[&["doctor"], flags].concat()).exits(1);
        found.stdout_contains(message).stdout_contains(&["to fix"]);
    };
    ill(
        &["--base-url", "http://127.0.0.1:1/v1"],
        &["no reply from the vision API", "check the base URL"],
    );
    ill(
        &["--base-url", &url, "--model", "gpt-99"],
        &["model \"gpt-99\" has no price", "juror.toml"],
    );
    ill(&["--base-url", &url, "none.jsonl"], &["none.jsonl does not exist"]);
    ill(&["--base-url", &url, "--rubric", "none"], &["no rubric \"none\""]);
    harness.write("juror.toml", "[prices.\"own\"]\ninput = 1_000_000\noutput = 2_000_000\n");
    ill(
        &["--base-url", &url, "--model", "own"],
        &["does not list the model \"own\": check its name"],
    );

    let doctor = ["doctor", "--base-url", &url];
    let wrong = harness.command(&doctor).env("OPENAI_API_KEY", "wrong-key").output().unwrap();
    let wrong = Finished::from(wrong)
        .exits(1)
        .stdout_contains(&["authentication failed; check the API key"]);
    assert!(!wrong.stdout.contains("wrong-key"));
    let without = harness.command(&["doctor"]).env_remove("OPENAI_API_KEY").output().unwrap();
    Finished::from(without)
        .exits(1)
        .stdout_contains(&["the judge needs an API key: set OPENAI_API_KEY"]);
}

#[test]
fn model_without_image_input_is_reported_where_the_server_declares_it() {
    let harness = CommandHarness::new();
    // A model name without known capabilities.
    harness.write("juror.toml", "[prices.\"own\"]\ninput = 0\noutput = 0\n");
    let own = toml::from_str("own = { input = 0, output = 0 }").unwrap();
    let prices = Prices::builtin().overlaid_with(Prices::from_terms(own, "the test"));
    for (quirk, model) in [
        (Quirk::OpenrouterTextModel, "gpt-4o"),
        (Quirk::LitellmTextModel, "own"),
        (Quirk::OllamaTextModel, "own"),
    ] {
        let config =
            SimulatorConfig { prices: prices.clone(), ..SimulatorConfig::with_quirks(&[quirk]) };
        let simulator = TestSimulator::start(config);
        let doctor = ["doctor", "--base-url", &simulator.base_url(), "--model", model];
        let found = harness.juror(&doctor).exits(1);
        found.stdout_contains(&[
            &format!("the model \"{model}\" takes no images"),
            "choose a vision model",
        ]);
        assert_eq!(simulator.requests(), 0, "the check is free");
    }
}

#[test]
fn renderer_is_found_missing_or_broken() {
    install::ensure("/usr/bin/chromium", "chromium");
    let harness = CommandHarness::new();
    let simulator = simulator();
    let url = simulator.base_url();
    let renderer = |browser: &str, flags: &[&str], code: i32| {
        harness.write("juror.toml", format!("[render]\nbrowser = \"{browser}\"\n"));
        let doctor = ["doctor", "--base-url", &url, "--json"];
        let found = harness.juror(&[&doctor[..], flags].concat()).exits(code);
        let checks: Vec<Value> = serde_json::from_str(&found.stdout).unwrap();
        let check = checks.into_iter().find(|check| check["name"] == "renderer").unwrap();
        (check["health"].as_str().unwrap().to_owned(), check["says"].as_str().unwrap().to_owned())
    };
    let (health, message) = renderer("/usr/bin/chromium", &["--evidence", "facts"], 0);
    assert!(health != "bad" && message.starts_with("Chrom"), "{health}: {message}");
    assert!(message.contains(" renders a test page") && message.contains(" fonts"), "{message}");

    let gone = "no-such-browser: there is no such program; set render.browser to a Chromium";
    let expected = ("warning".to_owned(), format!("{gone}; only --evidence needs it"));
    assert_eq!(renderer("no-such-browser", &[], 0), expected);
    assert_eq!(
        renderer("no-such-browser", &["--evidence", "facts"], 1),
        ("bad".to_owned(), gone.to_owned())
    );

    harness
        .write_program("broken.sh", "#!/bin/sh\n[ \"$1\" = --version ] && echo Chromium 156.0.1\n");
    let (health, message) = renderer("./broken.sh", &["--evidence", "facts"], 1);
    assert!(message.starts_with("Chromium 156.0.1 cannot be started: "), "{message}");
    assert_eq!(health, "bad");
}

#[test]
fn missing_run_folder_is_no_problem() {
    let harness = CommandHarness::new();
    let simulator = simulator();
    let url = simulator.base_url();
    let flags = ["doctor", "--base-url", &url, "--state", "state", "--runs-dir", "a/b"];
    harness.juror(&flags).exits(0).stdout_contains(&["MB are free for a/b"]);
}
