//! Run of a fleet with injected faults.

use super::plan::{BackendServer, Mishap, Plan};
use crate::harness::{
    CallGate, CommandHarness, FleetHarness, FleetServers, LIVENESS_INTERVAL, Member, Size,
    TestSimulator,
    proxy::{BrokerExchange, FaultProxy, Moment, ScriptStep},
};
use juror_simulator::SimulatorConfig;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use std::{
    sync::mpsc::Receiver,
    time::{Duration, Instant},
};

/// The run's name.
pub const RUN: &str = "shaken";
const WORKERS: usize = 4;
const AT_ONCE: usize = 3;
/// Budget far above the possible cost, so that no job is skipped.
pub const DOLLARS_PER_JOB: f64 = 0.1;
/// Time limit for the fleet to continue after a fault.
const MAX_WAIT: Duration = Duration::from_secs(120);
/// Time for which a moment is awaited before the next reply is allowed: the effects of a reply take
/// some time.
const REPLY_INTERVAL: Duration = Duration::from_millis(100);

pub struct Disruptions {
    pub plan: Plan,
    pub fleet: FleetHarness,
    /// Every event in the traffic of the fleet.
    traffic: Receiver<()>,
    gate: CallGate,
    random: StdRng,
    /// Number of replies that were allowed through.
    allowed: u32,
    /// Log of the faults, for the message of a failure.
    log: Vec<String>,
    /// Names of the killed processes.
    pub dead: Vec<String>,
    /// Number of calls that may be billed twice: they were in progress and unsettled when their
    /// worker was killed or their jobs were redelivered.
    pub under_way: u64,
}

impl Disruptions {
    /// Starts all processes; the first jobs come from a producer that is killed halfway.
    pub fn start(plan: Plan) -> Self {
        let harness = CommandHarness::with_items(plan.jobs);
        let gate = CallGate::closed();
        let config = SimulatorConfig { gate: gate.config(), ..SimulatorConfig::default() };
        let size = Size { workers: WORKERS, aggregators: 2, at_once: AT_ONCE };
        let mut fleet =
            FleetHarness::new(&size, FleetServers::own(), harness, TestSimulator::start(config));
        let traffic = fleet.traffic();
        let random = StdRng::seed_from_u64(plan.seed);
        let (log, dead) = (Vec::new(), Vec::new());
        let mut disruptions =
            Self { plan, fleet, traffic, gate, random, allowed: 0, log, dead, under_way: 0 };
        disruptions.fleet.start();
        disruptions.enqueue();
        disruptions
    }

    /// Injects all faults of the plan and awaits the end of the run.
    pub fn run(mut self) {
        let mishaps = self.plan.mishaps();
        // Half of all jobs are judged between the faults, the others during and after them.
        let between = self.plan.jobs / (2 * mishaps.len() as u32);
        for mishap in mishaps {
            self.flow(between);
            self.note(mishap.to_string());
            self.inject(mishap);
            self.check_the_cap();
        }
        self.note("everything has happened".to_owned());
        self.gate.open();
        self.check_the_end();
    }

    fn enqueue(&mut self) {
        let budget = (f64::from(self.plan.jobs) * DOLLARS_PER_JOB).to_string();
        let mut producer = self.fleet.producer(RUN, &["--budget-usd", &budget]);
        let nth = self.random.random_range(1..=u64::from(self.plan.jobs) / 2);
        producer.wire.hold(Moment::Publish(BrokerExchange::Jobs), nth);
        producer.start();
        self.note(format!("the producer is killed at its publish {nth}"));
        assert!(producer.wire.is_held(MAX_WAIT), "it publishes nothing:\n{}", producer.output());
        producer.kill();
        producer.start();
        let code = producer.await_exit(MAX_WAIT);
        assert_eq!(code, 0, "{}", producer.output());
    }

    fn inject(&mut self, mishap: Mishap) {
        match mishap {
            Mishap::KillWorker(_, moment) => {
                let victim = self.random.random_range(0..WORKERS);
                self.await_work(victim);
                self.note(format!("it will be worker {victim}"));
                self.fleet.workers[victim].wire.hold(moment, 1);
                self.allow_calls_until_held();
                self.kill_worker(victim);
            }
            Mishap::KillAggregator(_, moment) => {
                let nth = self.random.random_range(1..=2);
                for aggregator in &self.fleet.aggregators {
                    aggregator.wire.hold(moment, nth);
                }
                self.allow_calls_until_held();
                self.kill_aggregators();
            }
            Mishap::Cut(BackendServer::Broker) => self.disconnect_broker(|disruptions| {
                disruptions.each_proxy(BackendServer::Broker, |proxy| proxy.cut());
            }),
            Mishap::Refuse(BackendServer::Broker) => {
                self.disconnect_broker(|disruptions| {
                    disruptions.refuse_connections(BackendServer::Broker)
                });
            }
            Mishap::Restart(BackendServer::Broker) => {
                self.disconnect_broker(|disruptions| disruptions.fleet.servers.restart_broker());
            }
            Mishap::Cut(BackendServer::Redis) => {
                self.each_proxy(BackendServer::Redis, |proxy| proxy.cut())
            }
            Mishap::Refuse(BackendServer::Redis) => self.refuse_connections(BackendServer::Redis),
            Mishap::Restart(BackendServer::Redis) => {
                // After the restart, silent owners are awaited; dead ones must be known.
                self.fleet.servers.expire_owners(&self.dead);
                self.fleet.servers.restart_redis();
            }
        }
    }

    /// Waits until each process has failed to reconnect.
    fn refuse_connections(&mut self, server: BackendServer) {
        let refused = |member: &mut Member| member.wire.count(Moment::Refusal);
        let before: Vec<u64> = self.fleet.members().map(refused).collect();
        self.each_proxy(server, |proxy| proxy.shut());
        self.until("not everybody comes back", |disruptions| {
            let now = disruptions.fleet.members().map(refused);
            now.zip(&before).all(|(now, before)| now > *before)
        });
        self.each_proxy(server, |proxy| proxy.restore());
    }

    fn kill_worker(&mut self, victim: usize) {
        let worker = &mut self.fleet.workers[victim];
        let calls = worker.wire.count(Moment::Call);
        let settled = worker.wire.count(Moment::Reply(ScriptStep::Settle));
        let under_way = calls.saturating_sub(settled);
        self.under_way += under_way;
        self.dead.extend(worker.wire.owner());
        worker.kill();
        worker.start();
        self.note(format!("worker {victim} was killed with {under_way} calls under way"));
    }

    fn kill_aggregators(&mut self) {
        let mut killed = Vec::new();
        for aggregator in &mut self.fleet.aggregators {
            if aggregator.wire.is_held(Duration::ZERO) {
                aggregator.kill();
                aggregator.start();
                killed.push(aggregator.name.clone());
            } else {
                aggregator.wire.release();
            }
        }
        self.note(format!("{killed:?} was killed"));
    }

    /// Jobs in progress are redelivered to others when the broker loses a worker, whose calls may
    /// still be billed. Waits until all processes are back.
    fn disconnect_broker(&mut self, how: impl FnOnce(&mut Self)) {
        self.under_way += (WORKERS * AT_ONCE) as u64;
        let connections = |member: &mut Member| member.wire.count(Moment::Connection);
        self.until("not everybody is connected", |disruptions| {
            disruptions.fleet.members().map(connections).all(|count| count > 0)
        });
        let before: Vec<u64> = self.fleet.members().map(connections).collect();
        how(self);
        self.until("not everybody is connected again", |disruptions| {
            let now = disruptions.fleet.members().map(connections);
            now.zip(&before).all(|(now, before)| now > *before)
        });
    }

    fn each_proxy(&mut self, server: BackendServer, act: impl Fn(&FaultProxy)) {
        self.fleet.members().for_each(|member| act(proxy_of(member, server)));
    }

    /// A newly started worker has to connect first.
    fn await_work(&mut self, worker: usize) {
        self.until("it takes no job", |disruptions| {
            disruptions.fleet.workers[worker].wire.count(Moment::Request(ScriptStep::Claim)) > 0
        });
    }

    /// Allows this many replies through and awaits them: the fleet continues after any fault.
    fn flow(&mut self, answers: u32) {
        self.allow(answers);
        self.until("nobody asks the judge", Self::all_allowed_replies_are_sent);
    }

    /// Allows replies through one by one until the moment is held.
    fn allow_calls_until_held(&mut self) {
        loop {
            self.allow(1);
            self.until("the point is never reached", |disruptions| {
                disruptions.is_held() || disruptions.all_allowed_replies_are_sent()
            });
            if self.holds_within(REPLY_INTERVAL, Self::is_held) {
                return;
            }
            let most = self.plan.jobs;
            assert!(self.allowed < most, "the point is never reached\n{}", self.fleet_harness());
        }
    }

    fn is_held(&mut self) -> bool {
        self.fleet.members().any(|member| member.wire.is_held(Duration::ZERO))
    }

    fn allow(&mut self, answers: u32) {
        self.gate.allow(answers);
        self.allowed += answers;
    }

    fn all_allowed_replies_are_sent(&mut self) -> bool {
        self.fleet.simulator.count("answers") >= u64::from(self.allowed)
    }

    #[track_caller]
    fn until(&mut self, otherwise: &str, mut condition: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + MAX_WAIT;
        while !self.holds_within(LIVENESS_INTERVAL, &mut condition) {
            assert!(Instant::now() < deadline, "{otherwise}\n{}", self.fleet_harness());
            self.fleet.members().for_each(Member::assert_running);
        }
    }

    /// True once the condition holds, which is checked at each event in the traffic; false after
    /// the time limit.
    fn holds_within(
        &mut self,
        within: Duration,
        mut condition: impl FnMut(&mut Self) -> bool,
    ) -> bool {
        let deadline = Instant::now() + within;
        while !condition(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            if self.traffic.recv_timeout(left).is_err() {
                return condition(self);
            }
            while self.traffic.try_recv().is_ok() {}
        }
        true
    }

    pub fn note(&mut self, what: String) {
        let so_far = format!("after {} answers: {what}", self.allowed);
        self.log.push(so_far);
    }

    /// Context for the message of a failure.
    pub fn fleet_harness(&mut self) -> String {
        let mut fleet_harness = format!("{:?}\n{}\n", self.plan, self.log.join("\n"));
        for member in self.fleet.members() {
            let Member { name, wire, .. } = &*member;
            fleet_harness += &format!("-- {name} ({wire:?}) said last:\n{}\n", member.output());
        }
        fleet_harness
    }
}

fn proxy_of(member: &Member, server: BackendServer) -> &FaultProxy {
    match server {
        BackendServer::Broker => &member.broker,
        BackendServer::Redis => &member.redis,
    }
}
