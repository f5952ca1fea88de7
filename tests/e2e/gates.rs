//! Gates and their exit codes.

use crate::harness::{
    CommandHarness, Finished, Manual, Recorder, SimulatorProcess, completion, verdict, write_items,
};
use serde_json::Value;
use std::fs;

/// Run of this many items with equal scores, through a gate.
fn gated(harness: &CommandHarness, items: u32, score: u64, gate: &str) -> (Finished, Value) {
    write_items(harness, items);
    let judge = Recorder::start(vec![completion(&verdict(score), 1_500, 60)]);
    let flags = ["--gate", gate, "-j", "4"];
    let finished = harness.judge(&judge.base_url(), "manifest.jsonl", &flags);
    let targets = harness.report("first")["targets"].clone();
    (finished, targets)
}

#[test]
fn production_gate_requires_100_jobs() {
    let harness = CommandHarness::new();
    let (run, targets) = gated(&harness, 100, 10, "production");
    run.exits(0);
    assert_eq!(targets["decision"], "met", "{targets}");

    let harness = CommandHarness::new();
    let (run, targets) = gated(&harness, 5, 10, "production");
    run.exits(0).stdout_contains(&["undecided"]).stderr_contains(&["gate production is undecided"]);
    assert_eq!(targets["decision"], "undecided", "{targets}");
}

#[test]
fn verdicts_from_the_cache_are_no_calls_without_a_failure() {
    let harness = CommandHarness::with_items(100);
    let judge = Recorder::start(vec![completion(&verdict(10), 1_500, 60)]);
    let url = judge.base_url();
    harness.judge(&url, "manifest.jsonl", &["-j", "4"]).exits(0);
    let again = ["run", "manifest.jsonl", "--run-id", "again", "--enable-llm-judge"];
    let again = [&again[..], &["--base-url", &url, "--gate", "production"]].concat();
    harness.juror(&again).exits(0).stderr_contains(&["gate production is undecided"]);
    assert_eq!(judge.requests().len(), 100, "the second run made no call");
    let rules = harness.report("again")["targets"]["rules"].clone();
    let is_streak = |rule: &&Value| rule["metric"] == "consecutive_without_api_failure";
    let streak = rules.as_array().unwrap().iter().find(is_streak).unwrap();
    assert_eq!((&streak["decision"], &streak["n"]), (&"undecided".into(), &0.into()), "{rules}");
}

#[test]
fn failed_gate_exits_with_100() {
    for gate in ["production", "targets"] {
        let harness = CommandHarness::new();
        harness.write(gate, "a file of this name is no gate");
        let (run, targets) = gated(&harness, 3, 5, gate);
        run.exits(100).stdout_contains(&["missed"]);
        assert_eq!(targets["decision"], "missed");
        for again in [&["run", "--resume", "first"][..], &["retry", "first"], &["report", "first"]]
        {
            harness.juror(again).exits(100);
            assert_eq!(harness.report("first")["targets"], targets, "{again:?}");
        }
        harness.juror(&["report", "first", "--gate", ""]).exits(0);
    }
}

#[test]
fn resumed_run_keeps_its_gate_and_comparison() {
    let harness = CommandHarness::with_items(12);
    let rule = "metric = \"changes.new.items\"\nat_most = 0\n";
    harness.write("gate.toml", format!("schema = 1\n[[rule]]\n{rule}"));
    let judge = |score: u64| Recorder::start(vec![completion(&verdict(score), 1_500, 60)]);
    let good = judge(10);
    harness.judge(&good.base_url(), "manifest.jsonl", &[]).exits(0);
    let worse = judge(3);
    let night = ["run", "manifest.jsonl", "--enable-llm-judge", "--base-url"];
    let flags = ["--run-id", "night", "--gate", "gate.toml", "--baseline", "first", "--no-cache"];
    let url = worse.base_url();
    let start = [&night[..], &[&url], &flags, &["--budget-usd", "0.01"]].concat();
    harness.juror(&start).exits(100).stderr_contains(&["gate.toml missed"]);
    let more = ["run", "--resume", "night", "--budget-usd", "5"];
    let resumed = harness.juror(&more).exits(100);
    resumed.stderr_contains(&["gate.toml missed"]);
    let report = harness.report("night");
    assert_eq!(report["comparison"]["decision"], "worse", "{}", report["comparison"]);
    assert_eq!(report["coverage"]["scored"], 12);
    harness.juror(&["run", "--resume", "night", "--baseline", "", "--gate", ""]).exits(0);
}

#[test]
fn custom_gate_is_a_file() {
    let harness = CommandHarness::new();
    harness.write(
        "gate.toml",
        "schema = 1\nmin_coverage = 0.5\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\nat_least = 7.0\n",
    );
    let (run, targets) = gated(&harness, 2, 7, "gate.toml");
    run.exits(0);
    assert_eq!(targets["decision"], "met", "{targets}");

    for (text, message) in [
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.charm\"\nabove = 1\n",
            "has no metric \"semantic.charm\"",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"semantic.avg_visual_similarity\"\n",
            "either above or at_least",
        ),
        (
            "schema = 1\n[[rule]]\nmetric = \"retrieval.accuracy\"\nabove = 85\n",
            "above = 85, but retrieval.accuracy ranges from 0 to 1; for 85 % use 0.85",
        ),
        ("schema = 1\n[[rule]]\nmetric = \"*\"\nmargin = 0.01\n", "unknown key 'margin'"),
        ("schema = 2\n", "schema 2, but this program reads schema 1"),
        ("schema = 1\nmin_coverage = 80\n", "a share from 0 to 1"),
    ] {
        harness.write("gate.toml", text);
        let refused = harness.juror(&["report", "first", "--gate", "gate.toml"]).exits(2);
        refused.stderr_contains(&["gate.toml", message]);
    }
}

#[test]
fn failed_gate_takes_precedence_over_an_incomplete_run() {
    let harness = CommandHarness::with_items(4);
    let answers = vec![completion(&verdict(10), 1_500, 60); 3].into_iter();
    let judge = Recorder::start(answers.chain([completion("no verdict", 1_500, 5)]).collect());
    let judged = |flags: &[&str]| harness.judge(&judge.base_url(), "manifest.jsonl", flags);
    judged(&["-j", "1"]).exits(3).stdout_contains(&["3 of 4 scored (75%), 1 unscorable"]);
    harness.juror(&["report", "first", "--gate", "production"]).exits(100);
    // The gate requires figures that the dataset has no data for.
    let targets = harness.juror(&["report", "first", "--gate", "targets"]).exits(100);
    targets.stdout_contains(&["missed", "no data"]);
}

#[test]
fn recorded_gate_whose_file_changed_or_went_is_named() {
    let harness = CommandHarness::with_items(2);
    let judge = Recorder::start(vec![completion(&verdict(7), 1_500, 60)]);
    let rule = |bound: &str| {
        let rule = format!("metric = \"semantic.avg_semantic_correctness\"\nabove = {bound}\n");
        harness.write("g.toml", format!("schema = 1\n[[rule]]\n{rule}"));
    };
    rule("0.95");
    harness.judge(&judge.base_url(), "manifest.jsonl", &["--gate", "g.toml"]).exits(100);
    let warnings = || harness.report("first")["warnings"].to_string();
    harness.juror(&["report", "first"]).exits(100);
    assert!(!warnings().contains("has changed"), "{}", warnings());
    rule("0.5");
    let resume = ["run", "--resume", "first", "--base-url", &judge.base_url()];
    for command in [&["report", "first"][..], &resume, &["retry", "first"], &["report", "first"]] {
        harness.juror(command).exits(0);
        let expected =
            "g.toml has changed since the run began: the decision is by the file as it is";
        assert!(warnings().contains(expected), "{command:?}: {}", warnings());
    }
    harness.juror(&["report", "first", "--gate", ""]).exits(0);
    assert!(!warnings().contains("has changed"), "{}", warnings());

    fs::remove_file(harness.path("g.toml")).unwrap();
    let expected = ["g.toml", "run.json of run first names it", "--gate FILE", "--gate \"\""];
    for command in [&["report", "first"][..], &resume] {
        harness.juror(command).exits(2).stderr_contains(&expected);
    }
    harness.juror(&["report", "first", "--gate", ""]).exits(0);
}

#[test]
fn documented_commands_work() {
    let harness = CommandHarness::new();
    harness.copy_golden_set("");
    fs::rename(harness.path("manifest.jsonl"), harness.path("shots.jsonl")).unwrap();
    let manual = Manual::page("gate-a-pull-request");
    harness.write("gate.toml", manual.blocks("toml")[0]);
    // Parts of the page that the reader and GitHub provide.
    harness.write("pipeline.sh", "test -s shots.jsonl\n");
    harness
        .write_program("bin/gh", "#!/bin/sh\nprintf '%s\\n' \"$@\" > told\ncp \"$5\" posted.md\n");
    let judge = SimulatorProcess::start(&harness);
    let variables = [
        ("JUROR_JUDGE_BASE_URL", judge.base_url.as_str()),
        ("GITHUB_SHA", "0123abc"),
        ("PULL", "17"),
    ];
    manual.run(&harness, &variables);

    let reported = fs::read_to_string(harness.path("told")).unwrap();
    assert!(reported.starts_with("pr\ncomment\n17\n--body-file\ncomment.md\n"), "{reported}");
    let posted = fs::read_to_string(harness.path("posted.md")).unwrap();
    assert!(posted.contains("base main-0123abc · head "), "{posted}");
    assert!(harness.path("shots.junit.xml").is_file() && harness.path("report.html").is_file());
    let report = harness.report("pull-0123abc");
    assert_eq!(report["comparison"]["decision"], "same");
    assert_eq!(report["cost"]["results_usd"], "0.000000000", "all was in the cache");
    let rules = report["targets"]["rules"].as_array().unwrap();
    let declines: Vec<&Value> = rules.iter().filter_map(|rule| rule.get("decline")).collect();
    assert!(!declines.is_empty(), "{rules:?}");
    for decline in declines {
        // The stages measure four runs; the judge's verdicts of three come from the cache.
        assert_eq!(decline["state"], "anchor_incomplete", "{decline}");
        let counts = [&decline["anchor_runs"], &decline["left_out"]];
        assert!(counts == [4, 0] || counts == [1, 3], "{decline}");
    }
}

#[test]
fn gate_limits_new_issues_since_the_baseline() {
    let harness = CommandHarness::with_items(3);
    let judged = |run: &str, score: u64, more: &[&str]| {
        let judge = Recorder::start(vec![completion(&verdict(score), 1_500, 60)]);
        let url = judge.base_url();
        let run =
            ["run", "manifest.jsonl", "--enable-llm-judge", "--base-url", &url, "--run-id", run];
        harness.juror(&[&run[..], &["--no-cache"], more].concat())
    };
    let gate = |name: &str, at_most: u32| {
        let rule = format!("metric = \"changes.new.items\"\nat_most = {at_most}\n");
        harness.write(name, format!("schema = 1\n[[rule]]\n{rule}"));
    };
    gate("none.toml", 0);
    gate("three.toml", 3);
    // The comparison itself passes: its interval is wide.
    harness.write("juror.toml", "[compare]\nmargin = 0.9\nfallen_by = 1.0\n");
    judged("first", 10, &["--gate", "none.toml"]).exits(2).stderr_contains(&["add --baseline RUN"]);
    judged("first", 10, &[]).exits(0);
    harness.juror(&["bless", "first"]).exits(0);
    let files = ["-o", "night.csv", "-o", "night.junit.xml", "--baseline", "main"];
    let night = judged("night", 5, &[&["--gate", "none.toml"], &files[..]].concat()).exits(100);
    night.stdout_contains(&["New Items", "≤ 0"]).stderr_contains(&["gate none.toml missed"]);
    let targets = harness.report("night")["targets"].clone();
    assert_eq!(targets["decision"], "missed");
    assert_eq!(targets["rules"][0]["value"], 3.0, "{targets}");
    assert_eq!(targets["rules"][0]["at_most"], 0.0);

    let items = fs::read_to_string(harness.path("manifest.jsonl")).unwrap();
    harness.write("manifest.jsonl", items.replace("\"id\":\"item_", "\"id\":\"other_"));
    let renamed = judged("renamed", 5, &["--gate", "none.toml", "--baseline", "main"]).exits(100);
    renamed.stdout_contains(&["NOTHING TO COMPARE"]);
    let targets = harness.report("renamed")["targets"].clone();
    assert_eq!(targets["rules"][0]["n"], 0, "{targets}");
    harness.write("manifest.jsonl", items);

    let table = fs::read_to_string(harness.path("night.csv")).unwrap();
    let (head, lines) = table.split_once('\n').unwrap();
    let column = head.split(',').position(|name| name == "since_baseline").unwrap();
    for line in lines.lines() {
        assert_eq!(line.split(',').nth(column), Some("new"), "{line}");
    }
    let suite = fs::read_to_string(harness.path("night.junit.xml")).unwrap();
    assert_eq!(suite.matches("\nsince_baseline: new\n").count(), 3, "{suite}");

    let again =
        |gate: &str| harness.juror(&["report", "night", "--baseline", "main", "--gate", gate]);
    again("three.toml").exits(0).stdout_contains(&["≤ 3"]);
    harness.juror(&["report", "night", "--baseline", "main", "--gate", ""]).exits(0);
    for (line, output) in [
        ("metric = \"changes.old\"\nat_most = 0", "changes.new.items, changes.new.issues"),
        ("metric = \"changes.flaky\"\nat_most = 0.5", "a whole number"),
        ("metric = \"changes.flaky\"\nabove = 1", "a whole number"),
        ("metric = \"semantic.avg_visual_similarity\"\nat_most = 1", "changes since a baseline"),
    ] {
        harness.write("wrong.toml", format!("schema = 1\n[[rule]]\n{line}\n"));
        again("wrong.toml").exits(2).stderr_contains(&[output]);
    }
}
