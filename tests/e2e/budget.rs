//! Budgets per run, day and month, which are never exceeded.

use crate::harness::{CommandHarness, RunningCommand, TestSimulator, pico};
use juror_simulator::{Latency, SimulatorConfig};
use juror_types::usage::Money;
use serde_json::Value;
use std::time::Duration;

/// Maximum and minimum cost of a call of these datasets, as a report states them.
struct Prices {
    worst: i64,
    least: i64,
}

/// Makes one call to measure them.
fn prices() -> Prices {
    let harness = CommandHarness::with_items(1);
    let simulator = TestSimulator::new();
    harness.judge_run(&simulator, "one", &[]).exits(0);
    let cost = &harness.report("one")["cost"];
    let call = &harness.journal("one")[0]["estimate"];
    Prices { worst: pico(&call["worst_case_usd"]), least: pico(&cost["total_usd"]) }
}

fn dollars(pico: i64) -> String {
    Money::from_pico(pico).to_string()
}

fn slow() -> SimulatorConfig {
    let latency = Latency::fixed(Duration::from_millis(5));
    SimulatorConfig { latency, ..SimulatorConfig::default() }
}

#[test]
fn request_beyond_the_models_context_is_no_matter_of_the_budget() {
    let harness = CommandHarness::with_items(2);
    // At about four characters a token, 150,000 tokens; gpt-4o takes 128,000.
    let code = "const a = 1;".repeat(50_000);
    let manifest = std::fs::read_to_string(harness.path("manifest.jsonl")).unwrap();
    harness.write(
        "manifest.jsonl",
        manifest.replace("export const Item", &format!("{code}const Item")),
    );
    let simulator = TestSimulator::new();
    for budget in ["0.05", "5"] {
        let flags = ["--budget-usd", budget, "--no-cache"];
        harness.judge_run(&simulator, &format!("of-{budget}"), &flags).exits(3);
        let error = harness.result(&format!("of-{budget}"), "item_0000")["error"].clone();
        assert_eq!(error["kind"], "request", "{error}");
        let message = error["message"].as_str().unwrap();
        for part in ["input tokens, and model gpt-4o takes at most 128000", "larger context"] {
            assert!(message.contains(part), "no {part:?} in {message}");
        }
    }
    assert_eq!(simulator.requests(), 0);
    let estimate = harness.juror(&["estimate", "manifest.jsonl"]).exits(0);
    estimate.stdout_contains(&["2 that would fail before any call", "at most 128000"]);
}

#[test]
fn sixty_four_concurrent_calls_of_twenty_times_the_cap() {
    const ITEMS: u32 = 64;
    let prices = prices();
    let cap = prices.worst * i64::from(ITEMS) / 20;
    let harness = CommandHarness::with_items(ITEMS);
    let simulator = TestSimulator::start(slow());
    let flags = ["-j", "64", "--budget-usd", &dollars(cap)];
    let ended = harness.judge_run(&simulator, "capped", &flags).exits(3);
    ended.stderr_contains(&["juror run --resume capped"]).stdout_contains(&["of 64 scored"]);

    assert!(simulator.bill() <= cap);
    assert!(cap - simulator.bill() < prices.worst * 11 / 10, "a call is left unused");
    assert!(simulator.count("max_in_flight") <= 4, "more were in flight than the cap can hold");
    let report = harness.report("capped");
    let (scored, skipped) = (&report["coverage"]["scored"], &report["coverage"]["skipped"]);
    assert_eq!(scored.as_u64().unwrap() + skipped.as_u64().unwrap(), u64::from(ITEMS));
    assert_eq!(*scored, simulator.count("billed_calls"));
    assert_eq!(pico(&report["cost"]["total_usd"]), simulator.bill());
    for result in harness.journal("capped") {
        if result["outcome"] == "skipped" {
            assert_eq!(result["error"]["kind"], "budget");
            assert!(result["error"]["message"].as_str().unwrap().contains("run capped has spent"));
        }
    }

    let enough = dollars(prices.worst * i64::from(ITEMS));
    let resumed = harness.resume("capped", &["--budget-usd", &enough]).exits(0);
    let resumed = resumed.stdout_contains(&["64 of 64 scored"]);
    let shown = Money::from_pico(simulator.bill()).rounded(4);
    resumed.stderr_contains(&[&format!("done, ${shown} of $")]);
    assert_eq!(simulator.count("billed_calls"), u64::from(ITEMS), "nothing was paid twice");
    assert_eq!(pico(&harness.report("capped")["cost"]["total_usd"]), simulator.bill());
}

/// Three items, and a budget in pico-dollars that covers one call.
fn budget_for_one_call() -> (CommandHarness, TestSimulator, i64) {
    let prices = prices();
    let cap = prices.worst + prices.least / 2;
    (CommandHarness::with_items(3), TestSimulator::new(), cap)
}

#[test]
fn budget_holds_after_loss_of_its_ledger() {
    let (harness, simulator, cap) = budget_for_one_call();
    let flags = ["--budget-usd", &dollars(cap), "--budget-tag", "night"];
    harness.judge_run(&simulator, "moved", &flags).exits(3);
    let bill = simulator.bill();
    assert!(0 < bill && bill <= cap);

    for file in ["juror.db", "juror.db-wal", "juror.db-shm"] {
        let _ = std::fs::remove_file(harness.path("runs").join(file));
    }
    harness.resume("moved", &[]).exits(3);
    assert_eq!(simulator.bill(), bill, "the journal has the earlier cost of the run");
    let report = harness.report("moved");
    assert_eq!(pico(&report["cost"]["total_usd"]), simulator.bill());
    let history = harness.juror(&["budget", "history", "--tag", "night", "--json"]).exits(0).stdout;
    let history: Value = serde_json::from_str(&history).unwrap();
    assert_eq!(pico(&history["months"][0]["spent_usd"]), simulator.bill(), "{history}");
}

#[test]
fn resumed_run_keeps_its_budget() {
    let (harness, simulator, cap) = budget_for_one_call();
    harness.judge_run(&simulator, "kept", &["--budget-usd", &dollars(cap)]).exits(3);
    harness.write("juror.toml", "[budget]\nrun_usd = \"100\"\n");
    harness.resume("kept", &[]).exits(3);
    harness.judge_run(&simulator, "kept", &[]).exits(3);
    assert!(simulator.bill() <= cap, "the settings say nothing of a run that has a budget");
    assert_eq!(pico(&harness.report("kept")["cost"]["budget_usd"]), cap);
    harness.judge_run(&simulator, "kept", &["--budget-usd", "100"]).exits(0);
}

#[test]
fn zero_budget_spends_nothing() {
    let harness = CommandHarness::with_items(3);
    let simulator = TestSimulator::new();
    let ended = harness.judge_run(&simulator, "none", &["--budget-usd", "0"]).exits(3);
    ended.stdout_contains(&["0 of 3 scored"]);
    assert_eq!(simulator.requests(), 0);
}

#[test]
fn two_processes_share_a_daily_and_a_monthly_cap() {
    const ITEMS: u32 = 20;
    let prices = prices();
    for period in ["day", "month"] {
        let cap = prices.worst * 4;
        let harness = CommandHarness::with_items(ITEMS);
        let simulator = TestSimulator::start(slow());
        harness.write("juror.toml", format!("[budget]\n{period}_usd = \"{}\"\n", dollars(cap)));
        let flags = ["-j", "20", "--state", "shared", "--no-cache"];
        let both = ["one", "other"].map(|run| harness.start_run(&simulator, run, &flags));
        for running in both {
            running.finish().exits(3);
        }
        assert!(simulator.bill() <= cap, "{period}");
        assert!(cap - simulator.bill() < prices.worst * 11 / 10, "{period}");
        let total = |run| pico(&harness.report(run)["cost"]["total_usd"]);
        assert_eq!(total("one") + total("other"), simulator.bill());
        for result in harness.journal("one") {
            let message = result["error"]["message"].as_str().unwrap_or(period);
            assert!(message.contains(period), "{message}");
        }
    }
}

#[test]
fn run_without_a_budget_reports_it() {
    let harness = CommandHarness::with_items(1);
    let simulator = TestSimulator::new();
    let ended = harness.judge_run(&simulator, "free", &[]).exits(0);
    ended.stderr_contains(&["no budget: spending is unlimited; set one with --budget-usd"]);
    assert_eq!(harness.report("free")["cost"]["budget_usd"], Value::Null);
}

#[test]
fn budget_holds_across_kills() {
    const ITEMS: u32 = 12;
    let prices = prices();
    let cap = prices.worst * 5;
    let harness = CommandHarness::with_items(ITEMS);
    let (simulator, gate) = TestSimulator::gated();
    let flags = ["-j", "2", "--budget-usd", &dollars(cap)];
    let mut running = harness.start_run(&simulator, "killed", &flags);
    for kill in 1..=2 {
        simulator.await_count("billed_calls", 2 * kill);
        running.kill();
        running = harness.start(&["run", "--resume", "killed", "-j", "2"]);
    }
    gate.open();
    running.finish().exits(3);
    let report = harness.report("killed");
    let total = pico(&report["cost"]["total_usd"]);
    assert!(simulator.bill() <= total && total <= cap, "{total} of {cap}");
    // Four calls of the killed process count in full; the rest is available to others.
    let presumed = pico(&report["cost"]["presumed_usd"]);
    assert!(presumed > prices.worst * 3 && presumed < prices.worst * 5, "{presumed}");
    assert!(report["coverage"]["scored"].as_u64().unwrap() >= 1);

    let enough = dollars(prices.worst * i64::from(ITEMS) + presumed);
    harness.resume("killed", &["--budget-usd", &enough]).exits(0);
    let total = pico(&harness.report("killed")["cost"]["total_usd"]);
    assert!(total >= simulator.bill() && total >= prices.least * i64::from(ITEMS));
}

#[test]
fn results_missing_from_the_journal_after_a_crash_are_restored() {
    let prices = prices();
    let harness = CommandHarness::with_items(6);
    let simulator = TestSimulator::new();
    // The budget covers three calls: a call is admitted while its worst case fits.
    let cap = prices.worst + prices.least * 5 / 2;
    let flags = ["-j", "1", "--budget-usd", &dollars(cap)];
    harness.judge_run(&simulator, "lost", &flags).exits(3);
    let paid = simulator.count("billed_calls");
    // State after a crash between storing and committing results.
    harness.write("runs/lost/results.jsonl", "");
    let enough = dollars(prices.worst * 6);
    let resumed = harness.resume("lost", &["--budget-usd", &enough]).exits(0);
    resumed.stdout_contains(&["6 of 6 scored"]);
    assert_eq!(simulator.count("billed_calls"), 6, "{paid} were paid for already");
    assert_eq!(pico(&harness.report("lost")["cost"]["total_usd"]), simulator.bill());
    let rounds = |line: &Value| line["round"].as_u64().unwrap();
    assert_eq!(harness.journal("lost").iter().map(rounds).sum::<u64>(), 6 - paid);
}

#[test]
fn bill_above_its_bound_stops_the_run_and_is_reported() {
    let prices = prices();
    let harness = CommandHarness::with_items(6);
    // At gpt-4o's 2.50 USD a million, far above the bound of any call here.
    let config = SimulatorConfig { extra_input_tokens: 20_000, ..SimulatorConfig::default() };
    let simulator = TestSimulator::start(config);
    let flags = ["-j", "1", "--budget-usd", "10"];
    harness.judge_run(&simulator, "over", &flags).exits(3).stdout_contains(&["1 of 6 scored"]);
    assert_eq!(simulator.count("billed_calls"), 1);
    let report = harness.report("over");
    assert_eq!(pico(&report["cost"]["total_usd"]), simulator.bill());
    let overrun = pico(&report["cost"]["overrun_usd"]);
    assert!(overrun > 0 && overrun <= simulator.bill());
    assert!(overrun >= simulator.bill() - prices.worst * 11 / 10);
    let skipped = harness.journal("over").into_iter().find(|line| line["outcome"] == "skipped");
    let message = skipped.unwrap()["error"]["message"].to_string();
    assert!(message.contains("a bill exceeded its upper bound"), "{message}");
    // Resuming admits one more call, and the run stops again.
    harness.resume("over", &["-j", "1"]).exits(3).stdout_contains(&["2 of 6 scored"]);
}

#[test]
fn daily_and_monthly_caps_persist_until_lifted() {
    let harness = CommandHarness::with_items(2);
    let simulator = TestSimulator::new();
    for variable in ["JUROR_BUDGET_DAY_USD", "JUROR_BUDGET_MONTH_USD"] {
        let judge = |run: &str, cap: Option<&str>| {
            let flags = ["--base-url", &simulator.base_url(), "--no-cache", "--run-id", run];
            let judging = ["run", "manifest.jsonl", "--enable-llm-judge"];
            let mut command = harness.command(&[&judging[..], &flags].concat());
            command.envs(cap.map(|cap| (variable, cap)));
            RunningCommand::start(command).finish()
        };
        let run = |name: &str| format!("{name}_{}", variable.to_lowercase());
        judge(&run("capped"), Some("0.0001")).exits(3).stdout_contains(&["0 of 2 scored"]);
        let silent = judge(&run("silent"), None).exits(3);
        silent.stdout_contains(&["0 of 2 scored"]).stderr_contains(&["juror budget set"]);
        judge(&run("lifted"), Some("unlimited")).exits(0).stdout_contains(&["2 of 2 scored"]);
        judge(&run("after"), None).exits(0).stdout_contains(&["2 of 2 scored"]);
    }
}
