//! Runs whose calls are bought in batches.

/// Tests that kill a process at each step of a batch's life by this function.
macro_rules! kill_at_each_step {
    ($killed_at:ident) => {
        #[test]
        fn while_the_file_is_uploaded() {
            $killed_at(Moment::Call, 1);
        }

        #[test]
        fn when_the_file_is_there_and_nobody_knows() {
            $killed_at(Moment::Answer, 1);
        }

        #[test]
        fn before_the_batch_is_created() {
            $killed_at(Moment::Call, 2);
        }

        #[test]
        fn when_the_batch_is_created_and_nobody_knows() {
            $killed_at(Moment::Answer, 2);
        }

        #[test]
        fn when_the_batch_has_ended_and_nobody_knows() {
            $killed_at(Moment::Answer, 3);
        }

        #[test]
        fn while_its_answers_are_fetched() {
            $killed_at(Moment::Answer, 4);
        }

        #[test]
        fn when_all_is_collected_and_its_input_is_deleted() {
            $killed_at(Moment::Answer, 5);
        }

        #[test]
        fn when_all_is_collected_and_its_answers_are_deleted() {
            $killed_at(Moment::Answer, 6);
        }
    };
}

mod doubts;
mod endings;
mod faults;
mod fleet;
mod fleet_kills;
mod kills;
mod many;
mod provider;
mod public_images;

use crate::harness::{CommandHarness, TestSimulator, pico, write_items};
use juror_simulator::{BatchEnd, BatchFault, BatchSettings, Share, SimulatorConfig};
use serde_json::Value;
use std::{io::Write as _, net::TcpStream};

/// Lets the batches of a simulator end at the next look.
fn end_batches(simulator: &TestSimulator) {
    let mut stream = TcpStream::connect(simulator.address).unwrap();
    let request =
        "POST /end-batches HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
}

/// A run of so many items, looked at often, against a simulator with these batches.
struct BatchFixture {
    harness: CommandHarness,
    simulator: TestSimulator,
}

impl BatchFixture {
    fn new(items: u32, batches: BatchSettings) -> Self {
        Self::with(items, SimulatorConfig { batches, ..SimulatorConfig::default() })
    }

    fn with(items: u32, config: SimulatorConfig) -> Self {
        let harness = CommandHarness::new();
        write_items(&harness, items);
        harness.write("juror.toml", "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\n");
        Self { harness, simulator: TestSimulator::start(config) }
    }

    fn faulty(items: u32, faults: &[Share<BatchFault>]) -> Self {
        let faults = faults.to_vec();
        Self::new(items, BatchSettings { faults, ..BatchSettings::default() })
    }

    /// Lets runs go on however many replies in a row are lost.
    fn never_pause(&self) {
        let settings = "[batch]\npoll_min = \"1ms\"\npoll_max = \"5ms\"\n\
                        [judge]\nmax_unusable_in_a_row = 1000\n";
        self.harness.write("juror.toml", settings);
    }

    fn held(items: u32) -> Self {
        Self::new(items, BatchSettings { end: BatchEnd::OnRequest, ..BatchSettings::default() })
    }

    /// Runs everything in batches, as run `night`.
    fn run(&self, more: &[&str]) -> crate::harness::Finished {
        let flags = [&["--lane", "batch", "--budget-usd", "1"], more].concat();
        self.harness.judge_run(&self.simulator, "night", &flags)
    }

    fn report(&self) -> Value {
        self.harness.report("night")
    }

    /// The jobs with this outcome, and this kind of error.
    fn count(&self, outcome: &str, kind: &str) -> usize {
        let journal = self.harness.journal("night");
        let is = |line: &&Value| {
            line["outcome"] == outcome && line["error"]["kind"].as_str().unwrap_or("") == kind
        };
        journal.iter().filter(is).count()
    }

    /// Asserts that the report's cost is the bill, but for so much that is presumed.
    #[track_caller]
    fn costs_the_bill_and_presumed(&self, presumed: i64) {
        let cost = &self.report()["cost"];
        assert_eq!(pico(&cost["presumed_usd"]), presumed, "{cost}");
        let missing = if presumed > 0 { self.unseen_bill() } else { 0 };
        assert_eq!(pico(&cost["total_usd"]) - presumed, self.simulator.bill() - missing, "{cost}");
    }

    /// Billed amount that is part of no result.
    fn unseen_bill(&self) -> i64 {
        let told: i64 = self.harness.journal("night").iter().map(|r| pico(&r["cost_usd"])).sum();
        self.simulator.bill() - told
    }
}
