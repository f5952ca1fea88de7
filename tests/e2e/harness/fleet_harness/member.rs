//! Process of a fleet behind its own proxies, which outlive its kills and restarts.

use super::{
    super::{
        CommandHarness, KillTimer, TestSimulator, pid,
        proxy::{FaultProxy, ProxiedProtocol, Wire},
    },
    FleetServers,
};
use rustix::process::{Signal, kill_process};
use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

pub struct Member {
    pub name: String,
    /// Traffic between the process and its servers.
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
    /// Creates a process `juror ROLE …` with the addresses of its servers, not started.
    pub fn new(
        name: String,
        arguments: &[&str],
        harness: &CommandHarness,
        simulator: &TestSimulator,
        servers: &FleetServers,
    ) -> Self {
        let wire = Arc::new(Wire::default());
        let broker = FaultProxy::start(servers.broker_port(), ProxiedProtocol::Amqp, &wire);
        let redis = FaultProxy::start(servers.redis_port(), ProxiedProtocol::Resp, &wire);
        let judge = FaultProxy::start(simulator.address.port(), ProxiedProtocol::Http, &wire);
        let log = harness.write(&format!("logs/{name}"), "");
        let mut command = harness.command(arguments);
        command
            .env("JUROR_FLEET_BROKER", format!("amqp://guest:guest@{}", broker.address()))
            .env("JUROR_FLEET_REDIS", format!("redis://{}", redis.address()))
            .env("JUROR_FLEET_NAMESPACE", servers.namespace())
            .env("JUROR_JUDGE_BASE_URL", format!("http://{}/v1", judge.address()))
            // A test may hold a response indefinitely.
            .env("JUROR_JUDGE_TIMEOUT_SECONDS", "600");
        if let Ok(level) = std::env::var("CHAOS_LOG") {
            command.env("JUROR_LOG_LEVEL", level);
        }
        Self { name, wire, broker, redis, judge, command, process: None, log }
    }

    pub fn start(&mut self) {
        assert!(self.process.is_none(), "{} runs already", self.name);
        let log_file = || OpenOptions::new().append(true).open(&self.log).unwrap();
        let (stdout, mut stderr): (File, File) = (log_file(), log_file());
        writeln!(stderr, "(it starts)").unwrap();
        let process = self.command.stdout(stdout).stderr(stderr).stdin(Stdio::null()).spawn();
        self.process = Some(process.unwrap());
    }

    /// `kill -9`; held traffic never arrives.
    pub fn kill(&mut self) {
        let mut process = self.process.take().unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
        for proxy in [&self.broker, &self.redis, &self.judge] {
            proxy.cut();
        }
        self.wire.reset();
    }

    /// Requests a graceful shutdown.
    pub fn request_stop(&self) {
        kill_process(pid(self.process.as_ref().unwrap()), Signal::TERM).unwrap();
    }

    /// Waits for the end and returns the exit code.
    #[track_caller]
    pub fn await_exit(&mut self, within: Duration) -> i32 {
        let mut process = self.process.take().unwrap();
        let timer = KillTimer::start(&process, within);
        let status = process.wait().unwrap();
        assert!(!timer.has_expired(), "{} hangs. It said:\n{}", self.name, self.output());
        status.code().unwrap_or(-1)
    }

    /// Asserts that the process is still running.
    #[track_caller]
    pub fn assert_running(&mut self) {
        let ended = self.process.as_mut().unwrap().try_wait().unwrap();
        assert!(ended.is_none(), "{} ended by itself, {ended:?}:\n{}", self.name, self.output());
    }

    /// Output since its last start.
    pub fn output(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(25)..].join("\n")
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // The process has ended already unless the test failed.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
