//! Output and effects of the commands around a run.

use crate::harness::{CommandHarness, Finished, TestSimulator, pico, png, repository};
use juror_simulator::{Named as _, Quirk};
use serde_json::{Value, json};
use std::fs;

fn json_of(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap()
}

#[test]
fn report_is_regenerated_from_its_journal() {
    let harness = CommandHarness::with_items(4);
    let simulator = TestSimulator::new();
    let first = harness.judge(&simulator.base_url(), "manifest.jsonl", &["-q"]).exits(0);
    let report = harness.report("first");
    fs::remove_file(harness.path("runs/first/report.json")).unwrap();
    let again = harness.juror(&["report", "first"]).exits(0);
    assert_eq!(harness.report("first"), report.clone());
    let reported = |text: &str| text.split("Time:").next().unwrap().to_owned();
    assert_eq!(reported(&again.stdout), reported(&first.stdout));
    let as_json = harness.juror(&["report", "first", "--json"]).exits(0);
    assert_eq!(json_of(&as_json), report);
    assert_eq!(simulator.requests(), 4);
    harness
        .juror(&["report", "none"])
        .exits(2)
        .stderr_contains(&["runs/none contains no run", "juror runs"]);
    harness.juror(&["retry", "none"]).exits(2).stderr_contains(&["no run \"none\" in runs"]);
}

#[test]
fn report_is_written_in_every_requested_format() {
    let harness = CommandHarness::with_items(3);
    harness.write("out/kept.txt", "");
    let flags = ["-o", "out/a.json", "-o", "out/a.jsonl", "-o", "out/a.csv", "--json", "--quiet"];
    let run = [&["run", "manifest.jsonl", "--run-id", "first"], &flags[..]].concat();
    let finished = harness.juror(&run).exits(0);
    assert_eq!(finished.stderr, "", "quiet");
    let report = harness.report("first");
    assert_eq!(json_of(&finished), report);
    let read = |name: &str| fs::read_to_string(harness.path(name)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&read("out/a.json")).unwrap(), report);
    let lines: Vec<Value> =
        read("out/a.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| harness.journal("first").contains(line)));
    let csv = read("out/a.csv");
    let mut rows = csv.lines();
    assert!(rows.next().unwrap().contains("screenshot_id"));
    assert_eq!(rows.count(), 3);
}

#[test]
fn runs_are_listed_with_their_outcome() {
    let harness = CommandHarness::with_items(2);
    harness.juror(&["runs"]).exits(0).stdout_contains(&["no runs in runs", "juror demo"]);
    let simulator = TestSimulator::new();
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    harness.juror(&["run", "manifest.jsonl", "--run-id", "second"]).exits(0);
    harness.juror(&["runs"]).exits(0).stdout_contains(&[
        "first",
        "second",
        "2/2",
        "gpt-4o*",
        "off",
        "SIMULATED",
    ]);
    let runs = json_of(&harness.juror(&["runs", "--json"]).exits(0));
    assert_eq!(runs[0]["run_id"], "second", "the newest first");
    assert_eq!((&runs[1]["scored"], &runs[1]["planned"]), (&json!(2), &json!(2)));
    assert_eq!(pico(&runs[1]["cost_usd"]), simulator.bill());
}

#[test]
fn rubrics_are_listed_shown_and_validated() {
    let harness = CommandHarness::new();
    harness.juror(&["rubric", "list"]).exits(0).stdout_contains(&[
        "semantic@2",
        "acrue@2",
        "20 criteria",
        "semantic@1",
    ]);
    assert_eq!(json_of(&harness.juror(&["rubric", "list", "--json"]).exits(0))[1]["criteria"], 20);
    for (name, version) in [("semantic", 2), ("acrue", 2), ("semantic@1", 1)] {
        let shown = harness.juror(&["rubric", "show", name, "--file"]).exits(0).stdout;
        assert_eq!(
            shown,
            fs::read_to_string(repository(&format!("config/rubrics/{name}.toml"))).unwrap()
        );
        harness.write("own.toml", shown);
        let checked = harness.juror(&["rubric", "check", "own.toml"]).exits(0);
        let id = name.trim_end_matches("@1");
        checked.stdout_contains(&[&format!("{id}@{version} is valid")]);
        let question = harness.juror(&["rubric", "show", name]).exits(0);
        question.stdout_contains(&[
            "# Criteria",
            "[image: ",
            "# The item",
            "\"additionalProperties\":false",
        ]);
    }
    harness.write("own.toml", "schema = 1\nid = \"own\"\n");
    harness.juror(&["rubric", "check", "own.toml"]).exits(2).stderr_contains(&["own.toml"]);
    let semantic = fs::read_to_string(repository("config/rubrics/semantic.toml")).unwrap();
    harness
        .write("own.toml", semantic.replace("max_output_tokens = 2500", "max_output_tokens = 900"));
    harness.write("other.toml", semantic.replace("id = \"semantic\"", "id = \"other\""));
    harness.juror(&["rubric", "check", "own.toml", "other.toml"]).exits(0).stderr_contains(&[
        "own.toml: max_output_tokens = 900 is less than a full reply needs",
        "own.toml: another rubric with a different text has the name semantic@2",
    ]);
    harness.write("broken.toml", "schema = 1");
    let broken = harness.juror(&["rubric", "check", "broken.toml", "own.toml", "--json"]).exits(2);
    let listed = json_of(&broken);
    assert!(listed[0]["error"].is_string() && listed[1]["rubric"].is_string(), "{listed}");
    let checked = json_of(&harness.juror(&["rubric", "check", "own.toml", "--json"]).exits(0));
    assert_eq!(checked[0]["rubric"], "semantic@2");
    assert_eq!(checked[0]["warnings"].as_array().map(Vec::len), Some(2));
    let shown = json_of(&harness.juror(&["rubric", "show", "other.toml", "--json"]).exits(0));
    assert_eq!(shown["images"], json!(["screenshot"]));
    assert_eq!(shown["reply_schema"]["additionalProperties"], false);
    let low = semantic.replace("id = \"semantic\"", "id = \"low\"");
    let low = low.replace("success = { above = 0.85 }", "success = { at_least = 0.1 }");
    let low =
        low.replace("min = 0", "min = 1").replace("{ from = 0, to = 0, ", "{ from = 1, to = 1, ");
    harness.write("low.toml", low.replace("from = 1, to = 3", "from = 2, to = 2"));
    harness.juror(&["rubric", "check", "low.toml"]).exits(0).stderr_contains(&[
        "low.toml: success = { at_least = 0.1 } is met by the worst scores: 1 of 10 everywhere is 0.10",
        "low.toml: anchors of criterion \"visual_similarity\": no band has the score 3,",
    ]);
    harness
        .juror(&["rubric", "show", "none"])
        .exits(2)
        .stderr_contains(&["no rubric \"none\": use semantic"]);
}

#[test]
fn manual_is_printed_and_parses_as_settings() {
    let harness = CommandHarness::new();
    let manual = harness.juror(&["settings"]).exits(0).stdout;
    assert_eq!(manual, fs::read_to_string(repository("config/default.toml")).unwrap());
    harness.write("juror.toml", manual);
    harness.juror(&["runs"]).exits(0);
}

#[test]
fn estimate_matches_the_run_and_excludes_cached_items() {
    let harness = CommandHarness::with_items(5);
    let simulator = TestSimulator::new();
    let url = simulator.base_url();
    let estimate = ["estimate", "manifest.jsonl", "--base-url", &url, "--json"];
    let before = json_of(&harness.juror(&estimate).exits(0));
    assert_eq!((&before["models"][0]["calls"], &before["cached"]), (&json!(5), &json!(0)));
    assert_eq!(simulator.requests(), 0, "there is no call");
    harness
        .juror(&estimate[..4])
        .exits(0)
        .stdout_contains(&["5 jobs by the rubric semantic@2", "gpt-4o"]);

    harness.judge(&url, "manifest.jsonl", &[]).exits(0);
    let cost = &harness.report("first")["cost"];
    assert_eq!(before["models"][0]["expected_usd"], cost["estimated_usd"]);
    assert_eq!(before["models"][0]["worst_case_usd"], cost["worst_case_usd"]);
    assert!(simulator.bill() <= pico(&cost["worst_case_usd"]));

    let after = json_of(&harness.juror(&estimate).exits(0));
    assert_eq!((&after["models"][0]["calls"], &after["cached"]), (&json!(0), &json!(5)));
    assert_eq!(pico(&after["models"][0]["expected_usd"]), 0);
    harness.write("shots/0002.png", png(99, 64, 32));
    let changed = json_of(&harness.juror(&estimate).exits(0));
    assert_eq!((&changed["models"][0]["calls"], &changed["cached"]), (&json!(1), &json!(4)));
    assert_eq!(changed["runs_learned_from"], 1);

    let all = ["estimate", "manifest.jsonl", "--all-models", "--json"];
    let all = json_of(&harness.juror(&all).exits(0));
    assert!(all["models"].as_array().unwrap().len() > 10);
}

#[test]
fn estimate_lists_jobs_that_would_fail() {
    let harness = CommandHarness::with_items(3);
    harness.write("shots/0001.png", "no picture");
    let estimate = harness.juror(&["estimate", "manifest.jsonl"]).exits(0);
    estimate.stdout_contains(&[
        "2 calls, 1 that would fail before any call",
        "shots/0001.png: its size cannot be read",
    ]);
}

#[test]
fn cache_is_counted_and_cleared() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    harness.judge(&simulator.base_url(), "manifest.jsonl", &[]).exits(0);
    let stats = json_of(&harness.juror(&["cache", "stats", "--json"]).exits(0));
    assert_eq!(stats["replies"], 3);
    assert_eq!(pico(&stats["cost_usd"]), 0, "the simulator costs nothing");
    assert_eq!(pico(&stats["simulated_usd"]), simulator.bill());
    harness.juror(&["cache", "stats"]).exits(0).stdout_contains(&["3 replies"]);
    harness.juror(&["cache", "clear"]).exits(0).stdout_contains(&["3 replies removed"]);
    assert_eq!(json_of(&harness.juror(&["cache", "stats", "--json"]).exits(0))["replies"], 0);
}

#[test]
fn a_dry_run_spends_and_writes_nothing() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    let dry =
        harness.judge(&simulator.base_url(), "manifest.jsonl", &["--dry-run", "--repeat", "2"]);
    dry.exits(0).stdout_contains(&["3 of 3 items are valid", "6 jobs", "Nothing was spent"]);
    let dry = harness.judge(&simulator.base_url(), "manifest.jsonl", &["--dry-run", "--json"]);
    assert_eq!(json_of(&dry.exits(0))["jobs"], 3);
    assert!(!harness.path("runs").exists());

    let flags = ["--budget-usd", "0"];
    harness.judge(&simulator.base_url(), "manifest.jsonl", &flags).exits(3);
    let report = harness.report("first");
    let resumed = ["run", "--resume", "first", "--budget-usd", "1", "--dry-run"];
    harness.juror(&resumed).exits(0).stdout_contains(&["Nothing was spent"]);
    assert_eq!(harness.report("first"), report);
    assert_eq!(simulator.requests(), 0);
}

#[test]
fn simulator_quirks_are_listed_with_their_providers() {
    let harness = CommandHarness::new();
    let listed = harness.juror(&["simulate", "--quirk", "list"]).exits(0);
    assert_eq!(listed.stdout.lines().count(), Quirk::ALL.len());
    listed.stdout_contains(&["gateway-timeout", "504 with nginx's HTML page", "moderation=0.1"]);
    let unknown = harness.juror(&["simulate", "--quirk", "gatway-timeout"]).exits(2);
    unknown.stderr_contains(&["gatway-timeout", "--quirk list"]);
}
