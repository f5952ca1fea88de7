//! Gateways and local servers: one test for each quirk of the simulator.

mod flex_lane;

use crate::{
    errors::{assert_scored, check_costs, results},
    harness::{CommandHarness, Finished, TestSimulator, pico},
};
use juror_simulator::{Quirk, Share, SimulatorConfig};
use serde_json::{Value, json};
use std::fs;

fn quirky(quirk: Quirk) -> TestSimulator {
    TestSimulator::start(SimulatorConfig::with_quirks(&[quirk]))
}

/// Judges this many items against a server with this quirk.
fn judge(quirk: Quirk, items: u32, flags: &[&str]) -> (CommandHarness, TestSimulator, Finished) {
    let (harness, simulator) = (CommandHarness::with_items(items), quirky(quirk));
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", flags);
    (harness, simulator, run)
}

fn total(harness: &CommandHarness) -> i64 {
    pico(&harness.report("first")["cost"]["total_usd"])
}

fn warnings(harness: &CommandHarness) -> String {
    harness.report("first")["warnings"].to_string()
}

#[test]
fn gateway_timeout_is_presumed_spent_and_retried_once() {
    for quirk in [
        Quirk::GatewayTimeout,
        Quirk::CloudflareTimeout,
        Quirk::EmptyTimeout,
        Quirk::LitellmTimeout,
    ] {
        let (harness, simulator, run) = judge(quirk, 2, &[]);
        run.exits(3).stdout_contains(&["0 of 2 scored", "2 failed"]);
        assert_eq!(simulator.requests(), 4, "{quirk}: each item is called twice");
        let presumed = check_costs(&harness, &simulator);
        assert!(simulator.bill() > 0 && presumed >= simulator.bill(), "{quirk}: {presumed}");
        for result in results(&harness, 2) {
            assert_eq!(result["error"]["kind"], "api", "{result}");
        }
    }
}

#[test]
fn substituted_model_is_reported_billed_and_not_cached() {
    let flags = ["--model", "gpt-4o-mini"];
    let (harness, simulator, run) = judge(Quirk::FallbackModel, 3, &flags);
    let run =
        run.exits(0).stderr_contains(&["model gpt-4o-2024-08-06 replies in place of gpt-4o-mini"]);
    assert_eq!(run.stderr.matches("replies in place of").count(), 1, "said once");
    assert_eq!(total(&harness), simulator.bill());
    assert!(warnings(&harness).contains("gpt-4o-2024-08-06 gave 3 of the replies"));
    for result in results(&harness, 3) {
        assert_eq!(result["judge"]["model"], "gpt-4o-mini");
        assert_eq!(result["judge"]["answered_by"], "gpt-4o-2024-08-06");
    }
    fs::remove_dir_all(harness.path("runs/first")).unwrap();
    let again = ["run", "manifest.jsonl", "--run-id", "again", "--enable-llm-judge", "--base-url"];
    harness.juror(&[&again[..], &[&simulator.base_url()], &flags].concat()).exits(0);
    assert_eq!(simulator.requests(), 6, "no reply of the other model was cached");
}

#[test]
fn substituted_model_pauses_the_run_if_disallowed() {
    let (harness, simulator) = (CommandHarness::with_items(20), quirky(Quirk::FallbackModel));
    harness.write("juror.toml", "[judge]\nother_model = \"refuse\"\n");
    let flags = ["--model", "gpt-4o-mini", "-j", "1"];
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(1);
    run.stderr_contains(&["paused and keeps its jobs", "gpt-4o-2024-08-06 replies", "other_model"]);
    assert_eq!(simulator.requests(), 1);
    assert_eq!(harness.report("first")["coverage"]["pending"], 20);
    assert!(total(&harness) >= simulator.bill());
}

#[test]
fn zero_usage_is_booked_at_the_bound_and_not_learned_from() {
    for quirk in [Quirk::ZeroUsage, Quirk::NoUsage] {
        let (harness, simulator, run) = judge(quirk, 3, &[]);
        let run = run.exits(0).stderr_contains(&["does not report the usage of its replies"]);
        assert_eq!(run.stderr.matches("does not report the usage").count(), 1, "said once");
        assert_eq!(check_costs(&harness, &simulator), 0);
        for result in results(&harness, 3) {
            assert_eq!(pico(&result["cost_usd"]), pico(&result["estimate"]["worst_case_usd"]));
            assert_eq!(result["unmetered_calls"], 1);
        }
        assert_eq!(harness.report("first")["cost"]["unmetered_calls"], 3);
        let estimate = ["estimate", "manifest.jsonl", "--base-url", &simulator.base_url()];
        harness.juror(&estimate).exits(0).stdout_contains(&["no earlier run of this judge"]);
    }
}

#[test]
fn reported_cost_is_booked_and_its_difference_is_reported() {
    for quirk in [Quirk::UsageCost, Quirk::CostHeader] {
        let (harness, simulator, run) = judge(quirk, 3, &[]);
        run.exits(0).stderr_contains(&["the vision API charged $", "by the price table"]);
        assert_eq!(total(&harness), simulator.bill(), "{quirk}: to the last digit");
        let results = results(&harness, 3);
        let by_table: i64 = results.iter().map(|result| pico(&result["table_cost_usd"])).sum();
        assert!(by_table < simulator.bill());
        assert!(warnings(&harness).contains("charged $"), "{}", warnings(&harness));
    }
}

#[test]
fn html_page_instead_of_a_completion_costs_nothing_and_is_reported() {
    for (quirk, shown) in [
        (Quirk::LoginPage, ["text/html; charset=utf-8", "<!DOCTYPE html>"]),
        (Quirk::ErrorIn200, ["application/json", "Provider returned error"]),
    ] {
        let (harness, simulator, run) = judge(quirk, 1, &[]);
        run.exits(3).stdout_contains(&["1 failed"]);
        assert_eq!((total(&harness), simulator.bill()), (0, 0), "{quirk}");
        let result = harness.result("first", "item_0000");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(shown.iter().all(|part| message.contains(part)), "{quirk}: {message}");
    }
}

#[test]
fn decodable_replies_are_parsed_without_reasoning_and_drafts() {
    let (plain, _, run) = judge(Quirk::DeploymentNames, 3, &[]);
    run.exits(0);
    let scores = |harness: &CommandHarness| -> Vec<Value> {
        results(harness, 3).iter().map(|result| result["semantic"]["scores"].clone()).collect()
    };
    for quirk in [Quirk::Gzip, Quirk::ByteOrderMark, Quirk::Thinking, Quirk::Drafts] {
        let (harness, simulator, run) = judge(quirk, 3, &[]);
        run.exits(0);
        assert_eq!(simulator.requests(), 3, "{quirk}");
        assert_eq!(total(&harness), simulator.bill(), "{quirk}");
        assert_eq!(scores(&harness), scores(&plain), "{quirk}");
    }
}

#[test]
fn alias_has_capabilities_and_price_of_its_model() {
    let (harness, simulator) = (CommandHarness::with_items(2), quirky(Quirk::DeploymentNames));
    let flags = ["--model", "our-deployment"];
    let unknown = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(2);
    unknown.stderr_contains(&["[models.\"our-deployment\"] like = "]);
    harness.write("juror.toml", "[models.\"our-deployment\"]\nlike = \"gpt-4o\"\n");
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(0);
    assert!(!run.stderr.contains("replies in place of"), "{}", run.stderr);
    assert_eq!(total(&harness), simulator.bill());
    assert_eq!(harness.result("first", "item_0000")["judge"]["model"], "our-deployment");
    harness.write("juror.toml", "[models.\"our-deployment\"]\nlike = \"gpt-4oo\"\n");
    let misspelt =
        harness.juror(&["run", "manifest.jsonl", "--enable-llm-judge", flags[0], flags[1]]);
    misspelt.exits(2).stderr_contains(&["gpt-4oo", "config/models.toml"]);
}

#[test]
fn reply_without_json_is_retried() {
    let (harness, simulator, run) = judge(Quirk::JsonValidateFailed, 2, &[]);
    run.exits(0);
    for result in results(&harness, 2) {
        assert_scored(&result, 2);
    }
    check_costs(&harness, &simulator);
}

#[test]
fn wait_in_the_response_body_is_respected() {
    let (harness, simulator, run) = judge(Quirk::WaitInBody, 3, &["-j", "1"]);
    let run = run.exits(0);
    assert!(!run.stderr.contains("without a wait or limits"), "{}", run.stderr);
    assert_eq!((simulator.requests(), total(&harness)), (6, simulator.bill()));
}

#[test]
fn schema_rejected_as_a_grammar_is_put_into_the_prompt() {
    let (_, simulator, run) = judge(Quirk::GrammarFailed, 4, &["-j", "1"]);
    run.exits(0).stderr_contains(&["is asked for from now on", "failed to parse grammar"]);
    assert_eq!(simulator.requests(), 5, "only the first request is refused");
}

#[test]
fn ignored_schema_is_put_into_the_prompt() {
    let (harness, simulator, run) = judge(Quirk::IgnoredSchema, 4, &["-j", "1"]);
    run.exits(0).stderr_contains(&["is asked for from now on", "none of the properties"]);
    assert_eq!(simulator.requests(), 5, "only the first request is refused");
    assert_eq!(total(&harness), simulator.bill());
}

#[test]
fn moderated_item_fails_alone() {
    let harness = CommandHarness::with_items(12);
    let half = Share { of: Quirk::Moderation, share: 0.5 };
    let config = SimulatorConfig { quirks: vec![half], ..SimulatorConfig::default() };
    let simulator = TestSimulator::start(config);
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(3);
    let coverage = &harness.report("first")["coverage"];
    let (scored, failed) = (&coverage["scored"], &coverage["failed"]);
    assert_eq!(scored.as_u64().unwrap() + failed.as_u64().unwrap(), 12, "{coverage}");
    assert_eq!(&coverage["errors"], &json!({"request": failed}));
    assert_eq!(total(&harness), simulator.bill());
}

#[test]
fn account_error_pauses_the_run_with_any_status() {
    for (quirk, reason) in [
        (Quirk::BudgetExceeded, "Budget has been exceeded"),
        (Quirk::InvalidModel, "check the model's name"),
        (Quirk::KeyNotValid, "API key not valid"),
        (Quirk::NoCredit, "Insufficient credits"),
    ] {
        let (harness, simulator, run) = judge(quirk, 8, &["-j", "1"]);
        run.exits(1).stderr_contains(&["paused and keeps its jobs", reason, "juror retry first"]);
        assert_eq!((simulator.requests(), simulator.bill()), (1, 0), "{quirk}");
        assert_eq!(harness.report("first")["coverage"]["pending"], 8, "{quirk}");
    }
}

#[test]
fn sdk_base_url_ranks_between_the_settings_file_and_our_variable() {
    let (harness, simulator) = (CommandHarness::with_items(1), TestSimulator::new());
    harness.write("juror.toml", "[judge]\nbase_url = \"http://127.0.0.1:1/v1\"\n");
    let run = |name: &str, variables: &[(&str, &str)]| {
        let mut command =
            harness.command(&["run", "manifest.jsonl", "--enable-llm-judge", "--run-id", name]);
        command.envs(variables.iter().copied());
        Finished::from(command.output().unwrap())
    };
    let url = simulator.base_url();
    run("of-sdks", &[("OPENAI_BASE_URL", &url)]).exits(0);
    run("own", &[("OPENAI_BASE_URL", "http://127.0.0.1:2/v1"), ("JUROR_JUDGE_BASE_URL", &url)])
        .exits(0);
}

#[test]
fn header_replaces_the_key_and_is_shown_nowhere() {
    let key = Some("gateway-key".to_owned());
    let config = SimulatorConfig { key, ..SimulatorConfig::default() };
    let (harness, simulator) = (CommandHarness::with_items(1), TestSimulator::start(config));
    let url = simulator.base_url();
    harness.judge(&url, "manifest.jsonl", &[]).exits(1).stderr_contains(&["authentication failed"]);
    harness.write(
        "juror.toml",
        "[judge.headers]\nauthorization = { env = \"GATEWAY_TOKEN\" }\nx-team = \"blue\"\n",
    );
    let flags = ["run", "manifest.jsonl", "--enable-llm-judge", "--run-id", "second", "--base-url"];
    let mut command = harness.command(&[&flags[..], &[&url]].concat());
    let unset = Finished::from(command.output().unwrap()).exits(2);
    unset.stderr_contains(&["\"authorization\"", "GATEWAY_TOKEN is not set"]);
    command.env("GATEWAY_TOKEN", "Bearer gateway-key").env("JUROR_LOG_LEVEL", "trace");
    let run = Finished::from(command.output().unwrap()).exits(0);
    assert!(!run.stderr.contains("gateway-key") && !run.stdout.contains("gateway-key"));
    harness.write("juror.toml", "[judge]\nca_file = \"missing.pem\"\n");
    harness
        .judge(&url, "manifest.jsonl", &[])
        .exits(2)
        .stderr_contains(&["judge.ca_file missing.pem"]);
}

#[test]
fn only_instructions_are_cached_where_cache_writes_are_billed() {
    let flags = ["--model", "gpt-5.6", "-j", "1"];
    let (harness, simulator) = (CommandHarness::with_items(6), TestSimulator::new());
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(0);
    assert!(!run.stderr.contains("prompt_cache"), "{}", run.stderr);
    assert_eq!(total(&harness), simulator.bill(), "cache writes are booked as such");

    let (other, gateway, run) = judge(Quirk::NoCacheOptions, 6, &flags);
    let run = run.exits(0).stderr_contains(&["does not take prompt_cache_options"]);
    assert_eq!(run.stderr.matches("prompt_cache_options").count(), 2, "said once");
    assert_eq!(total(&other), gateway.bill());
    assert!(simulator.bill() < gateway.bill(), "{} and {}", simulator.bill(), gateway.bill());
}
