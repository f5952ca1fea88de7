//! One process of a fleet, behind proxies of its own: it may die and come back, they stay.

use super::{
    super::{
        CommandHarness, TestSimulator,
        proxy::{FaultProxy, Speaks, Wire},
    },
    FleetServers,
};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

/// Interval of checking if a process has ended.
const LOOK: Duration = Duration::from_millis(10);

pub struct Member {
    pub name: String,
    /// Everything that passes between it and its servers.
    pub wire: Arc<Wire>,
    pub broker: FaultProxy,
    pub redis: FaultProxy,
    judge: FaultProxy,
    command: Command,
    process: Option<Child>,
    /// Log of all its starts.
    log: PathBuf,
}

impl Member {
    /// One that will be started as `juror ROLE …` with the addresses of its servers.
    pub fn new(
        name: String,
        arguments: &[&str],
        harness: &CommandHarness,
        simulator: &TestSimulator,
        servers: &FleetServers,
    ) -> Self {
        let wire = Arc::new(Wire::default());
        let broker = FaultProxy::start(servers.broker_port(), Speaks::Amqp, &wire);
        let redis = FaultProxy::start(servers.redis_port(), Speaks::Resp, &wire);
        let judge = FaultProxy::start(simulator.address.port(), Speaks::Http, &wire);
        let log = harness.write(&format!("logs/{name}"), "");
        let mut command = harness.command(arguments);
        command
            .env("JUROR_FLEET_BROKER", format!("amqp://guest:guest@{}", broker.address()))
            .env("JUROR_FLEET_REDIS", format!("redis://{}", redis.address()))
            .env("JUROR_FLEET_NAMESPACE", servers.namespace())
            .env("JUROR_JUDGE_BASE_URL", format!("http://{}/v1", judge.address()))
            // A test may hold an answer for as long as it likes.
            .env("JUROR_JUDGE_TIMEOUT_SECONDS", "600");
        if let Ok(level) = std::env::var("CHAOS_LOG") {
            command.env("JUROR_LOG_LEVEL", level);
        }
        Self { name, wire, broker, redis, judge, command, process: None, log }
    }

    pub fn start(&mut self) {
        assert!(self.process.is_none(), "{} runs already", self.name);
        let said = || OpenOptions::new().append(true).open(&self.log).unwrap();
        let (stdout, mut stderr): (File, File) = (said(), said());
        writeln!(stderr, "(it starts)").unwrap();
        let process = self.command.stdout(stdout).stderr(stderr).stdin(Stdio::null()).spawn();
        self.process = Some(process.unwrap());
    }

    /// `kill -9`; what is held of it never arrives.
    pub fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
        for proxy in [&self.broker, &self.redis, &self.judge] {
            proxy.cut();
        }
        self.wire.begin_anew();
    }

    /// Asks it to end in good order.
    pub fn ask_to_stop(&self) {
        let id = self.process.as_ref().unwrap().id();
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
    }

    /// Its exit code, as soon as it has ended.
    #[track_caller]
    pub fn end(&mut self, within: Duration) -> i32 {
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.process.as_mut().unwrap().try_wait().unwrap() {
                self.process = None;
                return status.code().unwrap_or(-1);
            }
            let words = "does not end. It said:";
            assert!(Instant::now() < deadline, "{} {words}\n{}", self.name, self.said());
            std::thread::sleep(LOOK);
        }
    }

    /// Asserts that it has not ended by itself.
    #[track_caller]
    pub fn lives(&mut self) {
        let ended = self.process.as_mut().unwrap().try_wait().unwrap();
        assert!(ended.is_none(), "{} ended by itself, {ended:?}:\n{}", self.name, self.said());
    }

    /// Output since its last start.
    pub fn said(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(25)..].join("\n")
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It has ended already, unless the test broke off.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
