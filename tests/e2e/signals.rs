//! Ctrl-C and SIGTERM: once to finish what is in flight, twice to end at once.

use crate::harness::{
    CallGate, CommandHarness, Finished, RunningCommand, TestSimulator, pico, write_items,
};
use juror_simulator::{Fault, FaultPlan, SimulatorConfig};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::Write as _,
    process::Stdio,
    time::{Duration, Instant},
};

const ITEMS: u32 = 10;

struct Fixture {
    harness: CommandHarness,
    simulator: TestSimulator,
    gate: CallGate,
}

impl Fixture {
    /// A run whose calls are all held back.
    fn start(more: &[&str]) -> (Self, RunningCommand) {
        let gate = CallGate::closed();
        let harness = CommandHarness::new();
        write_items(&harness, ITEMS);
        let config = SimulatorConfig { gate: gate.config(), ..SimulatorConfig::default() };
        let simulator = TestSimulator::start(config);
        let running = harness.start_run(&simulator, "stopped", more);
        (Self { harness, simulator, gate }, running)
    }

    /// Resumes, and checks that everything is there and paid for once, but for `cut_off` calls.
    fn assert_resumes(&self, cut_off: u64) {
        self.gate.open();
        self.harness.resume("stopped", &[]).exits(0).prints(&["10 of 10 scored"]);
        assert_eq!(self.simulator.count("billed_calls"), u64::from(ITEMS) + cut_off);
        let total = pico(&self.harness.report("stopped")["cost"]["total_usd"]);
        assert!(total >= self.simulator.bill());
        assert_eq!(total == self.simulator.bill(), cut_off == 0);
    }
}

#[test]
fn once_finishes_what_is_in_flight_and_tells_how_to_go_on() {
    for signal in [Signal::INT, Signal::TERM] {
        let (fixture, mut running) = Fixture::start(&["-j", "3"]);
        fixture.simulator.await_count("billed_calls", 3);
        running.signal(signal);
        running.await_words("stopping");
        fixture.gate.open();
        let ended = running.finish().exits(3);
        ended.prints(&["3 of 10 scored"]).says(&["juror run --resume stopped"]);
        assert_eq!(fixture.simulator.requests(), 3, "no job was taken after the signal");
        let report = fixture.harness.report("stopped");
        assert_eq!(report["coverage"]["scored"], 3);
        assert_eq!(pico(&report["cost"]["presumed_usd"]), 0);
        fixture.assert_resumes(0);
    }
}

#[test]
fn cancelling_a_run_of_this_machine_says_how_it_is_stopped_or_that_it_is() {
    let (fixture, mut running) = Fixture::start(&["-j", "3"]);
    fixture.simulator.await_count("billed_calls", 3);
    let cancel = || fixture.harness.juror(&["cancel", "stopped"]);
    cancel().exits(2).says(&["with Ctrl-C in its terminal"]);
    running.signal(Signal::INT);
    running.await_words("stopping");
    fixture.gate.open();
    running.finish().exits(3);
    cancel().exits(0).prints(&[
        "run stopped is not running, nothing to cancel; 3 of 10 jobs have a result",
        "juror run --resume stopped",
    ]);
    fixture.assert_resumes(0);
}

#[test]
fn twice_ends_at_once_and_counts_what_was_in_flight() {
    for [first, second] in [[Signal::INT, Signal::INT], [Signal::TERM, Signal::INT]] {
        let (fixture, mut running) = Fixture::start(&["-j", "3"]);
        fixture.gate.let_through(2);
        running.await_words("2/10 done");
        fixture.simulator.await_count("billed_calls", 5);
        running.signal(first);
        running.await_words("stopping");
        running.signal(second);
        let ended = running.finish().exits(3);
        ended.prints(&["2 of 10 scored"]).says(&["juror run --resume stopped"]);
        let cost = &fixture.harness.report("stopped")["cost"];
        assert!(pico(&cost["presumed_usd"]) > 0, "three calls may have been billed: {cost}");
        assert!(pico(&cost["total_usd"]) >= fixture.simulator.bill());
        fixture.assert_resumes(3);
    }
}

#[test]
fn the_command_that_resumes_names_the_folders() {
    let (fixture, mut running) =
        Fixture::start(&["-j", "1", "--runs-dir", "here", "--state", "there"]);
    fixture.simulator.await_requests(1);
    running.signal(Signal::INT);
    running.await_words("stopping");
    fixture.gate.open();
    let ended = running.finish().exits(3);
    let line =
        ended.stderr.lines().find_map(|line| line.split_once("resume with: juror ")).unwrap();
    let resume: Vec<&str> = line.1.split(' ').collect();
    fixture.harness.juror(&resume).exits(0).prints(&["10 of 10 scored"]);
}

#[test]
fn a_judge_that_waits_at_a_rate_limit_is_left_at_once() {
    let (fixture, mut running) = Fixture::start(&["-j", "5", "--rpm", "1"]);
    fixture.gate.open();
    running.await_words("1/10 done");
    running.signal(Signal::INT);
    running.finish().exits(3).prints(&["1 of 10 scored"]);
    assert_eq!(fixture.simulator.requests(), 1);
}

#[test]
fn a_judge_that_waits_to_try_again_is_left_at_once() {
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    let faults = FaultPlan { script: vec![Some(Fault::RateLimit)], ..FaultPlan::default() };
    let fault_retry_after = Duration::from_secs(1_800);
    let config = SimulatorConfig { faults, fault_retry_after, ..SimulatorConfig::default() };
    let simulator = TestSimulator::start(config);
    let running = harness.start_run(&simulator, "cooling", &["-j", "1"]);
    simulator.await_count("requests", 1);
    simulator.await_idle();
    running.signal(Signal::INT);
    running.finish().exits(3).prints(&["0 of 2 scored"]);
    harness.resume("cooling", &[]).exits(0).prints(&["2 of 2 scored"]);
}

/// Capacity of a Linux pipe in bytes: a writer waits once so much is unread.
const PIPE: usize = 65_536;

#[test]
fn who_is_not_patient_with_the_report_may_leave() {
    let harness = CommandHarness::new();
    write_items(&harness, 2);
    let simulator = TestSimulator::start(SimulatorConfig::default());
    // Nobody takes what is printed, so the report comes no further.
    let (reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b' '; PIPE]).unwrap();
    let mut command = harness.judging(&simulator.base_url(), "manifest.jsonl", &[]);
    let child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let report = harness.path("runs/first/report.json");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !report.exists() {
        assert!(Instant::now() < deadline, "no report is written");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let left = Finished::from(child.wait_with_output().unwrap()).exits(130);
    left.says(&["interrupted while writing the report", "juror report first"]);
    drop(reader);
    harness.juror(&["report", "first"]).exits(0).prints(&["2 of 2 scored"]);
}
