//! Ctrl-C and SIGTERM: the first finishes calls in flight, the second ends immediately.

use crate::harness::{
    CallGate, CommandHarness, Finished, RunningCommand, TestSimulator, pico, pid,
};
use juror_services::wait::await_file;
use juror_simulator::{Fault, FaultPlan, SimulatorConfig};
use rustix::process::{Signal, kill_process};
use std::{io::Write as _, path::Path, process::Stdio, time::Duration};

const ITEMS: u32 = 10;

struct Fixture {
    harness: CommandHarness,
    simulator: TestSimulator,
    gate: CallGate,
}

impl Fixture {
    /// Run with all calls held.
    fn start(more: &[&str]) -> (Self, RunningCommand) {
        let harness = CommandHarness::with_items(ITEMS);
        let (simulator, gate) = TestSimulator::gated();
        let running = harness.start_run(&simulator, "stopped", more);
        (Self { harness, simulator, gate }, running)
    }

    /// Resumes the run and checks that every item is scored and billed once, except `cut_off`
    /// interrupted calls.
    fn assert_resumes(&self, cut_off: u64) {
        self.gate.open();
        self.harness.resume("stopped", &[]).exits(0).stdout_contains(&["10 of 10 scored"]);
        assert_eq!(self.simulator.count("billed_calls"), u64::from(ITEMS) + cut_off);
        let total = pico(&self.harness.report("stopped")["cost"]["total_usd"]);
        assert!(total >= self.simulator.bill());
        assert_eq!(total == self.simulator.bill(), cut_off == 0);
    }
}

#[test]
fn first_signal_finishes_calls_in_flight_and_prints_the_resume_command() {
    for signal in [Signal::INT, Signal::TERM] {
        let (fixture, mut running) = Fixture::start(&["-j", "3"]);
        fixture.simulator.await_count("billed_calls", 3);
        running.signal(signal);
        running.await_stderr("stopping");
        fixture.gate.open();
        let ended = running.finish().exits(3);
        ended.stdout_contains(&["3 of 10 scored"]).stderr_contains(&["juror run --resume stopped"]);
        assert_eq!(fixture.simulator.requests(), 3, "no job was taken after the signal");
        let report = fixture.harness.report("stopped");
        assert_eq!(report["coverage"]["scored"], 3);
        assert_eq!(pico(&report["cost"]["presumed_usd"]), 0);
        fixture.assert_resumes(0);
    }
}

#[test]
fn cancelling_a_local_run_explains_how_to_stop_it() {
    let (fixture, mut running) = Fixture::start(&["-j", "3"]);
    fixture.simulator.await_count("billed_calls", 3);
    let cancel = || fixture.harness.juror(&["cancel", "stopped"]);
    cancel().exits(2).stderr_contains(&["with Ctrl-C in its terminal"]);
    running.signal(Signal::INT);
    running.await_stderr("stopping");
    fixture.gate.open();
    running.finish().exits(3);
    cancel().exits(0).stdout_contains(&[
        "run stopped is not running, nothing to cancel; 3 of 10 jobs have a result",
        "juror run --resume stopped",
    ]);
    fixture.assert_resumes(0);
}

#[test]
fn second_signal_ends_immediately_and_counts_calls_in_flight() {
    for [first, second] in [[Signal::INT, Signal::INT], [Signal::TERM, Signal::INT]] {
        let (fixture, mut running) = Fixture::start(&["-j", "3"]);
        fixture.gate.allow(2);
        running.await_stderr("2/10 done");
        fixture.simulator.await_count("billed_calls", 5);
        running.signal(first);
        running.await_stderr("stopping");
        running.signal(second);
        let ended = running.finish().exits(3);
        ended.stdout_contains(&["2 of 10 scored"]).stderr_contains(&["juror run --resume stopped"]);
        let cost = &fixture.harness.report("stopped")["cost"];
        assert!(pico(&cost["presumed_usd"]) > 0, "three calls may have been billed: {cost}");
        assert!(pico(&cost["total_usd"]) >= fixture.simulator.bill());
        fixture.assert_resumes(3);
    }
}

#[test]
fn resume_command_names_the_folders() {
    let (fixture, mut running) =
        Fixture::start(&["-j", "1", "--runs-dir", "here", "--state", "there"]);
    fixture.simulator.await_requests(1);
    running.signal(Signal::INT);
    running.await_stderr("stopping");
    fixture.gate.open();
    let ended = running.finish().exits(3);
    let line =
        ended.stderr.lines().find_map(|line| line.split_once("resume with: juror ")).unwrap();
    let resume: Vec<&str> = line.1.split(' ').collect();
    fixture.harness.juror(&resume).exits(0).stdout_contains(&["10 of 10 scored"]);
}

#[test]
fn rate_limit_wait_ends_immediately_on_a_signal() {
    let (fixture, mut running) = Fixture::start(&["-j", "5", "--rpm", "1"]);
    fixture.gate.open();
    running.await_stderr("1/10 done");
    running.signal(Signal::INT);
    running.finish().exits(3).stdout_contains(&["1 of 10 scored"]);
    assert_eq!(fixture.simulator.requests(), 1);
}

#[test]
fn retry_wait_ends_immediately_on_a_signal() {
    let harness = CommandHarness::with_items(2);
    let faults = FaultPlan { script: vec![Some(Fault::RateLimit)], ..FaultPlan::default() };
    let fault_retry_after = Duration::from_secs(1_800);
    let config = SimulatorConfig { faults, fault_retry_after, ..SimulatorConfig::default() };
    let simulator = TestSimulator::start(config);
    let running = harness.start_run(&simulator, "cooling", &["-j", "1"]);
    simulator.await_count("requests", 1);
    simulator.await_idle();
    running.signal(Signal::INT);
    running.finish().exits(3).stdout_contains(&["0 of 2 scored"]);
    harness.resume("cooling", &[]).exits(0).stdout_contains(&["2 of 2 scored"]);
}

/// Capacity of a Linux pipe in bytes: a writer blocks once this much is unread.
const PIPE: usize = 65_536;

#[test]
fn report_writing_can_be_interrupted() {
    let harness = CommandHarness::with_items(2);
    let simulator = TestSimulator::new();
    // Standard output is not read, so writing the report blocks.
    let (reader, mut full) = std::io::pipe().unwrap();
    full.write_all(&[b' '; PIPE]).unwrap();
    let mut command = harness.judging(&simulator.base_url(), "manifest.jsonl", &[]);
    let child = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    await_file(&harness.path("runs/first/report.json"), Path::exists);
    kill_process(pid(&child), Signal::INT).unwrap();
    let left = Finished::from(child.wait_with_output().unwrap()).exits(130);
    left.stderr_contains(&["interrupted while writing the report", "juror report first"]);
    drop(reader);
    harness.juror(&["report", "first"]).exits(0).stdout_contains(&["2 of 2 scored"]);
}
