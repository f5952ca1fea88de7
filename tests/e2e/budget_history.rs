//! `juror budget`: displayed, set and historical amounts match the bill.

use crate::harness::{
    ApiServer, CommandHarness, FleetHarness, FleetServers, Size, TestSimulator, pico,
};
use serde_json::{Value, json};
use std::time::Duration;

const MAX_WAIT: Duration = Duration::from_secs(60);

/// Sums of a history in pico-dollars. A run may have started before midnight.
fn sum(rows: &Value) -> i64 {
    rows.as_array().unwrap().iter().map(|row| pico(&row["spent_usd"])).sum()
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn status_and_history_match_the_bill_exactly() {
    let harness = CommandHarness::with_items(5);
    let simulator = TestSimulator::new();
    harness.juror(&["budget", "history"]).exits(2).stderr_contains(&["there is no folder"]);
    for run in ["one", "other"] {
        harness.judge_run(&simulator, run, &["--budget-usd", "1", "--no-cache"]).exits(0);
    }
    let bill = simulator.bill();
    assert!(bill > 0);

    let history = json_of(&harness.juror(&["budget", "history", "--json"]).exits(0).stdout);
    assert_eq!((sum(&history["days"]), sum(&history["months"])), (bill, bill), "{history}");
    for row in history["days"].as_array().unwrap() {
        assert_eq!((pico(&row["held_usd"]), pico(&row["presumed_usd"])), (0, 0));
    }
    let shown = harness.juror(&["budget", "show", "one", "other", "--json"]).exits(0);
    let states = json_of(&shown.stdout);
    let spent = |number: usize| pico(&states[number]["spent_usd"]);
    assert_eq!(spent(0) + spent(1), bill);
    assert!(states[0]["renews_at"].is_null());
    for (number, length) in [(2, "day:2026-11-21".len()), (3, "month:2026-11".len())] {
        assert_eq!(states[number]["scope"].as_str().unwrap().len(), length, "{states}");
        let renews = states[number]["renews_at"].as_str().unwrap();
        assert!(renews.ends_with("T00:00:00Z"), "{renews}");
    }
    let text = harness.juror(&["budget", "history", "--days", "1", "--months", "0"]).exits(0);
    assert!(!text.stdout.contains("MONTH"), "{}", text.stdout);
    harness.juror(&["budget", "history", "--days", "1000000"]).exits(2);
}

#[test]
fn changed_cap_applies_and_reports_the_previous_one() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    let set = |words: &[&str]| harness.juror(&[&["budget", "set"], words].concat());
    set(&["month", "0.0001"])
        .exits(0)
        .stdout_contains(&["each month may cost at most $0.0001", "no cap"]);
    harness.judge_run(&simulator, "capped", &[]).exits(3).stdout_contains(&["0 of 3 scored"]);
    assert_eq!(simulator.requests(), 0);
    let change = json_of(&set(&["month", "5", "--json"]).exits(0).stdout);
    assert_eq!(change["budget"], "month");
    let amounts = [&change["cap_usd"], &change["before_usd"]].map(pico);
    assert_eq!(amounts, ["5", "0.0001"].map(|amount| pico(&json!(amount))));
    set(&["day", "2"]).exits(0);
    harness.judge_run(&simulator, "free", &[]).exits(0).stdout_contains(&["3 of 3 scored"]);
    let shown = json_of(&harness.juror(&["budget", "show", "--json"]).exits(0).stdout);
    let left = pico(&json!("5")) - simulator.bill();
    assert_eq!(pico(&shown[0]["cap_usd"]), pico(&json!("2")));
    assert_eq!(pico(&shown[1]["left_usd"]), left);

    harness.write("juror.toml", "[budget]\nmonth_usd = \"7\"\n");
    let warned = set(&["month", "unlimited"]).exits(0);
    warned
        .stdout_contains(&["each month has no cap", "before: $5.00"])
        .stderr_contains(&["budget.month_usd", "$7.00"]);
    set(&["month", "-1"]).exits(2).stderr_contains(&["0 or more, or unlimited"]);
    set(&["week", "5"]).exits(2).stderr_contains(&["day", "month"]);
}

#[test]
fn fleet_stores_its_own_budgets() {
    let harness = CommandHarness::with_items(6);
    let simulator = TestSimulator::new();
    let size = Size { workers: 2, aggregators: 1, at_once: 2 };
    let mut fleet = FleetHarness::new(&size, FleetServers::shared_broker(), harness, simulator);
    fleet.start();
    let mut producer = fleet.producer("night", &["--budget-usd", "1"]);
    producer.start();
    assert_eq!(producer.await_exit(MAX_WAIT), 0, "{}", producer.output());
    fleet.await_report("night", MAX_WAIT);
    let set = fleet.juror(&["budget", "set", "month", "60"]).exits(0);
    set.stdout_contains(&["each month may cost at most $60.00", "before: no cap"]);
    let shown = json_of(&fleet.juror(&["budget", "show", "night", "--json"]).exits(0).stdout);
    let history = json_of(&fleet.juror(&["budget", "history", "--json"]).exits(0).stdout);
    fleet.stop();

    let bill = fleet.simulator.bill();
    assert_eq!(pico(&shown[0]["spent_usd"]), bill);
    assert_eq!(pico(&shown[2]["cap_usd"]), pico(&json!("60")));
    assert_eq!((sum(&history["days"]), sum(&history["months"])), (bill, bill), "{history}");
}

#[test]
fn days_use_the_configured_time_zone_and_a_change_is_reported() {
    let harness = CommandHarness::with_items(2);
    let simulator = TestSimulator::new();
    harness.write("juror.toml", "[budget]\nzone = \"Asia/Kolkata\"\n");
    let changed = harness.judge_run(&simulator, "first", &[]).exits(0);
    changed.stderr_contains(&[
        "days and months of budgets begin in Asia/Kolkata from now on; before: UTC",
    ]);
    let again = harness.judge_run(&simulator, "second", &["--no-cache"]).exits(0);
    assert!(!again.stderr.contains("begin in"), "{}", again.stderr);
    let shown = json_of(&harness.juror(&["budget", "show", "--json"]).exits(0).stdout);
    for state in shown.as_array().unwrap() {
        assert_eq!(state["zone"], "Asia/Kolkata");
        // Midnight in India is half past six in the evening of UTC.
        assert!(state["renews_at"].as_str().unwrap().ends_with("T18:30:00Z"), "{state}");
    }
    let history = harness.juror(&["budget", "history"]).exits(0);
    history.stdout_contains(&["time zone Asia/Kolkata"]);
    let history = json_of(&harness.juror(&["budget", "history", "--json"]).exits(0).stdout);
    assert_eq!(sum(&history["months"]), simulator.bill());

    harness.write("juror.toml", "[budget]\nzone = \"America/New_York\"\n");
    let differs = harness.juror(&["budget", "show"]).exits(0);
    differs.stderr_contains(&["budget.zone is America/New_York", "begin in Asia/Kolkata"]);
    harness.write("juror.toml", "[budget]\nzone = \"Atlantis\"\n");
    harness.juror(&["budget", "show"]).exits(2).stderr_contains(&["Atlantis", "Europe/Berlin"]);
}

#[test]
fn alerts_are_sent_once_per_budget_and_failures_are_harmless() {
    let harness = CommandHarness::with_items(4);
    let simulator = TestSimulator::new();
    let settings = "[budget]\nmonth_usd = \"1\"\n\n[[budget.alerts]]\nat = 0.0001\n\
        command = [\"sh\", \"-c\", \"cat >> sent.jsonl; echo >> sent.jsonl\"]\n\n\
        [[budget.alerts]]\nat = 0.0001\ncommand = [\"false\"]\n";
    harness.write("juror.toml", settings);
    let warned = harness.judge_run(&simulator, "first", &[]).exits(0);
    warned.stderr_contains(&["the alert at 0.0001 of budget month", "false ended with"]);
    harness.judge_run(&simulator, "second", &["--no-cache"]);
    let sent = std::fs::read_to_string(harness.path("sent.jsonl")).unwrap();
    let messages: Vec<Value> = sent.lines().map(json_of).collect();
    assert_eq!(messages.len(), 1, "{sent}");
    assert!(messages[0]["budget"].as_str().unwrap().starts_with("month:"), "{sent}");
    assert_eq!(pico(&messages[0]["cap_usd"]), pico(&json!("1")));
    assert!(pico(&messages[0]["spent_usd"]) <= simulator.bill());

    harness.write("juror.toml", "[[budget.alerts]]\nat = 80\ncommand = [\"true\"]\n");
    harness
        .juror(&["budget", "show"])
        .exits(2)
        .stderr_contains(&["at = 80", "above 0 and at most 1"]);
}

#[test]
fn report_and_dashboard_show_the_monthly_cost() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    harness.write("juror.toml", "[budget]\nmonth_usd = \"60\"\n");
    harness
        .judge_run(&simulator, "first", &[])
        .exits(0)
        .stdout_contains(&["this month: $", " of $60.00"]);
    let files = ["-o", "report.html", "-o", "report.md"];
    harness.judge_run(&simulator, "second", &[&["--no-cache"], &files[..]].concat()).exits(0);
    let month = &harness.report("second")["cost"]["month"];
    assert_eq!(pico(&month["spent_usd"]), simulator.bill());
    assert_eq!(pico(&month["budget_usd"]), pico(&json!("60")));
    for file in ["report.html", "report.md"] {
        let page = std::fs::read_to_string(harness.path(file)).unwrap();
        assert!(page.contains("this month: "), "{file}");
    }
    let site = ApiServer::open(&harness, &[]);
    site.get("/").has_status(200).body_contains(&[
        "Budgets of all runs",
        "This month",
        " of $60.00",
    ]);
}
