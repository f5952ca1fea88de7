//! Budgets of datasets and tags: each run stops at the cap of its own label, and all runs at those
//! of the ledger.

use crate::harness::{
    ApiServer, CommandHarness, FleetHarness, FleetServers, Size, TestSimulator, pico,
    write_items_numbered,
};
use juror_simulator::{Latency, SimulatorConfig};
use juror_types::usage::Money;
use serde_json::{Value, json};
use std::time::Duration;

const ITEMS: u32 = 40;
const MAX_WAIT: Duration = Duration::from_secs(120);

fn dollars(pico: i64) -> String {
    Money::from_pico(pico).exact()
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Worst case of one call, equal for all calls of these datasets.
fn worst_call(harness: &CommandHarness) -> i64 {
    let estimate = harness.juror(&["estimate", "manifest.jsonl", "--enable-llm-judge", "--json"]);
    let worst = &json_of(&estimate.exits(0).stdout)["models"][0]["worst_one_call_usd"];
    pico(worst) / i64::from(ITEMS)
}

fn slow() -> SimulatorConfig {
    let latency = Latency::fixed(Duration::from_millis(5));
    SimulatorConfig { latency, ..SimulatorConfig::default() }
}

/// Spent and cap of a budget, by the end of its name.
fn state(shown: &Value, prefix: &str, label: &str) -> (i64, i64) {
    let states = shown.as_array().unwrap();
    let found = states.iter().find(|state| {
        let scope = state["scope"].as_str().unwrap();
        scope.starts_with(prefix) && scope.ends_with(label)
    });
    let found = found.unwrap_or_else(|| panic!("no {prefix}…{label} in {shown}"));
    let cap = if found["cap_usd"].is_null() { -1 } else { pico(&found["cap_usd"]) };
    (pico(&found["spent_usd"]), cap)
}

/// The messages of a run's skipped jobs.
fn skips(harness: &CommandHarness, run: &str) -> Vec<String> {
    let journal = harness.journal(run);
    let skipped = journal.iter().filter(|line| line["outcome"] == "skipped");
    skipped.map(|line| line["error"]["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn two_runs_share_a_month_and_stop_at_their_own_tags() {
    let harness = CommandHarness::new();
    write_items_numbered(&harness, 100..100 + ITEMS);
    let worst = worst_call(&harness);
    let simulator = TestSimulator::start(slow());
    let (month, search, checkout) = (worst * 11, worst * 5, worst * 3);
    let set = |words: &[&str]| harness.juror(&[&["budget", "set"], words].concat()).exits(0);
    set(&["month", &dollars(month)]);
    let reported = set(&["month", &dollars(search), "--tag", "search"]);
    reported
        .stdout_contains(&["each month of tag search may cost at most $", "before: no cap"])
        .stderr_contains(&["no run has the tag search yet (no run has one)"]);
    let settings = format!("[budget.per_tag.checkout]\nday_usd = \"{}\"\n", dollars(checkout));
    harness.write("juror.toml", settings);

    let flags = |tag| ["-j", "8", "--no-cache", "--budget-tag", tag];
    let both = ["search", "checkout"].map(|tag| harness.start_run(&simulator, tag, &flags(tag)));
    for running in both {
        running.finish().exits(3).stderr_contains(&["juror budget set"]);
    }
    for (run, cap, period) in [("search", search, "month"), ("checkout", checkout, "day")] {
        let total = pico(&harness.report(run)["cost"]["total_usd"]);
        assert!(total <= cap && cap - total < worst, "{run}: {total} of {cap}");
        let skips = skips(&harness, run);
        assert!(!skips.is_empty());
        for message in skips {
            assert!(message.contains(&format!("tag {run}")), "{message}");
            let remedy = format!("juror budget set {period} AMOUNT --tag {run}");
            assert!(message.contains(&remedy), "{message}");
        }
    }
    assert!(simulator.bill() <= search + checkout);

    // A third run without a tag is stopped by the others' spending of the month.
    harness.judge_run(&simulator, "plain", &["-j", "8", "--no-cache"]).exits(3);
    assert!(simulator.bill() <= month && month - simulator.bill() < worst);
    let shown = json_of(&harness.juror(&["budget", "show", "--json"]).exits(0).stdout);
    let dataset = harness.path("").file_name().unwrap().to_string_lossy().into_owned();
    let of_dataset = format!(":dataset:{dataset}");
    assert_eq!(state(&shown, "month:", &of_dataset), (simulator.bill(), -1));
    let of = |run: &str| pico(&harness.report(run)["cost"]["total_usd"]);
    assert_eq!(state(&shown, "month:", ":tag:search"), (of("search"), search));
    assert_eq!(state(&shown, "day:", ":tag:checkout"), (of("checkout"), checkout));
    let history = ["budget", "history", "--tag", "search", "--json"];
    let history = json_of(&harness.juror(&history).exits(0).stdout);
    assert_eq!(history["label"], "tag:search");
    assert_eq!(pico(&history["months"][0]["spent_usd"]), of("search"));
    let site = ApiServer::open(&harness, &[]);
    site.get("/").has_status(200).body_contains(&["This month, tag search", "Today, tag checkout"]);
}

#[test]
fn run_keeps_its_labels_and_continues_after_a_raised_cap() {
    let harness = CommandHarness::with_items(4);
    let simulator = TestSimulator::new();
    let dataset = harness.path("").file_name().unwrap().to_string_lossy().into_owned();
    harness.write("juror.toml", "[budget]\ntags = [\"nightly\", \"team.a\"]\n");
    harness.juror(&["budget", "set", "month", "0", "--tag", "team.a"]).exits(0);
    let ended = harness.judge_run(&simulator, "kept", &["--budget-tag", "team.a"]).exits(3);
    ended.stdout_contains(&["0 of 4 scored"]);
    assert_eq!(simulator.requests(), 0);
    let record = json_of(&std::fs::read_to_string(harness.path("runs/kept/run.json")).unwrap());
    assert_eq!(record["budget_labels"], json!([format!("dataset:{dataset}"), "tag:team.a"]));

    harness
        .resume("kept", &["--budget-tag", "other"])
        .exits(2)
        .stderr_contains(&["team.a", "other"]);
    harness.juror(&["budget", "set", "month", "unlimited", "--tag", "team.a"]).exits(0);
    harness.resume("kept", &[]).exits(0).stdout_contains(&["4 of 4 scored"]);
    let shown = json_of(&harness.juror(&["budget", "show", "--json"]).exits(0).stdout);
    assert_eq!(state(&shown, "month:", ":tag:team.a"), (simulator.bill(), -1));
    let text = shown.to_string();
    assert!(!text.contains("nightly") && !text.contains("other"), "{text}");

    for (words, said) in [
        (&["--budget-tag", "a b"][..], "letters, digits"),
        (&["--resume", "kept", "--budget-tag", ""], "letters, digits"),
    ] {
        harness
            .juror(&[&["run", "manifest.jsonl"], words].concat())
            .exits(2)
            .stderr_contains(&[said]);
    }
    let nine = (0..9).map(|tag| format!("\"t{tag}\"")).collect::<Vec<_>>().join(", ");
    harness.write("juror.toml", format!("[budget]\ntags = [{nine}]\n"));
    harness.juror(&["budget", "show"]).exits(2).stderr_contains(&["budget.tags", "at most 8"]);
    harness.write("juror.toml", "[budget.per_tag.a]\nmonth_usd = -1\n");
    harness
        .juror(&["budget", "show"])
        .exits(2)
        .stderr_contains(&["budget.per_tag.a.month_usd is -1"]);
}

#[test]
fn fleet_runs_stop_at_their_own_tags() {
    let harness = CommandHarness::new();
    write_items_numbered(&harness, 100..100 + ITEMS);
    let worst = worst_call(&harness);
    let simulator = TestSimulator::start(slow());
    let size = Size { workers: 2, aggregators: 1, at_once: 4 };
    let mut fleet = FleetHarness::new(&size, FleetServers::shared_broker(), harness, simulator);
    fleet.start();
    let (month, search, checkout) = (worst * 9, worst * 5, worst * 3);
    for (cap, tag) in [(month, None), (search, Some("search")), (checkout, Some("checkout"))] {
        let cap = dollars(cap);
        let set = ["budget", "set", "month", &cap];
        let label = tag.map(|tag| ["--tag", tag]);
        fleet.juror(&[&set[..], label.as_ref().map_or(&[], |label| label)].concat()).exits(0);
    }
    for tag in ["search", "checkout"] {
        let mut producer = fleet.producer(tag, &["--budget-tag", tag]);
        producer.start();
        assert_eq!(producer.await_exit(MAX_WAIT), 0, "{}", producer.output());
    }
    for run in ["search", "checkout"] {
        fleet.await_report(run, MAX_WAIT);
    }
    let shown = json_of(&fleet.juror(&["budget", "show", "--json"]).exits(0).stdout);
    fleet.stop();
    let bill = fleet.simulator.bill();
    assert!(bill <= search + checkout && bill <= month, "{bill}");
    let total = |run: &str| pico(&fleet.harness.report(run)["cost"]["total_usd"]);
    for (run, cap) in [("search", search), ("checkout", checkout)] {
        assert!(total(run) <= cap && cap - total(run) < worst, "{run}: {} of {cap}", total(run));
        assert_eq!(state(&shown, "month:", &format!(":tag:{run}")), (total(run), cap));
        for message in skips(&fleet.harness, run) {
            assert!(message.contains(&format!("tag {run}")), "{message}");
        }
    }
    assert_eq!(total("search") + total("checkout"), bill);
}
