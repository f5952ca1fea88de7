//! Gateways and local servers as they are: one test for each quirk of the simulator.

use crate::{
    errors::{books_agree, results, scored},
    harness::{CommandHarness, Finished, TestSimulator, pico, write_items},
};
use juror_simulator::{Quirk, Share, SimulatorConfig};
use serde_json::{Value, json};
use std::fs;

fn quirky(quirk: Quirk) -> TestSimulator {
    TestSimulator::start(SimulatorConfig::with_quirks(&[quirk]))
}

/// Judges so many items against a server with this quirk.
fn judge(quirk: Quirk, items: u32, flags: &[&str]) -> (CommandHarness, TestSimulator, Finished) {
    let (harness, simulator) = (CommandHarness::new(), quirky(quirk));
    write_items(&harness, items);
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
fn a_timeout_of_a_gateway_is_presumed_spent_and_asked_for_once_more() {
    for quirk in [
        Quirk::GatewayTimeout,
        Quirk::CloudflareTimeout,
        Quirk::EmptyTimeout,
        Quirk::LitellmTimeout,
    ] {
        let (harness, simulator, run) = judge(quirk, 2, &[]);
        run.exits(3).prints(&["0 of 2 scored", "2 failed"]);
        assert_eq!(simulator.requests(), 4, "{quirk}: each item is asked for twice");
        let presumed = books_agree(&harness, &simulator);
        assert!(simulator.bill() > 0 && presumed >= simulator.bill(), "{quirk}: {presumed}");
        for result in results(&harness, 2) {
            assert_eq!(result["error"]["kind"], "api", "{result}");
        }
    }
}

#[test]
fn another_model_that_answers_is_told_paid_for_and_not_cached() {
    let flags = ["--model", "gpt-4o-mini"];
    let (harness, simulator, run) = judge(Quirk::FallbackModel, 3, &flags);
    let run = run.exits(0).says(&["model gpt-4o-2024-08-06 replies in place of gpt-4o-mini"]);
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
    assert_eq!(simulator.requests(), 6, "no answer of the other model was cached");
}

#[test]
fn another_model_that_answers_pauses_the_run_where_none_is_wanted() {
    let (harness, simulator) = (CommandHarness::new(), quirky(Quirk::FallbackModel));
    write_items(&harness, 20);
    harness.write("juror.toml", "[judge]\nother_model = \"refuse\"\n");
    let flags = ["--model", "gpt-4o-mini", "-j", "1"];
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(1);
    run.says(&["paused and keeps its jobs", "gpt-4o-2024-08-06 replies", "other_model"]);
    assert_eq!(simulator.requests(), 1);
    assert_eq!(harness.report("first")["coverage"]["pending"], 20);
    assert!(total(&harness) >= simulator.bill());
}

#[test]
fn usage_of_nothing_is_booked_at_the_bound_and_teaches_nothing() {
    for quirk in [Quirk::ZeroUsage, Quirk::NoUsage] {
        let (harness, simulator, run) = judge(quirk, 3, &[]);
        let run = run.exits(0).says(&["does not report the usage of its replies"]);
        assert_eq!(run.stderr.matches("does not report the usage").count(), 1, "said once");
        assert_eq!(books_agree(&harness, &simulator), 0);
        for result in results(&harness, 3) {
            assert_eq!(pico(&result["cost_usd"]), pico(&result["estimate"]["worst_case_usd"]));
            assert_eq!(result["unmetered_calls"], 1);
        }
        assert_eq!(harness.report("first")["cost"]["unmetered_calls"], 3);
        let estimate = ["estimate", "manifest.jsonl", "--base-url", &simulator.base_url()];
        harness.juror(&estimate).exits(0).prints(&["no earlier run of this judge"]);
    }
}

#[test]
fn a_told_cost_is_what_is_booked_and_its_difference_is_told() {
    for quirk in [Quirk::UsageCost, Quirk::CostHeader] {
        let (harness, simulator, run) = judge(quirk, 3, &[]);
        run.exits(0).says(&["the vision API charged $", "by the price table"]);
        assert_eq!(total(&harness), simulator.bill(), "{quirk}: to the last digit");
        let results = results(&harness, 3);
        let by_table: i64 = results.iter().map(|result| pico(&result["table_cost_usd"])).sum();
        assert!(by_table < simulator.bill());
        assert!(warnings(&harness).contains("charged $"), "{}", warnings(&harness));
    }
}

#[test]
fn a_page_in_place_of_a_completion_costs_nothing_and_is_named() {
    for (quirk, shown) in [
        (Quirk::LoginPage, ["text/html; charset=utf-8", "<!DOCTYPE html>"]),
        (Quirk::ErrorIn200, ["application/json", "Provider returned error"]),
    ] {
        let (harness, simulator, run) = judge(quirk, 1, &[]);
        run.exits(3).prints(&["1 failed"]);
        assert_eq!((total(&harness), simulator.bill()), (0, 0), "{quirk}");
        let result = harness.result("first", "item_0000");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(shown.iter().all(|part| message.contains(part)), "{quirk}: {message}");
    }
}

#[test]
fn what_can_be_decoded_is_read_and_thoughts_and_drafts_are_not_the_verdict() {
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
fn an_alias_has_the_facts_and_the_price_of_its_model() {
    let (harness, simulator) = (CommandHarness::new(), quirky(Quirk::DeploymentNames));
    write_items(&harness, 2);
    let flags = ["--model", "our-deployment"];
    let unknown = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(2);
    unknown.says(&["[models.\"our-deployment\"] like = "]);
    harness.write("juror.toml", "[models.\"our-deployment\"]\nlike = \"gpt-4o\"\n");
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(0);
    assert!(!run.stderr.contains("replies in place of"), "{}", run.stderr);
    assert_eq!(total(&harness), simulator.bill());
    assert_eq!(harness.result("first", "item_0000")["judge"]["model"], "our-deployment");
    harness.write("juror.toml", "[models.\"our-deployment\"]\nlike = \"gpt-4oo\"\n");
    let misspelt =
        harness.juror(&["run", "manifest.jsonl", "--enable-llm-judge", flags[0], flags[1]]);
    misspelt.exits(2).says(&["gpt-4oo", "config/models.toml"]);
}

#[test]
fn an_answer_that_is_no_json_is_asked_for_again() {
    let (harness, simulator, run) = judge(Quirk::JsonValidateFailed, 2, &[]);
    run.exits(0);
    for result in results(&harness, 2) {
        scored(&result, 2);
    }
    books_agree(&harness, &simulator);
}

#[test]
fn a_wait_that_stands_in_the_body_is_kept() {
    let (harness, simulator, run) = judge(Quirk::WaitInBody, 3, &["-j", "1"]);
    let run = run.exits(0);
    assert!(!run.stderr.contains("without a wait or limits"), "{}", run.stderr);
    assert_eq!((simulator.requests(), total(&harness)), (6, simulator.bill()));
}

#[test]
fn a_schema_without_a_grammar_is_asked_for_in_words() {
    let (_, simulator, run) = judge(Quirk::GrammarFailed, 4, &["-j", "1"]);
    run.exits(0).says(&["is asked for from now on", "failed to parse grammar"]);
    assert_eq!(simulator.requests(), 5, "only the first question is asked in vain");
}

#[test]
fn a_schema_that_is_ignored_is_asked_for_in_words() {
    let (harness, simulator, run) = judge(Quirk::IgnoredSchema, 4, &["-j", "1"]);
    run.exits(0).says(&["is asked for from now on", "none of the properties"]);
    assert_eq!(simulator.requests(), 5, "only the first question is asked in vain");
    assert_eq!(total(&harness), simulator.bill());
}

#[test]
fn a_moderated_item_fails_alone() {
    let harness = CommandHarness::new();
    write_items(&harness, 12);
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
fn an_account_that_cannot_call_pauses_the_run_whatever_the_status() {
    for (quirk, reason) in [
        (Quirk::BudgetExceeded, "Budget has been exceeded"),
        (Quirk::InvalidModel, "check the model's name"),
        (Quirk::KeyNotValid, "API key not valid"),
        (Quirk::NoCredit, "Insufficient credits"),
    ] {
        let (harness, simulator, run) = judge(quirk, 8, &["-j", "1"]);
        run.exits(1).says(&["paused and keeps its jobs", reason, "juror retry first"]);
        assert_eq!((simulator.requests(), simulator.bill()), (1, 0), "{quirk}");
        assert_eq!(harness.report("first")["coverage"]["pending"], 8, "{quirk}");
    }
}

#[test]
fn the_base_url_of_the_sdks_stands_between_the_settings_file_and_our_own_variable() {
    let (harness, simulator) =
        (CommandHarness::new(), TestSimulator::start(SimulatorConfig::default()));
    write_items(&harness, 1);
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
fn a_header_takes_the_place_of_the_key_and_is_shown_nowhere() {
    let key = Some("gateway-key".to_owned());
    let config = SimulatorConfig { key, ..SimulatorConfig::default() };
    let (harness, simulator) = (CommandHarness::new(), TestSimulator::start(config));
    write_items(&harness, 1);
    let url = simulator.base_url();
    harness.judge(&url, "manifest.jsonl", &[]).exits(1).says(&["authentication failed"]);
    harness.write(
        "juror.toml",
        "[judge.headers]\nauthorization = { env = \"GATEWAY_TOKEN\" }\nx-team = \"blue\"\n",
    );
    let flags = ["run", "manifest.jsonl", "--enable-llm-judge", "--run-id", "second", "--base-url"];
    let mut command = harness.command(&[&flags[..], &[&url]].concat());
    let unset = Finished::from(command.output().unwrap()).exits(2);
    unset.says(&["\"authorization\"", "GATEWAY_TOKEN is not set"]);
    command.env("GATEWAY_TOKEN", "Bearer gateway-key").env("JUROR_LOG_LEVEL", "trace");
    let run = Finished::from(command.output().unwrap()).exits(0);
    assert!(!run.stderr.contains("gateway-key") && !run.stdout.contains("gateway-key"));
    harness.write("juror.toml", "[judge]\nca_file = \"missing.pem\"\n");
    harness.judge(&url, "manifest.jsonl", &[]).exits(2).says(&["judge.ca_file missing.pem"]);
}

#[test]
fn only_the_instructions_are_kept_in_a_prompt_cache_that_charges_for_writing() {
    let flags = ["--model", "gpt-5.6", "-j", "1"];
    let (harness, simulator) =
        (CommandHarness::new(), TestSimulator::start(SimulatorConfig::default()));
    write_items(&harness, 6);
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(0);
    assert!(!run.stderr.contains("prompt_cache"), "{}", run.stderr);
    assert_eq!(total(&harness), simulator.bill(), "what was written is booked as what it is");

    let (other, gateway, run) = judge(Quirk::NoCacheOptions, 6, &flags);
    let run = run.exits(0).says(&["does not take prompt_cache_options"]);
    assert_eq!(run.stderr.matches("prompt_cache_options").count(), 2, "said once");
    assert_eq!(total(&other), gateway.bill());
    assert!(simulator.bill() < gateway.bill(), "{} and {}", simulator.bill(), gateway.bill());
}

/// Judges four items in the lane `flex` and returns the harness, the simulator and the run.
fn flex(quirks: &[Quirk]) -> (CommandHarness, TestSimulator, Finished) {
    let simulator = TestSimulator::start(SimulatorConfig::with_quirks(quirks));
    let harness = CommandHarness::new();
    write_items(&harness, 4);
    let flags = ["--model", "gpt-5.4", "--lane", "flex"];
    let run = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags);
    (harness, simulator, run)
}

#[test]
fn the_flex_lane_costs_half_and_every_result_says_so() {
    let (harness, simulator, run) = flex(&[]);
    let run = run.exits(0);
    assert!(!run.stderr.contains("lane"), "{}", run.stderr);
    assert_eq!(total(&harness), simulator.bill());
    for result in results(&harness, 4) {
        assert_eq!(result["lane"], "flex");
    }
    let record = fs::read_to_string(harness.path("runs/first/run.json")).unwrap();
    assert!(
        record.contains("\"lane\":\"flex\"") || record.contains("\"lane\": \"flex\""),
        "{record}"
    );
    let (full, ordinary, run) = judge(Quirk::IgnoredTier, 4, &["--model", "gpt-5.4"]);
    run.exits(0);
    assert_eq!(total(&full), ordinary.bill());
    assert_eq!(ordinary.bill(), 2 * simulator.bill());
}

#[test]
fn a_server_that_ignores_the_lane_is_named_and_paid_in_full() {
    let (harness, simulator, run) = flex(&[Quirk::IgnoredTier]);
    let run = run.exits(0).says(&["replies in the lane realtime in place of flex"]);
    assert_eq!(run.stderr.matches("in place of flex").count(), 1, "said once");
    assert_eq!(total(&harness), simulator.bill());
    for result in results(&harness, 4) {
        let reserved = pico(&result["estimate"]["worst_case_usd"]);
        assert!(pico(&result["cost_usd"]) <= reserved, "the reservation holds all the same");
        assert_eq!(result["lane"], "realtime");
    }
}

#[test]
fn flex_without_capacity_is_waited_for_and_models_without_it_are_refused() {
    let (harness, simulator, run) = flex(&[Quirk::FlexUnavailable]);
    run.exits(0);
    assert_eq!((simulator.requests(), total(&harness)), (8, simulator.bill()));
    let flags = ["--lane", "flex"];
    let refused = harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(2);
    refused.says(&["gpt-4o", "no price in the lane flex"]);
}
