//! Runs in the batch lane.

/// Defines tests that kill a process at each step of a batch with this function.
macro_rules! kill_at_each_step {
    ($killed_at:ident) => {
        #[test]
        fn during_file_upload() {
            $killed_at(Moment::Call, 1);
        }

        #[test]
        fn after_unrecorded_file_upload() {
            $killed_at(Moment::Response, 1);
        }

        #[test]
        fn before_batch_creation() {
            $killed_at(Moment::Call, 2);
        }

        #[test]
        fn after_unrecorded_batch_creation() {
            $killed_at(Moment::Response, 2);
        }

        #[test]
        fn after_unrecorded_batch_end() {
            $killed_at(Moment::Response, 3);
        }

        #[test]
        fn during_output_download() {
            $killed_at(Moment::Response, 4);
        }

        #[test]
        fn after_collection_and_input_deletion() {
            $killed_at(Moment::Response, 5);
        }

        #[test]
        fn after_collection_and_output_deletion() {
            $killed_at(Moment::Response, 6);
        }
    };
}

mod doubts;
mod endings;
mod faults;
mod first_verdicts;
mod fleet;
mod fleet_fixture;
mod fleet_kills;
mod kills;
mod many;
mod provider;
mod public_images;
mod token_limit;

use crate::harness::{CommandHarness, Finished, RunningCommand, TestSimulator, pico};
use juror_simulator::{BatchEnd, BatchFault, BatchSettings, Share, SimulatorConfig};
use serde_json::Value;
use std::{io::Write as _, net::TcpStream};

/// Ends the batches of a simulator at the next poll.
fn end_batches(simulator: &TestSimulator) {
    let mut stream = TcpStream::connect(simulator.address).unwrap();
    let request =
        "POST /end-batches HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
}

/// Run of this many items with frequent polling, against a simulator with these batches.
struct BatchFixture {
    harness: CommandHarness,
    simulator: TestSimulator,
}

impl BatchFixture {
    fn new(items: u32, batches: BatchSettings) -> Self {
        Self::with(items, SimulatorConfig { batches, ..SimulatorConfig::default() })
    }

    fn with(items: u32, config: SimulatorConfig) -> Self {
        let harness = CommandHarness::with_items(items);
        harness.write("juror.toml", "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\n");
        Self { harness, simulator: TestSimulator::start(config) }
    }

    fn faulty(items: u32, faults: &[Share<BatchFault>]) -> Self {
        let faults = faults.to_vec();
        Self::new(items, BatchSettings { faults, ..BatchSettings::default() })
    }

    /// Disables the circuit breaker.
    fn never_pause(&self) {
        let settings = "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\n\
                        [judge]\nmax_unusable_in_a_row = 1000\n";
        self.harness.write("juror.toml", settings);
    }

    fn held(items: u32) -> Self {
        Self::new(items, BatchSettings { end: BatchEnd::OnRequest, ..BatchSettings::default() })
    }

    /// Run of six items whose batch is in progress and ends on request.
    fn submitted() -> (Self, RunningCommand) {
        let fixture = Self::held(6);
        let flags = ["--lane", "batch", "--budget-usd", "1"];
        let running = fixture.harness.start_run(&fixture.simulator, "night", &flags);
        fixture.simulator.await_count("batch_polls", 2);
        (fixture, running)
    }

    /// Runs all jobs in batches, as run `night`.
    fn run(&self, more: &[&str]) -> Finished {
        let flags = [&["--lane", "batch", "--budget-usd", "1"], more].concat();
        self.harness.judge_run(&self.simulator, "night", &flags)
    }

    /// Maximum cost of all jobs in one batch, in pico-dollars.
    fn worst_batch(&self) -> i64 {
        let estimate = ["estimate", "manifest.jsonl", "--lane", "batch", "--json"];
        let printed = self.harness.juror(&estimate).exits(0).stdout;
        let estimate: Value = serde_json::from_str(&printed).unwrap();
        pico(&estimate["models"][0]["worst_one_call_usd"])
    }

    /// Checks the presumed cost in pico-dollars, and that the total covers the simulator's bill.
    #[track_caller]
    fn assert_presumed(&self, presumed: i64) {
        let cost = &self.report()["cost"];
        assert_eq!(pico(&cost["presumed_usd"]), presumed, "{cost}");
        assert!(pico(&cost["total_usd"]) >= self.simulator.bill(), "{cost}");
    }

    fn report(&self) -> Value {
        self.harness.report("night")
    }

    /// Number of jobs with this outcome and kind of error.
    fn count(&self, outcome: &str, kind: &str) -> usize {
        let journal = self.harness.journal("night");
        let is = |line: &&Value| {
            line["outcome"] == outcome && line["error"]["kind"].as_str().unwrap_or("") == kind
        };
        journal.iter().filter(is).count()
    }

    /// Asserts that the report's cost is the bill plus this presumed amount.
    #[track_caller]
    fn assert_billed_plus_presumed(&self, presumed: i64) {
        let cost = &self.report()["cost"];
        assert_eq!(pico(&cost["presumed_usd"]), presumed, "{cost}");
        let missing = if presumed > 0 { self.unseen_bill() } else { 0 };
        assert_eq!(pico(&cost["total_usd"]) - presumed, self.simulator.bill() - missing, "{cost}");
    }

    /// Billed amount that is part of no result.
    fn unseen_bill(&self) -> i64 {
        let reported: i64 =
            self.harness.journal("night").iter().map(|r| pico(&r["cost_usd"])).sum();
        self.simulator.bill() - reported
    }
}
