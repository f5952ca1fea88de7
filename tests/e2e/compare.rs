//! Comparisons: regressions, their location and their certainty.

use crate::harness::{
    CommandHarness, Finished, Manual, SimulatorProcess, TestSimulator, png, repository,
    scripted_judge, write_items,
};
use juror_simulator::SimulatorConfig;
use serde_json::{Value, json};
use std::fs;

const GOOD: [u64; 8] = [9, 8, 9, 10, 8, 9, 9, 8];
const BAD: [u64; 8] = [6, 5, 7, 7, 4, 6, 6, 5];
const UNSURE: [u64; 8] = [8, 9, 9, 8, 9, 8, 10, 7];

fn compare(harness: &CommandHarness, flags: &[&str]) -> Finished {
    harness.juror(&[&["compare", "base", "head"], flags].concat())
}

/// Runs `base` and `head` with these verdicts.
fn two_runs(base: &[u64], head: &[u64]) -> CommandHarness {
    let harness = CommandHarness::with_items(u32::try_from(base.len()).unwrap());
    harness.scripted_run("base", base, &[]).exits(0);
    harness.scripted_run("head", head, &[]).exits(0);
    harness
}

#[test]
fn planted_fall_is_a_regression_with_its_location() {
    let harness = two_runs(&GOOD, &BAD);
    let flags = ["-o", "comparison.md", "-o", "comparison.json"];
    compare(&harness, &flags).exits(100).stdout_contains(&[
        "COMPARISON",
        "WORSE",
        "Worse: Semantic Correctness 87.5% → 57.5%, −30.0 [",
        "8 regressed, 5 newly failing",
        "item_0004: 80% → 40%",
        "Pipeline Success",
        "             5             0",
    ]);
    let markdown = fs::read_to_string(harness.path("comparison.md")).unwrap();
    assert!(markdown.starts_with("## ❌ Worse: Semantic Correctness 87.5% → 57.5%"), "{markdown}");
    let file = fs::read(harness.path("comparison.json")).unwrap();
    let found: Value = serde_json::from_slice(&file).unwrap();
    let printed = compare(&harness, &["--json"]).exits(100).stdout;
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), found);
    assert_eq!((&found["decision"], &found["paired"]), (&json!("worse"), &json!(8)));
    assert_eq!(found["decisive"]["difference"], -0.3);
    assert!(found["decisive"]["high"].as_f64().unwrap() < -0.01);
    assert_eq!(found["items"]["regressed"].as_array().unwrap().len(), 8);
    assert_eq!(found["criteria"].as_array().unwrap().len(), 5);

    harness.juror(&["compare", "head", "base"]).exits(0).stdout_contains(&["BETTER", "improved"]);
    harness.juror(&["compare", "base", "base"]).exits(0).stdout_contains(&[
        "SAME",
        "none changed",
        "base and head are one run",
    ]);
    compare(&harness, &["--margin", "0.5"]).exits(0).stdout_contains(&["SAME"]);
}

#[test]
fn inconclusive_comparison_fails_only_in_strict_mode_and_names_the_needed_sample() {
    let harness = two_runs(&GOOD, &UNSURE);
    let reported =
        ["INCONCLUSIVE", "more items in both runs ($", "The effect of repeats is unknown"];
    let reported = |finished: Finished| {
        let words = finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in reported {
            assert!(words.contains(part), "no {part:?} in:\n{words}");
        }
    };
    reported(compare(&harness, &[]).exits(0));
    reported(compare(&harness, &["--strict"]).exits(4));
}

#[test]
fn comparison_with_a_run_without_a_judge_lists_nothing_that_was_merely_not_judged() {
    let harness = CommandHarness::with_items(8);
    harness.juror(&["run", "manifest.jsonl", "--run-id", "free"]).exits(0);
    harness.scripted_run("judged", &[3; 8], &["--budget-usd", "0.04"]).exits(3);
    for (base, head) in [("free", "judged"), ("judged", "free")] {
        let compared = harness.juror(&["compare", base, head, "--json"]).exits(0);
        let found = compared.json();
        assert_eq!((&found["decision"], &found["lost"]), (&json!("inconclusive"), &json!([])));
        assert_eq!(found["items"]["newly_failing"], json!([]), "{base} {head}");
        for group in ["new", "worse", "fixed"] {
            assert_eq!(found["changes"][group]["items"], json!([]), "{base} {head} {group}");
        }
        let judge = found["judge_differences"][0].as_str().unwrap();
        assert!(judge.contains("with the judge off: no verdict is compared"), "{judge}");
    }
    let report = harness.juror(&["report", "judged", "--baseline", "free"]).exits(3);
    report.stdout_contains(&["the base was run with the judge off", "none changed"]);
}

#[test]
fn run_prints_its_comparison_at_the_end() {
    let harness = CommandHarness::with_items(8);
    harness.scripted_run("base", &GOOD, &[]).exits(0);
    let worse =
        harness.scripted_run("head", &BAD, &["--baseline", "base", "-o", "out.json"]).exits(100);
    worse.stdout_contains(&["SEMANTIC EVALUATION", "COST AND TIME", "COMPARISON", "WORSE"]);
    let report = harness.report("head");
    assert_eq!(report["comparison"]["decision"], "worse");
    assert_eq!(report["comparison"]["base"]["run"], "base");
    let out = fs::read(harness.path("out.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&out).unwrap()["comparison"], report["comparison"]);

    // The baseline may be given by its directory or its report, too.
    let again = |named: &str| harness.juror(&["report", "head", "--baseline", named]);
    again("runs/base").exits(100).stdout_contains(&["WORSE"]);
    again("runs/base/report.json").exits(100);
    again("head").exits(0).stdout_contains(&["SAME"]);
    harness.juror(&["report", "head"]).exits(100).stdout_contains(&["WORSE"]);
    harness.juror(&["report", "head", "--baseline", ""]).exits(0);
    assert!(harness.report("head").get("comparison").is_none());
}

#[test]
fn baseline_that_is_a_folder_here_is_recorded_by_its_path() {
    let harness = two_runs(&GOOD, &GOOD);
    fs::rename(harness.path("runs/base"), harness.path("kept")).unwrap();
    harness.scripted_run("night", &GOOD, &["--baseline", "kept"]).exits(0);
    let record = fs::read_to_string(harness.path("runs/night/run.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["baseline"], json!(harness.path("kept")));
}

#[test]
fn incomparable_baseline_costs_nothing() {
    let harness = CommandHarness::with_items(2);
    harness.scripted_run("base", &[9, 9], &[]).exits(0);
    let rubric = fs::read_to_string(repository("config/rubrics/semantic.toml")).unwrap();
    harness.write("own.toml", format!("# changed\n{rubric}"));
    let judge = scripted_judge(&[9]);
    let url = judge.base_url();
    let flags = ["--rubric", "own.toml", "--baseline", "base"];
    let refused = harness.judge(&url, "manifest.jsonl", &flags).exits(2);
    refused.stderr_contains(&[
        "run base was judged by rubric semantic@2 (",
        "run first by semantic@2 (",
    ]);
    let earlier = ["--rubric", "semantic@1", "--baseline", "base"];
    let refused = harness.judge(&url, "manifest.jsonl", &earlier).exits(2);
    refused.stderr_contains(&[
        "run base was judged by rubric semantic@2 (",
        "run first by semantic@1 (",
    ]);
    let unknown = harness.judge(&url, "manifest.jsonl", &["--baseline", "none"]).exits(2);
    unknown.stderr_contains(&["no run \"none\" in runs", "juror runs"]);
    assert_eq!(judge.requests().len(), 0);

    harness.judge(&url, "manifest.jsonl", &["--rubric", "own.toml"]).exits(0);
    harness
        .juror(&["compare", "base", "first"])
        .exits(2)
        .stderr_contains(&["do not mean the same"]);
    harness.juror(&["compare", "base", "none"]).exits(2).stderr_contains(&["no run \"none\""]);
    harness
        .juror(&["compare", "base", "shots"])
        .exits(2)
        .stderr_contains(&["shots contains no run"]);
    let strange = ["compare", "base", "base", "-o", "comparison.csv"];
    harness.juror(&strange).exits(2).stderr_contains(&["use one of the extensions .json, .md"]);
    let margin = ["compare", "base", "base", "--margin", "-1"];
    harness.juror(&margin).exits(2).stderr_contains(&["compare.margin", "from 0 to 1"]);
}

#[test]
fn items_with_changed_inputs_are_listed_and_a_different_judge_is_warned_of() {
    let harness = CommandHarness::with_items(8);
    harness.scripted_run("base", &GOOD, &[]).exits(0);
    harness.write("shots/0003.png", png(99, 64, 32));
    let manifest = fs::read_to_string(harness.path("manifest.jsonl")).unwrap();
    let kept = manifest.lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
    harness.write("manifest.jsonl", kept.replace("item_0007", "item_0070"));
    harness.scripted_run("head", &GOOD[1..], &["--model", "gpt-4.1"]).exits(0);
    let finished = compare(&harness, &["--json"]).exits(0);
    let found = finished.json();
    let items = &found["items"];
    assert_eq!(items["changed_input"], json!(["item_0003"]));
    assert_eq!(
        (&items["new"], &items["gone"]),
        (&json!(["item_0070"]), &json!(["item_0000", "item_0007"]))
    );
    assert_eq!(found["paired"], 5);
    compare(&harness, &[]).exits(0).stdout_contains(&[
        "ANOTHER JUDGE",
        "gpt-4.1",
        "With another input",
    ]);
}

#[test]
fn simulated_comparison_is_marked_and_repeats_give_its_noise() {
    let harness = CommandHarness::with_items(12);
    let simulator =
        TestSimulator::start(SimulatorConfig { noise: 0.4, ..SimulatorConfig::default() });
    let once = ["--repeat", "3", "--baseline", "base"];
    harness
        .judge_run(&simulator, "base", &once[..2])
        .exits(0)
        .stdout_contains(&["REPEATS  SIMULATED"]);
    let flags = [&once[..], &["--no-cache"]].concat();
    let finished = harness.judge_run(&simulator, "head", &flags);
    assert!([0, 100].contains(&finished.code), "{}", finished.stderr);
    finished.stdout_contains(&["COMPARISON  SIMULATED", "REPEATS", "Alpha", "Verdicts differ on"]);
    let report = harness.report("head");
    assert_eq!(report["comparison"]["simulated"], true);
    let repeats = &report["repeats"];
    assert_eq!(repeats["items"].as_array().unwrap().len(), 12);
    assert_eq!(repeats["items"][0]["n"], 3);
    assert_eq!(repeats["score"]["items"], 12);
    let share = repeats["score"]["noise_share"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.0, "{repeats}");
    assert!(repeats["criteria"][0]["alpha"].as_f64().unwrap() < 1.0);
    harness.judge_run(&simulator, "single", &[]).exits(0);
    assert!(harness.report("single").get("repeats").is_none());
}

#[test]
fn documented_commands_run() {
    let harness = CommandHarness::new();
    let manifest = write_items(&harness, 6);
    fs::rename(manifest, harness.path("shots.jsonl")).unwrap();
    let simulator =
        TestSimulator::start(SimulatorConfig { noise: 0.3, ..SimulatorConfig::default() });
    let judge = simulator.base_url();
    Manual::page("compare").run(&harness, &[("JUROR_JUDGE_BASE_URL", &judge)]);
    assert!(harness.path("comparison.md").is_file());
}

#[test]
fn issues_of_items_scored_in_one_run_are_no_change() {
    let harness = CommandHarness::new();
    let simulator = SimulatorProcess::start(&harness);
    let golden = repository("examples/golden/manifest.jsonl");
    harness.judge(&simulator.base_url, &golden, &[]).exits(0);
    let mut command = harness.command(&["run", &golden, "--enable-llm-judge", "--limit", "10"]);
    command.args(["--base-url", &simulator.base_url, "--run-id", "part", "--baseline", "first"]);
    command.output().unwrap();
    let changes = &harness.report("part")["comparison"]["changes"];
    for (list, kind) in [("new", "issues"), ("worse", "issues"), ("fixed", "issues")] {
        assert_eq!(changes[list][kind], serde_json::json!([]), "{list}: {changes}");
    }
}
