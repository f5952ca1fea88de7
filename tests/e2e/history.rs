//! Runs over time: lists, details, trends, and gates on a decline.

use crate::harness::{CommandHarness, Finished, Manual, Recorder, completion, verdict};
use serde_json::Value;

const STEADY: &str = "schema = 1\n[[rule]]\nmetric = \"semantic.avg_semantic_correctness\"\n\
                      no_decline = true\nanchor_runs = 3\nfalse_alarm_rate = 0.5\n";

/// Judges four items, each with this score in all criteria.
fn night(harness: &CommandHarness, run: &str, score: u64, flags: &[&str]) -> Finished {
    let judge = Recorder::start(vec![completion(&verdict(score), 1_000, 50); 4]);
    let url = judge.base_url();
    let fixed = ["run", "manifest.jsonl", "--run-id", run, "--enable-llm-judge", "-j", "1"];
    harness.juror(&[&fixed[..], &["--base-url", &url, "--no-cache"], flags].concat())
}

/// One run per score, named from `night-1` on.
fn nights(scores: &[u64]) -> CommandHarness {
    let harness = CommandHarness::with_items(4);
    harness.write("steady.toml", STEADY);
    for (number, score) in scores.iter().enumerate() {
        night(&harness, &format!("night-{}", number + 1), *score, &[]).exits(0);
    }
    harness
}

#[test]
fn decline_from_the_first_runs_fails_the_gate_until_it_ends() {
    let harness = nights(&[9, 9]);
    let gate = ["--gate", "steady.toml"];
    let few = night(&harness, "night-3", 9, &gate).exits(0);
    let few = few.stdout_contains(&["GATE steady.toml", "undecided", "the anchor has its 3 runs;"]);
    few.stderr_contains(&["gate steady.toml is undecided"]);
    night(&harness, "night-4", 9, &gate).exits(0).stdout_contains(&[
        "met",
        "steady: CUSUM 0 of",
        "over 1 run since the anchor (90%",
        "over 3 runs, night-1 to night-3)",
    ]);
    let fallen = night(&harness, "night-5", 3, &gate).exits(100);
    fallen.stdout_contains(&["missed", "declining for 1 run:"]);
    // Runs of another series are excluded.
    night(&harness, "some", 3, &["--limit", "2"]).exits(0);
    night(&harness, "night-6", 9, &gate).exits(100).stdout_contains(&["declining for 2 runs:"]);
    let report = harness.report("night-6");
    let decline = &report["targets"]["rules"][0]["decline"];
    assert_eq!((&decline["runs_since"], &decline["anchor_mean"]), (&3.into(), &0.9.into()));
    let trend = harness.juror(&["runs", "trend"]).exits(0);
    trend.stdout_contains(&["undecided: the anchor has 6 of 20 runs", "SEMANTIC CORRECTNESS (j)"]);
}

#[test]
fn anchor_starts_at_the_blessed_run() {
    let harness = nights(&[2, 2, 2, 9, 9, 9]);
    night(&harness, "night-7", 3, &["--gate", "steady.toml"]).exits(0);
    harness.juror(&["bless", "night-4"]).exits(0);
    harness.juror(&["report", "night-7", "--gate", "steady.toml"]).exits(100);
    let report = harness.report("night-7");
    assert_eq!(report["targets"]["rules"][0]["decline"]["anchor_first"], "night-4");
    let trend = harness.juror(&["runs", "trend"]).exits(0);
    trend.stdout_contains(&["undecided: the anchor has 4 of 20 runs"]);
}

#[test]
fn trend_covers_comparable_runs() {
    let harness = nights(&[8, 6]);
    night(&harness, "half", 3, &["--limit", "2"]).exits(0);
    night(&harness, "night-3", 9, &["--repeat", "1"]).exits(0);
    let trend = harness.juror(&["runs", "trend"]).exits(0);
    let trend =
        trend.stdout_contains(&["TREND of semantic@2", "4/4", "SEMANTIC CORRECTNESS (j)  ▆▁█"]);
    assert!(!trend.stdout.contains("half"), "{}", trend.stdout);
    let order: Vec<_> = ["night-1", "night-2", "night-3"].map(|run| trend.stdout.find(run)).into();
    assert!(order.is_sorted(), "oldest first: {}", trend.stdout);

    let reported = harness.juror(&["runs", "trend", "night-2", "--json"]).exits(0).stdout;
    let runs: Value = serde_json::from_str(&reported).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), 2);
    let of = |run: usize| &runs[run]["figures"]["metrics"]["semantic.avg_visual_similarity"];
    assert_eq!((&of(0)["value"], &of(1)["value"]), (&8.0.into(), &6.0.into()));
    assert_eq!(of(0)["n"], 4);

    let one = ["runs", "trend", "--last", "1", "--metric", "retrieval.accuracy"];
    let one = harness.juror(&one).exits(0);
    assert!(!one.stdout.contains("night-2") && !one.stdout.contains("Visual"), "{}", one.stdout);
    let unknown = harness.juror(&["runs", "trend", "--metric", "beauty"]).exits(2);
    unknown.stderr_contains(&["no metric \"beauty\"", "semantic.avg_visual_similarity"]);
}

#[test]
fn a_run_is_shown_without_its_items() {
    let harness = nights(&[8]);
    harness.juror(&["runs", "show", "night-1"]).exits(0).stdout_contains(&[
        "night-1",
        "manifest.jsonl",
        "semantic@2: ",
        "Rubric digest:",
        "gpt-4o",
        "4 of 4 scored",
        "no budget set",
    ]);
    let reported = harness.juror(&["runs", "show", "night-1", "--json"]).exits(0).stdout;
    let reported: Value = serde_json::from_str(&reported).unwrap();
    assert_eq!(
        (&reported["coverage"]["scored"], &reported["run"]["run_id"]),
        (&4.into(), &"night-1".into())
    );
    assert_eq!(reported["run"]["rubric_text"], Value::Null);
    harness.juror(&["runs", "show", "none"]).exits(2).stderr_contains(&["no run"]);
}

#[test]
fn damaged_report_is_reported_and_skipped() {
    let harness = nights(&[8, 9]);
    harness.write("runs/night-1/report.json", "{");
    let trend = harness.juror(&["runs", "trend"]).exits(0);
    assert!(!trend.stdout.contains("night-1"), "{}", trend.stdout);
    trend.stderr_contains(&["an earlier run is left out", "juror report night-1"]);
    harness.write("runs/night-2/report.json", "{}");
    harness.juror(&["runs", "trend"]).exits(1).stderr_contains(&["juror report night-2"]);
    let empty = CommandHarness::new();
    empty.juror(&["runs", "trend"]).exits(2).stderr_contains(&["no run in runs has a report"]);
}

#[test]
fn documented_commands_work() {
    let harness = nights(&[8, 9, 9]);
    let manual = Manual::page("history");
    harness.write("steady.toml", manual.blocks("toml")[0]);
    manual.run(&harness, &[]);
}
