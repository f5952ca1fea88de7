//! Runs of a random part of a dataset.

use crate::harness::{CommandHarness, TestSimulator, write_items};
use serde_json::json;

/// Judged items of a run, in order.
fn judged(harness: &CommandHarness, run: &str) -> Vec<String> {
    let journal = harness.journal(run);
    let mut ids: Vec<String> =
        journal.iter().map(|line| line["screenshot_id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn sample_is_selected_by_its_seed_and_recorded() {
    let harness = CommandHarness::with_items(12);
    let run = |name: &str, seed: &str| {
        let flags = ["run", "manifest.jsonl", "--run-id", name, "--sample", "4", "--seed", seed];
        harness.juror(&[&flags[..], &["-o", "r.html", "-o", "r.md"]].concat())
    };
    let zero = harness.juror(&["run", "manifest.jsonl", "--sample", "0"]).exits(2);
    zero.stderr_contains(&["--sample", "give a whole number of at least 1"]);
    let message = "a random sample of 4 of 12 items (seed 7)";
    run("one", "7").exits(0).stdout_contains(&[message, "4 of 4 scored"]);
    for page in ["r.html", "r.md"] {
        let page = std::fs::read_to_string(harness.path(page)).unwrap();
        assert!(page.contains("a random sample of 4 of 12 items"), "{page}");
    }
    let sample = &harness.report("one")["run"]["dataset"]["sample"];
    assert_eq!(*sample, json!({"items": 4, "seed": 7, "of": 12}));
    harness.juror(&["runs", "show", "one"]).exits(0).stdout_contains(&[message]);
    run("two", "7").exits(0);
    assert_eq!(judged(&harness, "one"), judged(&harness, "two"));
    run("other", "8").exits(0);
    assert_ne!(judged(&harness, "one"), judged(&harness, "other"));

    run("one", "8").exits(2).stderr_contains(&["--sample 4 --seed 7", "--sample 4 --seed 8"]);
    harness.resume("one", &[]).exits(0).stdout_contains(&["4 of 4 scored"]);
    harness
        .juror(&["run", "manifest.jsonl", "--seed", "7"])
        .exits(2)
        .stderr_contains(&["--sample"]);
    harness.juror(&["estimate", "manifest.jsonl", "--sample", "0"]).exits(2);
    let estimate = harness.juror(&["estimate", "manifest.jsonl", "--sample", "3", "--json"]);
    let estimate = estimate.exits(0);
    let estimate = estimate.json();
    assert_eq!(estimate["jobs"], 3, "{estimate}");
}

#[test]
fn run_ended_by_its_budget_reports_its_judged_prefix() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    for (name, budget, judged, warning) in [
        ("nothing", "0", "no job was judged", "3 jobs unjudged: none was judged"),
        (
            "capped",
            "0.055",
            "1 of 3 jobs judged",
            "unjudged: those judged before it ended are no random sample",
        ),
    ] {
        let flags = ["--budget-usd", budget, "--no-cache", "-j", "1"];
        harness.judge_run(&simulator, name, &flags).exits(3).stderr_contains(&[judged]);
        let warnings = harness.report(name)["warnings"].to_string();
        assert!(warnings.contains(warning), "{warnings}");
    }
}

#[test]
fn run_grows_until_its_score_is_certain_and_stops_spending() {
    let harness = CommandHarness::with_items(400);
    let simulator = TestSimulator::new();
    let finished = harness.judge_run(&simulator, "wide", &["--until-width", "0.2", "-o", "r.md"]);
    finished.exits(0).stdout_contains(&["a random sample of 60 of 400 items", "60 of 60 scored"]);
    let page = std::fs::read_to_string(harness.path("r.md")).unwrap();
    assert!(page.contains("which grew until the score"), "{page}");
    assert_eq!(simulator.requests(), 60);
    let wide = interval(&harness, "wide");
    assert!(wide <= 0.2, "{wide}");

    // Half of the interval of 60 items takes about four times as many.
    let narrow = wide / 2.0;
    let flags = ["--until-width", &narrow.to_string()];
    harness.judge_run(&simulator, "narrow", &flags).exits(0);
    let sample = &harness.report("narrow")["run"]["dataset"]["sample"];
    let items = sample["items"].as_u64().unwrap();
    assert!([135, 203, 305].contains(&items), "{sample}");
    assert!(interval(&harness, "narrow") <= narrow);
    let ids = judged(&harness, "narrow");
    assert_eq!(ids.len() as u64, items, "no item is judged twice");
    assert!(judged(&harness, "wide").iter().all(|id| ids.contains(id)), "each look has the last");

    harness.judge_run(&simulator, "whole", &["--until-width", "0.0001"]).exits(0);
    let report = harness.report("whole");
    assert_eq!(report["coverage"]["scored"], 400);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("although the sample includes every item"), "{warnings}");
}

#[test]
fn growing_run_resumes_where_its_budget_ended_it() {
    let harness = CommandHarness::with_items(200);
    let simulator = TestSimulator::new();
    let flags = ["--until-width", "0.0001", "--budget-usd", "1.00", "--no-cache"];
    harness.judge_run(&simulator, "night", &flags).exits(3);
    let report = harness.report("night");
    let judged_before = report["coverage"]["scored"].as_u64().unwrap();
    assert!(judged_before > 60 && judged_before < 200, "{judged_before}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("since the run ended before"), "{warnings}");

    harness.resume("night", &["--budget-usd", "20"]).exits(0);
    let report = harness.report("night");
    assert_eq!(report["coverage"]["scored"], 200);
    assert_eq!(simulator.requests(), 200, "nothing is paid twice");

    harness.judge_run(&simulator, "plain", &[]).exits(0);
    harness
        .resume("plain", &["--until-width", "0.5"])
        .exits(2)
        .stderr_contains(&["selection of items"]);
    for (flags, message) in [
        (&["--until-width", "2"][..], "above 0 and below 1"),
        (&["--until-width", "0.1", "--sample", "5"], "cannot be used with"),
        (&["--until-width", "0.1", "--lane", "batch"], "use --lane realtime or flex"),
    ] {
        harness.judge_run(&simulator, "refused", flags).exits(2).stderr_contains(&[message]);
    }
    harness
        .juror(&["run", "manifest.jsonl", "--until-width", "0.1"])
        .exits(2)
        .stderr_contains(&["--enable-llm-judge"]);
}

#[test]
fn sample_of_a_changed_dataset_grows_no_further() {
    let harness = CommandHarness::new();
    let (simulator, gate) = TestSimulator::gated();
    write_items(&harness, 400);
    let flags = ["--until-width", "0.0001"];
    let running = harness.start_run(&simulator, "night", &flags);
    simulator.await_requests(1);
    let manifest = std::fs::read_to_string(harness.path("manifest.jsonl")).unwrap();
    harness.write("other.jsonl", manifest.replace("\"id\":\"", "\"id\":\"other-"));
    std::fs::rename(harness.path("other.jsonl"), harness.path("manifest.jsonl")).unwrap();
    gate.open();
    running.finish().exits(2).stderr_contains(&["manifest.jsonl has changed", "the first 60"]);
    assert_eq!(simulator.requests(), 60);
    harness.write("manifest.jsonl", manifest);
    harness.resume("night", &[]).exits(0);
    assert_eq!(judged(&harness, "night").len(), 400);
}

/// Width of the interval of a run's score.
fn interval(harness: &CommandHarness, run: &str) -> f64 {
    let report = harness.report(run);
    let interval = &report["intervals"]["semantic.avg_semantic_correctness"];
    interval["high"].as_f64().unwrap() - interval["low"].as_f64().unwrap()
}
