//! Blessed baselines: names for runs that others are compared with.

use crate::harness::{ApiServer, CommandHarness, Finished, Recorder, completion, png, verdict};
use serde_json::{Value, json};
use std::fs;

const GOOD: [u64; 8] = [9, 8, 9, 10, 8, 9, 9, 8];
const BAD: [u64; 8] = [6, 5, 7, 7, 4, 6, 6, 5];

fn run(harness: &CommandHarness, run: &str, scores: &[u64], flags: &[&str]) -> Finished {
    let answers = scores.iter().map(|score| completion(&verdict(*score), 1_000, 50)).collect();
    let judge = Recorder::start(answers);
    let url = judge.base_url();
    let fixed = ["run", "manifest.jsonl", "--run-id", run, "--enable-llm-judge", "-j", "1"];
    harness.juror(&[&fixed[..], &["--base-url", &url, "--no-cache"], flags].concat())
}

fn runs(names: &[(&str, &[u64])]) -> CommandHarness {
    let harness = CommandHarness::with_items(8);
    for (name, scores) in names {
        run(&harness, name, scores, &[]).exits(0);
    }
    harness
}

fn listed(harness: &CommandHarness) -> Value {
    serde_json::from_str(&harness.juror(&["bless", "--list", "--json"]).exits(0).stdout).unwrap()
}

#[test]
fn blessed_run_is_the_baseline_until_another_is_blessed() {
    let harness = runs(&[("monday", &GOOD), ("tuesday", &BAD)]);
    harness.juror(&["bless", "monday"]).exits(0).stdout_contains(&["baseline main is run monday"]);
    run(&harness, "wednesday", &BAD, &["--baseline", "main"])
        .exits(100)
        .stdout_contains(&["WORSE"]);
    assert_eq!(harness.report("wednesday")["comparison"]["base"]["run"], "monday");
    harness.juror(&["report", "tuesday", "--baseline", "main"]).exits(100);
    harness.juror(&["compare", "main", "tuesday"]).exits(100).stdout_contains(&["base monday"]);

    let again = harness.juror(&["bless", "tuesday"]).exits(0);
    again.stdout_contains(&["baseline main is run tuesday; it was run monday"]);
    harness
        .juror(&["report", "wednesday", "--baseline", "main"])
        .exits(0)
        .stdout_contains(&["SAME"]);
    assert_eq!(listed(&harness)[0]["run_id"], "tuesday");
    harness.juror(&["bless", "--list"]).exits(0).stdout_contains(&["main", "tuesday"]);

    harness.write("juror.toml", "schema = 1\n[run]\nbaseline = \"main\"\n");
    harness.juror(&["report", "monday"]).exits(0).stdout_contains(&["BETTER"]);
    harness.juror(&["report", "monday", "--baseline", ""]).exits(0);
    assert!(harness.report("monday").get("comparison").is_none());
}

#[test]
fn commands_that_read_a_run_accept_its_blessed_name() {
    let harness = runs(&[("monday", &GOOD[..2])]);
    harness.juror(&["bless", "monday"]).exits(0);
    let shown = harness.juror(&["runs", "show", "monday"]).exits(0).stdout;
    assert_eq!(harness.juror(&["runs", "show", "main"]).exits(0).stdout, shown);
    harness.juror(&["report", "main"]).exits(0).stderr_contains(&["runs/monday"]);
    harness.juror(&["runs", "trend", "main"]).exits(0);
    harness.juror(&["compare", "main", "main"]).exits(0).stdout_contains(&["monday"]);
    harness.juror(&["calibrate", "main"]).exits(2).stderr_contains(&["run monday"]);
    harness.juror(&["retry", "main"]).exits(2).stderr_contains(&["no run \"main\" in runs"]);
}

#[test]
fn blessed_run_is_marked_in_lists_and_a_name_can_be_removed() {
    let harness = runs(&[("monday", &GOOD[..2])]);
    assert_eq!(listed(&harness), json!([]));
    harness
        .juror(&["bless", "--list"])
        .exits(0)
        .stdout_contains(&["no run is blessed", "juror bless RUN"]);
    harness.juror(&["bless", "runs/monday", "--name", "good"]).exits(0);
    harness.juror(&["runs"]).exits(0).stdout_contains(&["BASELINE", "good"]);
    let list = harness.juror(&["runs", "--json"]).exits(0).stdout;
    assert_eq!(serde_json::from_str::<Value>(&list).unwrap()[0]["baselines"], json!(["good"]));
    harness
        .juror(&["bless", "--remove", "good"])
        .exits(0)
        .stdout_contains(&["good is removed", "monday"]);
    harness
        .juror(&["bless", "--remove", "good"])
        .exits(2)
        .stderr_contains(&["no run is blessed", "--list"]);
    assert_eq!(listed(&harness), json!([]));
    assert!(harness.path("runs/monday/report.json").is_file());
}

#[test]
fn unknown_and_ambiguous_names_are_refused_before_any_cost() {
    let harness = runs(&[("monday", &GOOD[..2]), ("candidate", &GOOD[..2])]);
    harness.juror(&["bless", "monday"]).exits(0);
    let unknown = run(&harness, "tuesday", &[], &["--baseline", "mian"]).exits(2);
    unknown.stderr_contains(&[
        "no run \"mian\"",
        "blessed: main (run monday)",
        "newest runs: candidate",
    ]);
    assert!(!harness.path("runs/tuesday").exists());
    harness
        .juror(&["bless", "nothing"])
        .exits(2)
        .stderr_contains(&["contains no run", "juror runs"]);
    harness
        .juror(&["bless", "monday", "--name", "a/b"])
        .exits(2)
        .stderr_contains(&["a/b", "ASCII letters"]);
    let taken = harness.juror(&["bless", "monday", "--name", "candidate"]).exits(2);
    taken.stderr_contains(&["would mean two runs", "another --name"]);
    harness.juror(&["bless"]).exits(2);

    fs::rename(harness.path("runs/monday"), harness.path("kept")).unwrap();
    let gone = harness.juror(&["report", "candidate", "--baseline", "main"]).exits(2);
    gone.stderr_contains(&["baseline main is run monday, which is no longer in runs"]);
}

#[test]
fn new_run_with_the_name_of_a_blessed_run_is_refused() {
    let harness = runs(&[("monday", &GOOD[..2])]);
    harness.juror(&["bless", "monday"]).exits(0);
    let expected = ["run monday is blessed as \"main\" in ", "juror bless --remove main"];
    run(&harness, "main", &[], &[]).exits(2).stderr_contains(&expected);
    let request = json!({"dataset": "manifest.jsonl", "run_id": "main"});
    let site = ApiServer::open(&harness, &[]);
    site.post("/api/v1/runs", &request).has_status(409).body_contains(&["run monday is blessed"]);
    assert!(!harness.path("runs/main").exists());
    harness.juror(&["bless", "--remove", "main"]).exits(0);
    run(&harness, "main", &GOOD[..2], &[]).exits(0);
}

#[test]
fn a_run_with_lost_jobs_is_blessed_only_by_force() {
    let harness = CommandHarness::with_items(2);
    run(&harness, "cut", &[9], &["--budget-usd", "0.0001"]).exits(3);
    let refused = harness.juror(&["bless", "cut"]).exits(2);
    refused.stderr_contains(&["2 of 2 jobs lost (2 skipped)", "juror retry cut", "--force"]);
    assert_eq!(listed(&harness), json!([]));
    let forced = harness.juror(&["bless", "cut", "--force"]).exits(0);
    forced.stderr_contains(&["2 of 2 jobs lost", "comparisons leave their items out"]);
}

/// Run with these scores of its items, in order, equal to other nights except in its code.
fn night(harness: &CommandHarness, number: u32, scores: &[u64], flags: &[&str]) -> Finished {
    run(harness, &format!("night-{number}"), scores, flags)
}

#[test]
fn report_starts_with_new_fixed_worse_and_flaky_items() {
    let harness = CommandHarness::with_items(8);
    // Item 1 passes, fails, passes, fails; item 2 fails and is fixed; item 3 fails for the first
    // time; item 4 falls and passes still.
    night(&harness, 1, &[9, 9, 2, 9, 10, 9, 9, 9], &[]).exits(0);
    harness.juror(&["bless", "night-1"]).exits(0);
    night(&harness, 2, &[9, 2, 2, 9, 10, 9, 9, 9], &[]).exits(0);
    night(&harness, 3, &[9, 9, 2, 9, 10, 9, 9, 9], &[]).exits(0);
    let outputs = ["--baseline", "main", "-o", "out.md", "-o", "out.html", "-o", "out.json"];
    let last = night(&harness, 4, &[9, 2, 9, 3, 9, 9, 9, 9], &outputs);

    let changes = &harness.report("night-4")["comparison"]["changes"];
    let ids = |group: &str| {
        let items = changes[group]["items"].as_array().unwrap().iter();
        items.map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("new"), ["item_0003"], "{changes:#}");
    assert_eq!(ids("fixed"), ["item_0002"], "{changes:#}");
    assert_eq!(changes["flaky"][0]["id"], "item_0001");
    let outcomes = json!(["passed", "failed", "passed", "failed"]);
    assert_eq!(changes["flaky"][0]["outcomes"], outcomes);
    assert_eq!(changes["runs"], json!(["night-1", "night-2", "night-3", "night-4"]));

    let reported = ["SINCE THE BASELINE", "1 NEW", "1 FIXED", "1 FLAKY", "item_0003: 90% → 30%"];
    let last = last.stdout_contains(&reported);
    assert!(last.stdout.find("SINCE THE BASELINE") < last.stdout.find("PIPELINE"));
    let markdown = fs::read_to_string(harness.path("out.md")).unwrap();
    let heading = "**❌ Since the baseline: 1 new, 1 fixed, 1 flaky**";
    assert!(markdown.contains(heading), "{markdown}");
    let page = fs::read_to_string(harness.path("out.html")).unwrap();
    let card = page.find("id=\"changes\"").unwrap();
    assert!(card < page.find("id=\"comparison\"").unwrap());
    for part in ["Flaky items", "passed → failed → passed → failed", "New items", "Fixed items"]
    {
        assert!(page[card..].contains(part), "{part}");
    }
}

#[test]
fn flaky_items_are_excluded_from_gate_and_comparison_if_configured() {
    let harness = CommandHarness::with_items(8);
    for (number, score) in [(1, 9), (2, 2), (3, 9), (4, 2)] {
        night(&harness, number, &[9, score, 9, 9, 9, 9, 9, 9], &[]).exits(0);
    }
    harness.juror(&["bless", "night-1"]).exits(0);
    let gate =
        "schema = 1\n[[rule]]\nmetric = \"semantic.avg_semantic_correctness\"\nabove = 0.85\n";
    harness.write("gate.toml", gate);
    let report = ["report", "night-4", "--gate", "gate.toml"];
    harness.juror(&report).exits(100);
    harness.juror(&["compare", "main", "night-4"]).exits(0).stdout_contains(&["INCONCLUSIVE"]);
    harness.write("juror.toml", "schema = 1\n[compare]\nflaky = \"leave_out\"\n");
    harness.juror(&report).exits(0).stdout_contains(&["is evaluated without 1 flaky item"]);
    let compared = harness.juror(&["compare", "main", "night-4"]).exits(0);
    compared.stdout_contains(&["SAME", "left out", "Flaky items", "item_0001"]);
    harness.write("juror.toml", "schema = 1\n[compare]\nflaky_runs = 0\n");
    let compared = harness.juror(&["compare", "main", "night-4", "--json"]).exits(0);
    let found = compared.json();
    assert_eq!(found["changes"]["flaky"], json!([]));
    assert_eq!(found["changes"]["new"]["items"][0]["id"], "item_0001");
}

#[test]
fn baseline_with_lost_results_is_refused_before_any_cost() {
    let harness = runs(&[("monday", &GOOD)]);
    harness.juror(&["bless", "monday"]).exits(0);
    let journal = harness.path("runs/monday/results.jsonl");
    let lines = fs::read_to_string(&journal).unwrap();
    let kept: Vec<_> = lines.lines().take(3).collect();
    fs::write(&journal, kept.join("\n") + "\n").unwrap();
    let tuesday = run(&harness, "tuesday", &GOOD, &["--baseline", "main"]).exits(2);
    tuesday
        .stderr_contains(&["5 of 8 results of run monday are lost", "restore its results.jsonl"]);
    assert!(!harness.path("runs/tuesday").exists());
}

#[test]
fn outdated_baseline_is_warned_of_with_its_cause() {
    let harness = runs(&[("monday", &GOOD)]);
    harness.juror(&["bless", "monday"]).exits(0);
    let file = harness.path("runs/baselines/main.json");
    let mut blessed: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let warnings = |night: &str, flags: &[&str]| {
        run(&harness, night, &GOOD, &[&["--baseline", "main"][..], flags].concat()).exits(0);
        harness.report(night)["comparison"]["warnings"].to_string()
    };
    assert_eq!(warnings("tuesday", &[]), "[]");

    blessed["blessed_at"] = json!("2020-01-01T00:00:00Z");
    blessed["results_digest"] = json!("0".repeat(64));
    fs::write(&file, blessed.to_string()).unwrap();
    harness.write("shots/0003.png", png(99, 64, 32));
    let reported = warnings("wednesday", &["--model", "gpt-4.1"]);
    for part in [
        "baseline main (run monday) was blessed",
        "compare.max_baseline_age_days",
        "run monday have changed since it was blessed as main",
        "1 of the base's 8 items have another input (1)",
    ] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let shown = harness.juror(&["report", "wednesday", "--baseline", "main"]).exits(0);
    shown.stdout_contains(&["ANOTHER JUDGE", "gpt-4.1"]);
    let site = ApiServer::open(&harness, &[]);
    let output = ["run monday) was blessed", "have changed since it was blessed as main"];
    site.get("/compare?base=monday&head=wednesday").has_status(200).body_contains(&output);
    let address = "/api/v1/compare?base=monday&head=wednesday";
    let reported = site.get(address).has_status(200).json()["warnings"].to_string();
    assert!(output.iter().all(|part| reported.contains(part)), "{reported}");
    harness.juror(&["bless", "monday"]).exits(0);
    let reported = site.get(address).has_status(200).json()["warnings"].to_string();
    assert!(output.iter().all(|part| !reported.contains(part)), "blessed again: {reported}");
    fs::write(&file, blessed.to_string()).unwrap();
    harness.write("juror.toml", "schema = 1\n[compare]\nmax_baseline_age_days = 0\n");
    harness.juror(&["report", "wednesday", "--baseline", "main"]).exits(0);
    let calm = harness.report("wednesday")["comparison"]["warnings"].to_string();
    assert!(!calm.contains("days ago") && calm.contains("have changed since"), "{calm}");
}
