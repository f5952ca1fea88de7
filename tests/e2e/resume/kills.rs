//! `kill -9` at many moments: the result is the same, and no settled call is billed twice.

use crate::harness::{CallGate, CommandHarness, RunningCommand, TestSimulator, pico};
use juror_services::wait::await_file;
use juror_simulator::{Fault, FaultPlan, ItemKey, ItemScript, SimulatorConfig};
use serde_json::Value;
use std::{collections::BTreeMap, fs::OpenOptions, path::Path};

const ITEMS: u32 = 10;
/// Calls in flight, in all of these runs.
const AT_ONCE: &str = "4";
/// Budget far above the possible cost.
const BUDGET: &str = "3";

/// Run against a simulator that releases replies one by one.
struct Fixture {
    harness: CommandHarness,
    simulator: TestSimulator,
    gate: CallGate,
}

impl Fixture {
    fn new(faults: FaultPlan) -> Self {
        let gate = CallGate::closed();
        let harness = CommandHarness::with_items(ITEMS);
        let config = SimulatorConfig { faults, gate: gate.config(), ..Default::default() };
        Self { harness, simulator: TestSimulator::start(config), gate }
    }

    fn start(&self) -> RunningCommand {
        let flags = ["-j", AT_ONCE, "--budget-usd", BUDGET];
        self.harness.start_run(&self.simulator, "shaken", &flags)
    }

    /// Resumes the run to its end and checks that it equals an undisturbed run; at most `repeated`
    /// interrupted calls are billed twice.
    fn ends_well(self, repeated: u64) {
        self.gate.open();
        let resumed = self.harness.resume("shaken", &[]).exits(0);
        resumed.stdout_contains(&["10 of 10 scored"]);

        let mut results = BTreeMap::new();
        for result in self.harness.journal("shaken") {
            assert_eq!(result["outcome"], "scored");
            assert_eq!(result["round"], 0, "{result}");
            let job = result["job_id"].as_str().unwrap().to_owned();
            assert!(results.insert(job, result).is_none(), "two results of one job");
        }
        assert_eq!(results.len() as u32, ITEMS);

        let report = self.harness.report("shaken");
        let (total, billed) = (pico(&report["cost"]["total_usd"]), self.simulator.bill());
        assert!(total >= billed, "{total} of {billed} are reported");
        assert!(total <= BUDGET.parse::<i64>().unwrap() * 1_000_000_000_000);
        let calls = self.simulator.count("billed_calls");
        assert!(calls <= u64::from(ITEMS) + repeated, "{calls} calls, {repeated} cut off");

        self.harness.judge_run(&self.simulator, "whole", &["--no-cache"]).exits(0);
        let whole = self.harness.report("whole");
        for (shaken, whole) in essence(report).into_iter().zip(essence(whole)) {
            assert_eq!(shaken, whole);
        }
    }
}

/// Report without the values that a kill may change: time, cost, attempts.
fn essence(mut report: Value) -> [Value; 6] {
    for part in ["overall", "intervals"] {
        report[part].as_object_mut().unwrap().remove("avg_latency_ms");
    }
    for item in report["items"].as_array_mut().unwrap() {
        let item = item.as_object_mut().unwrap();
        item.retain(|key, _| !["cost_usd", "total_latency_ms"].contains(&key.as_str()));
    }
    let parts = ["overall", "intervals", "coverage", "items", "common_issues", "common_strengths"];
    parts.map(|part| report[part].take())
}

#[test]
fn right_after_the_start() {
    let fixture = Fixture::new(FaultPlan::default());
    let running = fixture.start();
    await_file(&fixture.harness.path("runs/shaken/run.json"), Path::exists);
    running.kill();
    fixture.harness.juror(&["report", "shaken"]).exits(3).stdout_contains(&["0 of 10 scored"]);
    fixture.ends_well(4);
}

#[test]
fn after_the_first_call_arrived() {
    let fixture = Fixture::new(FaultPlan::default());
    let running = fixture.start();
    fixture.simulator.await_requests(1);
    running.kill();
    fixture.ends_well(4);
}

#[test]
fn after_all_calls_in_flight_are_billed() {
    let fixture = Fixture::new(FaultPlan::default());
    let running = fixture.start();
    fixture.simulator.await_count("billed_calls", 4);
    running.kill();
    let report = fixture.harness.juror(&["report", "shaken"]).exits(3);
    report.stdout_contains(&["0 of 10 scored"]);
    let cost = &fixture.harness.report("shaken")["cost"];
    assert!(pico(&cost["presumed_usd"]) >= fixture.simulator.bill(), "{cost}");
    fixture.ends_well(4);
}

#[test]
fn after_the_first_journal_line() {
    kill_after_completions(1, |_| {});
}

#[test]
fn at_half_with_a_torn_last_line() {
    kill_after_completions(5, |fixture| {
        let path = fixture.harness.path("runs/shaken/results.jsonl");
        let journal = OpenOptions::new().write(true).open(path).unwrap();
        journal.set_len(journal.metadata().unwrap().len() - 100).unwrap();
    });
}

#[test]
fn with_one_job_left() {
    kill_after_completions(9, |_| {});
}

#[test]
fn right_before_the_end() {
    kill_after_completions(10, |_| {});
}

fn kill_after_completions(done: u32, then: fn(&Fixture)) {
    let fixture = Fixture::new(FaultPlan::default());
    let mut running = fixture.start();
    fixture.gate.allow(done);
    running.await_stderr(&format!("{done}/10 done"));
    let in_flight = (ITEMS - done).min(4);
    fixture.simulator.await_count("billed_calls", u64::from(done + in_flight));
    running.kill();
    then(&fixture);
    let presumes = in_flight > 0;
    let report = fixture.harness.juror(&["report", "shaken", "--json"]);
    let report = report.json();
    assert_eq!(pico(&report["cost"]["presumed_usd"]) > 0, presumes);
    let [month, total] = [&report["cost"]["month"]["spent_usd"], &report["cost"]["total_usd"]];
    assert_eq!(pico(month), pico(total), "it is the month's only run");
    let harness = &fixture.harness;
    let shown = harness.juror(&["runs", "show", "shaken"]).stdout;
    assert_eq!(shown.contains("presumed spent"), presumes, "{shown}");
    assert!(!shown.contains("in flight"), "its process is gone: {shown}");
    if done < ITEMS {
        harness
            .juror(&["report", "shaken"])
            .stderr_contains(&["resume with: juror run --resume shaken"]);
    }
    fixture.ends_well(in_flight.into());
}

#[test]
fn between_reply_and_journal() {
    let fixture = Fixture::new(FaultPlan::default());
    let running = fixture.start();
    fixture.gate.allow(3);
    fixture.simulator.await_count("answers", 3);
    running.kill();
    // Some of the three replies may be unread, and four more calls may be in flight.
    fixture.ends_well(7);
}

#[test]
fn during_a_hanging_call() {
    let hanging =
        ItemScript { item: ItemKey::Text("Number 3<".to_owned()), faults: vec![Some(Fault::Hang)] };
    let fixture = Fixture::new(FaultPlan { items: vec![hanging], ..FaultPlan::default() });
    let mut running = fixture.start();
    fixture.gate.open();
    running.await_stderr("9/10 done");
    running.kill();
    fixture.ends_well(1);
}

#[test]
fn between_two_attempts_of_a_job() {
    let spoiled = ItemScript {
        item: ItemKey::Text("Number 0<".to_owned()),
        faults: vec![Some(Fault::OutOfRange), Some(Fault::MissingKeys)],
    };
    let fixture = Fixture::new(FaultPlan { items: vec![spoiled], ..FaultPlan::default() });
    let flags = ["-j", "1", "--budget-usd", BUDGET];
    let running = fixture.harness.start_run(&fixture.simulator, "shaken", &flags);
    fixture.gate.allow(1);
    fixture.simulator.await_count("billed_calls", 2);
    running.kill();
    // The first reply was settled and unusable; the second call, unusable too, is interrupted.
    fixture.ends_well(2);
}

#[test]
fn repeatedly_with_the_same_calls_in_flight() {
    let fixture = Fixture::new(FaultPlan::default());
    let mut running = fixture.start();
    for kill in 1..=8 {
        fixture.simulator.await_count("billed_calls", kill * 4);
        running.kill();
        running = fixture.harness.start(&["run", "--resume", "shaken", "-j", AT_ONCE]);
    }
    running.kill();
    // Kills by an operator do not count against a job.
    fixture.ends_well(9 * 4);
}

#[test]
fn poison_job_is_detected_and_its_neighbors_are_judged() {
    let harness = CommandHarness::with_items(ITEMS);
    let simulator = TestSimulator::new();
    let killer =
        r#"case "$(cat)" in *item_0003*) kill -9 $PPID;; *) echo '{"quality_score": 1}';; esac"#;
    let settings = format!("[stages]\npipeline_command = [\"sh\", \"-c\", '''{killer}''']\n");
    harness.write("juror.toml", settings);
    let mut kills = 0;
    let mut ended = harness.judge_run(&simulator, "poisoned", &["-j", AT_ONCE]);
    while ended.code == -1 {
        kills += 1;
        assert!(kills <= 5, "it kills for ever");
        ended = harness.resume("poisoned", &["-j", AT_ONCE]);
    }
    assert_eq!(kills, 5);
    ended.exits(3).stdout_contains(&["9 of 10 scored"]);
    let journal = harness.journal("poisoned");
    let failed: Vec<_> = journal.iter().filter(|line| line["outcome"] == "failed").collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0]["screenshot_id"], "item_0003");
    assert_eq!(failed[0]["error"]["kind"], "poison");
}
