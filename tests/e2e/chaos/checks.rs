//! Invariants during and after the faults.

use super::disruptions::{DOLLARS_PER_JOB, Disruptions, RUN};
use crate::harness::pico;
use juror_ledger::admission::Budget;
use serde_json::Value;
use std::{collections::BTreeMap, time::Duration};

/// Time limit for the rest of the run after the last fault.
const FINISHING: Duration = Duration::from_secs(600);

impl Disruptions {
    /// Asserts that spent and reserved amounts never exceed the cap, and cover the bill.
    pub fn check_the_cap(&mut self) {
        // The bill is read first: later bills are reserved before.
        let billed = self.fleet.simulator.bill();
        let ledger = self.fleet.servers.ledger(RUN);
        let Budget::Cap(cap) = ledger.budget else { panic!("{ledger:?}") };
        let spent = ledger.committed.pico() + ledger.outstanding.pico();
        assert!(spent <= cap.pico(), "{ledger:?}\n{}", self.fleet_harness());
        assert!(spent >= billed, "{billed} were billed, {ledger:?}\n{}", self.fleet_harness());
    }

    /// Awaits the end of the run and checks all of its files and records.
    pub fn check_the_end(&mut self) {
        let progress = self.fleet.await_report(RUN, FINISHING);
        assert_eq!(
            progress.counts.scored,
            u64::from(self.plan.jobs),
            "{progress:?}\n{}",
            self.fleet_harness()
        );
        self.fleet.stop();
        self.check_the_journal();
        self.check_the_money();
        self.check_the_report();
    }

    fn check_the_journal(&mut self) {
        let mut outcomes: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in self.fleet.harness.journal(RUN) {
            let item = line["screenshot_id"].as_str().unwrap().to_owned();
            outcomes.entry(item).or_default().push(line["outcome"].clone());
        }
        assert_eq!(outcomes.len(), self.plan.jobs as usize, "{}", self.fleet_harness());
        for (item, outcomes) in outcomes {
            assert_eq!(outcomes, ["scored"], "{item}\n{}", self.fleet_harness());
        }
    }

    fn check_the_money(&mut self) {
        let servers = &self.fleet.servers;
        servers.expire_owners(&self.dead);
        let (ledger, holders) = (servers.ledger(RUN), servers.holders());
        let (billed, cap) = (self.fleet.simulator.bill(), self.cap());
        assert_eq!(ledger.outstanding.pico(), 0, "{ledger:?}\n{}", self.fleet_harness());
        assert_eq!(holders, "0", "owners with leases\n{}", self.fleet_harness());
        assert!(billed <= cap, "{billed} of {cap} were billed\n{}", self.fleet_harness());
        assert!(
            ledger.committed.pico() >= billed,
            "{billed}, {ledger:?}\n{}",
            self.fleet_harness()
        );
        let calls = self.fleet.simulator.count("billed_calls");
        let twice = calls - u64::from(self.plan.jobs);
        let under_way = self.under_way;
        self.note(format!("{twice} calls were paid twice, {under_way} may have been"));
        assert!(twice <= under_way, "{}", self.fleet_harness());
    }

    fn check_the_report(&mut self) {
        let written = self.fleet.harness.report(RUN);
        let jobs = self.plan.jobs;
        assert_eq!(written["coverage"]["planned"], jobs, "{}", self.fleet_harness());
        assert_eq!(written["coverage"]["scored"], jobs, "{}", self.fleet_harness());
        let reported = self.fleet.juror(&["report", RUN, "--json"]).exits(0);
        let reported = reported.json();
        let (total, billed) = (pico(&reported["cost"]["total_usd"]), self.fleet.simulator.bill());
        assert!(total >= billed, "{total} of {billed} are reported\n{}", self.fleet_harness());
    }

    fn cap(&self) -> i64 {
        (f64::from(self.plan.jobs) * DOLLARS_PER_JOB * 1e12) as i64
    }
}
