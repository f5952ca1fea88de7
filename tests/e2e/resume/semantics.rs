//! Runs that `--resume`, `--run-id` and `retry` continue or refuse.

use crate::harness::{
    CommandHarness, Recorder, TestSimulator, completion, pico, png, repository, verdict,
    write_items,
};
use juror_simulator::{Fault, FaultPlan, ItemKey, ItemScript, SimulatorConfig};
use serde_json::{Value, json};
use std::fs;

fn fixture(items: u32) -> (CommandHarness, TestSimulator) {
    let harness = CommandHarness::with_items(items);
    (harness, TestSimulator::new())
}

/// Faults until the job fails, then successful replies.
fn failing(item: u32, times: usize) -> SimulatorConfig {
    let script = ItemScript {
        item: ItemKey::Text(format!("Number {item}<")),
        faults: vec![Some(Fault::BadRequest); times],
    };
    let faults = FaultPlan { items: vec![script], ..FaultPlan::default() };
    SimulatorConfig { faults, ..SimulatorConfig::default() }
}

#[test]
fn complete_run_is_reported_again_without_a_call() {
    let (harness, simulator) = fixture(3);
    let first = harness.judge_run(&simulator, "r", &["--gate", "targets"]);
    let calls = simulator.requests();
    let again = harness.resume("r", &["--gate", "targets"]);
    assert_eq!(again.code, first.code);
    assert_eq!(simulator.requests(), calls);
    let score = |finished: &str| {
        finished.lines().find(|line| line.contains("scored")).map(str::to_owned).unwrap()
    };
    assert_eq!(score(&again.stdout), score(&first.stdout));
    let by_name = harness.judge_run(&simulator, "r", &["--gate", "targets"]);
    assert_eq!(by_name.code, first.code);
    assert_eq!(simulator.requests(), calls);
    assert_eq!(harness.journal("r").len(), 3);
}

#[test]
fn resuming_a_missing_run_starts_it_if_a_dataset_is_given() {
    let (harness, simulator) = fixture(2);
    harness
        .resume("r", &[])
        .exits(2)
        .stderr_contains(&["there is no run \"r\"", "name its dataset too"]);
    harness
        .juror(&["retry", "r"])
        .exits(2)
        .stderr_contains(&["there is no run \"r\"", "add --redis URL"]);
    assert!(!harness.path("runs/r").exists(), "a mistyped name creates nothing");
    // State after a kill before the run was recorded.
    harness.write("runs/r/.lock", "");
    harness.write("runs/r/results.jsonl", "");
    harness.resume("r", &[]).exits(2).stderr_contains(&["there is no run \"r\""]);
    let url = simulator.base_url();
    let flags = ["manifest.jsonl", "--enable-llm-judge", "--base-url", &url];
    harness.resume("r", &flags).exits(0).stdout_contains(&["2 of 2 scored"]);
}

#[test]
fn different_run_under_the_same_name_is_refused_with_the_difference() {
    let (harness, simulator) = fixture(3);
    harness.judge_run(&simulator, "r", &["--limit", "2"]).exits(0);
    let calls = simulator.requests();
    let rubric = fs::read_to_string(repository("config/rubrics/semantic.toml")).unwrap();
    harness.write(
        "own.toml",
        rubric.replacen("9.0", "9.1", 1).replacen("version = 2", "version = 3", 1),
    );
    let same = ["--limit", "2"];
    for (flags, difference) in [
        (&["--model", "gpt-4.1"][..], "judge.model"),
        (&["--rubric", "own.toml"], "rubric"),
        (&["--repeat", "2"], "repeat"),
        (&["--limit", "3"], "selection of items"),
        (&["--filter", "language=tsx"], "selection of items"),
    ] {
        let with_limit =
            if flags[0] == "--limit" { flags.to_vec() } else { [&same, flags].concat() };
        let message = format!("its {difference} is ");
        harness
            .judge_run(&simulator, "r", &with_limit)
            .exits(2)
            .stderr_contains(&[&message, "--run-id"]);
        harness.resume("r", flags).exits(2).stderr_contains(&[&message, "cannot be resumed"]);
    }
    harness.write("small.toml", "[image]\nmax_side = 32\n");
    let small = ["--config", "small.toml"];
    harness
        .resume("r", &small)
        .exits(2)
        .stderr_contains(&["its image.max_side is not set", "32 pixels"]);
    for (stages, message) in [
        ("token_accuracy = 0.5", "its stages.token_accuracy is 0.8, but 0.5 is requested"),
        (
            "min_correctness = 0.5",
            "its stages.min_correctness is the rubric's own, but 0.5 is requested",
        ),
        ("compile_command = [\"true\"]", "its stages.compile_command is not set"),
        ("pipeline_command = [\"cat\"]", "its stages.pipeline_command is not set"),
    ] {
        harness.write("stages.toml", format!("[stages]\n{stages}\n"));
        let others = ["--config", "stages.toml"];
        harness.resume("r", &others).exits(2).stderr_contains(&[message, "cannot be resumed"]);
        let named = [&same[..], &others].concat();
        harness.judge_run(&simulator, "r", &named).exits(2).stderr_contains(&[message, "--run-id"]);
    }
    let off = ["run", "manifest.jsonl", "--run-id", "r", "--limit", "2"];
    harness.juror(&off).exits(2).stderr_contains(&["its judge is on, but off is requested"]);

    let manifest = fs::read_to_string(harness.path("manifest.jsonl")).unwrap();
    harness.write("manifest.jsonl", manifest.replace("1D4ED8", "1D4ED9"));
    harness
        .resume("r", &[])
        .exits(2)
        .stderr_contains(&["manifest.jsonl has changed since (digest "]);
    assert_eq!(simulator.requests(), calls, "nothing was spent on any of it");
    assert_eq!(harness.journal("r").len(), 2);
}

#[test]
fn concurrency_limits_budget_and_base_url_may_change() {
    let harness = CommandHarness::with_items(3);
    let first = TestSimulator::start(failing(1, 1));
    harness.judge_run(&first, "r", &["-j", "1", "--rpm", "6000"]).exits(3);
    let second = TestSimulator::new();
    let url = second.base_url();
    let flags = ["-j", "2", "--rpm", "9000", "--budget-usd", "1", "--base-url", &url];
    harness.resume("r", &flags).exits(0).stdout_contains(&["3 of 3 scored"]);
    assert_eq!(second.requests(), 1);
    let report = harness.report("r");
    let endpoints = report["run"]["base_url"].as_str().unwrap();
    assert!(endpoints.contains(&first.base_url()) && endpoints.contains(&url), "{endpoints}");
    assert!(report["warnings"].to_string().contains("verdicts are of 2 endpoints"));
}

#[test]
fn a_run_directory_has_one_process() {
    let harness = CommandHarness::with_items(2);
    let (simulator, gate) = TestSimulator::gated();
    let running = harness.start_run(&simulator, "r", &[]);
    simulator.await_requests(2);
    harness.resume("r", &[]).exits(1).stderr_contains(&["in use by another juror process"]);
    harness
        .judge_run(&simulator, "r", &[])
        .exits(1)
        .stderr_contains(&["in use by another juror process"]);
    gate.open();
    running.finish().exits(0).stdout_contains(&["2 of 2 scored"]);
    assert_eq!(simulator.count("billed_calls"), 2);
}

#[test]
fn a_run_is_resumed_from_any_folder() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::start(failing(2, 1));
    let rubric = fs::read_to_string(repository("config/rubrics/semantic.toml")).unwrap();
    harness.write("own.toml", rubric.replace("id = \"semantic\"", "id = \"mine\""));
    let ended = harness.judge_run(&simulator, "r", &["--rubric", "own.toml"]).exits(3);
    ended.stderr_contains(&["juror run --resume r"]);
    fs::remove_file(harness.path("own.toml")).unwrap();
    fs::create_dir(harness.path("elsewhere")).unwrap();
    let mut command = harness.command(&["run", "--resume", "r", "--runs-dir", "../runs"]);
    command.current_dir(harness.path("elsewhere"));
    let resumed: crate::harness::Finished = command.output().unwrap().into();
    resumed.exits(0).stdout_contains(&["3 of 3 scored"]);
}

#[test]
fn files_next_to_the_dataset_are_found_on_resume() {
    let harness = CommandHarness::new();
    let manifest = write_items(&harness, 2);
    let simulator = TestSimulator::start(failing(1, 1));
    let elsewhere = harness.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(manifest, elsewhere.join("manifest.jsonl")).unwrap();
    let url = simulator.base_url();
    let flags = ["run", "elsewhere/manifest.jsonl", "--run-id", "r", "--enable-llm-judge"];
    let more = ["--base-url", &url, "--data-root", "."];
    harness.juror(&[&flags[..], &more].concat()).exits(3);
    harness.resume("r", &[]).exits(0).stdout_contains(&["2 of 2 scored"]);
}

#[test]
fn failed_jobs_get_another_round_and_their_cost_stays_counted() {
    let harness = CommandHarness::with_items(4);
    let spoiled = ItemScript {
        item: ItemKey::Text("Number 1<".to_owned()),
        faults: vec![Some(Fault::OutOfRange); 3],
    };
    let mut config = failing(2, 2);
    config.faults.items.push(spoiled);
    let simulator = TestSimulator::start(config);
    harness.judge_run(&simulator, "r", &[]).exits(3).stdout_contains(&["2 of 4 scored"]);
    let first = harness.report("r");
    assert_eq!(first["coverage"]["unscorable"], 1);
    assert_eq!(first["coverage"]["failed"], 1);

    harness.resume("r", &[]).exits(3).stdout_contains(&["3 of 4 scored"]);
    harness.juror(&["retry", "r"]).exits(0).stdout_contains(&["4 of 4 scored"]);
    let last = harness.report("r");
    assert_eq!(pico(&last["cost"]["total_usd"]), simulator.bill());
    let rounds: Vec<_> = harness.journal("r").iter().map(|line| line["round"].clone()).collect();
    assert_eq!(rounds, [0, 0, 0, 0, 1, 1, 2]);
    // Two scored immediately, three unusable replies and the fourth, and one job that was refused
    // twice.
    assert_eq!(simulator.count("billed_calls"), 2 + 3 + 1 + 1);
}

#[test]
fn run_record_without_stages_resumes_with_any_stages() {
    let (harness, simulator) = fixture(2);
    harness.judge_run(&simulator, "r", &[]).exits(0);
    let path = harness.path("runs/r/run.json");
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(record["stages"].take()["token_accuracy"], 0.8);
    fs::write(&path, record.to_string()).unwrap();
    harness.write("juror.toml", "[stages]\ntoken_accuracy = 0.5\n");
    harness.resume("r", &[]).exits(0).stdout_contains(&["2 of 2 scored"]);
}

#[test]
fn run_keeps_its_ledger_and_a_different_one_is_warned_of() {
    let (harness, simulator) = fixture(6);
    let flags = ["--state", "st", "--budget-usd", "0.05", "-j", "1"];
    harness.judge_run(&simulator, "r", &flags).exits(3);
    let spent = pico(&harness.report("r")["cost"]["total_usd"]);
    assert!(spent > 0);
    harness.resume("r", &["--budget-usd", "0.06"]).exits(3);
    assert!(!harness.path("runs/juror.db").exists(), "no other ledger is begun");
    let other = ["--state", "other", "--budget-usd", "1"];
    harness.resume("r", &other).exits(0).stderr_contains(&["has no account of run r", "(--state)"]);
    assert_eq!(pico(&harness.report("r")["cost"]["total_usd"]), simulator.bill());
    // The record keeps the ledger of the latest resume.
    harness.resume("r", &[]).exits(0);
    assert!(!harness.path("runs/juror.db").exists());
}

#[test]
fn run_with_changed_files_of_scored_items_is_not_resumed() {
    let harness = CommandHarness::new();
    let items = (0..3).map(|number| {
        harness.write(&format!("shots/{number}.png"), png(number, 64, 32));
        harness.write(&format!("code/{number}.html"), format!("<b>Number {number}</b>"));
        harness.write(&format!("tokens/{number}.json"), r#"{"color": {"primary": "red"}}"#);
        let [shot, code, tokens] = [("shots", "png"), ("code", "html"), ("tokens", "json")]
            .map(|(folder, extension)| format!("{folder}/{number}.{extension}"));
        json!({ "id": format!("item_{number}"), "screenshot": shot, "generated_code": code,
                "extracted_tokens": tokens })
    });
    let manifest: String = items.map(|item| format!("{item}\n")).collect();
    harness.write("manifest.jsonl", manifest);
    let judge = Recorder::start(vec![completion(&verdict(9), 1_500, 60)]);
    let again = || harness.judge(&judge.base_url(), "manifest.jsonl", &[]);
    again().exits(0);
    // The same tokens in other bytes.
    harness.write("tokens/0.json", r#"{"color.primary":"red"}"#);
    again().exits(0);
    harness.write("tokens/0.json", r#"{"color.primary":"blue"}"#);
    again().exits(2).stderr_contains(&["extracted_tokens of item item_0 (tokens/0.json) changed"]);
    harness.write("tokens/0.json", r#"{"color.primary":"red"}"#);
    harness.write("code/1.html", "<i>Number 1</i>");
    harness.write("shots/2.png", png(7, 64, 32));
    let text = ["generated_code of item item_1 (code/1.html), and inputs of 1 more changed"];
    again().exits(2).stderr_contains(&text);
    harness.juror(&["run", "--resume", "first"]).exits(2).stderr_contains(&text);
    assert_eq!(judge.requests().len(), 3);
}
