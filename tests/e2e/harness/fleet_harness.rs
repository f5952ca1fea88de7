//! Fleet of a test: real processes of the command, each behind its own proxies.

mod member;
mod servers;

pub use member::Member;
pub use servers::FleetServers;

use super::{CommandHarness, Finished, RunningCommand, TestSimulator};
use juror_ledger::redis::RunProgress;
use std::{
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

/// Interval between checks, during a wait, that every process of the fleet is running.
pub const LIVENESS_INTERVAL: Duration = Duration::from_secs(1);
/// Time limit for the regular end of a process.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

pub struct FleetHarness {
    pub workers: Vec<Member>,
    pub aggregators: Vec<Member>,
    pub servers: FleetServers,
    pub simulator: TestSimulator,
    pub harness: CommandHarness,
}

/// Number of processes, and of calls in flight of each worker.
pub struct Size {
    pub workers: usize,
    pub aggregators: usize,
    pub at_once: usize,
}

impl FleetHarness {
    /// Creates a fleet with running servers and no process.
    pub fn new(
        size: &Size,
        servers: FleetServers,
        harness: CommandHarness,
        simulator: TestSimulator,
    ) -> Self {
        let folder = harness.path("").display().to_string();
        let at_once = size.at_once.to_string();
        let work = ["worker", "--data-root", &folder, "-j", &at_once];
        let member = |role: &str, number: usize, arguments: &[&str]| {
            let name = format!("{role}-{number}");
            Member::new(name, arguments, &harness, &simulator, &servers)
        };
        let workers = (0..size.workers).map(|number| member("worker", number, &work)).collect();
        let aggregate = |number| member("aggregator", number, &["aggregate"]);
        let aggregators = (0..size.aggregators).map(aggregate).collect();
        Self { workers, aggregators, servers, simulator, harness }
    }

    pub fn start(&mut self) {
        self.members().for_each(Member::start);
    }

    pub fn members(&mut self) -> impl Iterator<Item = &mut Member> {
        self.workers.iter_mut().chain(&mut self.aggregators)
    }

    /// Receives every event in the traffic of the members from now on.
    pub fn traffic(&mut self) -> Receiver<()> {
        let (listener, events) = channel();
        self.members().for_each(|member| member.wire.notify(listener.clone()));
        events
    }

    /// Creates a `juror enqueue` of `manifest.jsonl`, not started.
    pub fn producer(&self, run: &str, more: &[&str]) -> Member {
        let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--run-id", run];
        let arguments = [&enqueue[..], more].concat();
        let name = "producer".to_owned();
        Member::new(name, &arguments, &self.harness, &self.simulator, &self.servers)
    }

    /// Runs a command of the fleet to its end, without any proxy.
    pub fn juror(&self, arguments: &[&str]) -> Finished {
        let (broker, redis) = (self.servers.broker_port(), self.servers.redis_port());
        let mut command = self.harness.command(arguments);
        command
            .env("JUROR_FLEET_BROKER", format!("amqp://guest:guest@127.0.0.1:{broker}"))
            .env("JUROR_FLEET_REDIS", format!("redis://127.0.0.1:{redis}"))
            .env("JUROR_FLEET_NAMESPACE", self.servers.namespace());
        RunningCommand::start(command).finish()
    }

    /// Progress of a run as the aggregator reported it when its report was complete.
    #[track_caller]
    pub fn await_report(&mut self, run: &str, within: Duration) -> RunProgress {
        let deadline = Instant::now() + within;
        loop {
            if let Some(progress) = self.servers.await_report(run, LIVENESS_INTERVAL) {
                return progress;
            }
            self.members().for_each(Member::assert_running);
            assert!(Instant::now() < deadline, "no report of {:?}", self.servers.status(run));
        }
    }

    /// Requests a graceful shutdown of every process and asserts its success.
    #[track_caller]
    pub fn stop(&mut self) {
        self.members().for_each(|member| member.request_stop());
        for member in self.members() {
            let code = member.await_exit(STOP_TIMEOUT);
            assert_eq!(code, 0, "{} said:\n{}", member.name, member.output());
        }
    }
}
