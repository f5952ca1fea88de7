//! Fleet of real processes for one measurement: on this machine's RabbitMQ, in a temporary
//! namespace, and on a dedicated, durable Redis.

use super::{
    BenchSimulator,
    measured::{Measured, juror, measure, peak_mb},
};
use juror_ledger::redis::test_server::TestRedis;
use juror_queue::rabbitmq::test_namespace::TestNamespace;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    fs::File,
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

const BROKER: &str = "amqp://guest:guest@127.0.0.1:5672";

pub struct BenchFleet {
    workers: Vec<Child>,
    aggregator: Child,
    folder: PathBuf,
    redis: TestRedis,
    /// Deleted when all processes have ended.
    _namespace: TestNamespace,
}

impl BenchFleet {
    /// True if there is a RabbitMQ and a `redis-server`; prints a note otherwise.
    pub fn has_servers() -> bool {
        let broker = TcpStream::connect("127.0.0.1:5672").is_ok();
        let redis = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
        let both = broker && redis.is_ok_and(|status| status.success());
        if !both {
            println!("a fleet takes a RabbitMQ on port 5672 and a redis-server: not measured");
        }
        both
    }

    /// Starts this many workers with these flags, and an aggregator.
    pub fn start(
        folder: &Path,
        simulator: &BenchSimulator,
        workers: usize,
        flags: &[&str],
    ) -> Self {
        let redis = TestRedis::durable();
        let namespace = TestNamespace::named(&redis.namespace, BROKER);
        let root = folder.display().to_string();
        let work =
            [&["worker", "--data-root", &root, "--base-url", &simulator.base_url], flags].concat();
        let start = |arguments: &[&str], log: &str| {
            let log = File::create(folder.join(log)).unwrap();
            let mut command = of_fleet(juror(folder, arguments), &redis);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
        };
        let workers =
            (0..workers).map(|number| start(&work, &format!("worker-{number}.log"))).collect();
        let aggregator = start(&["aggregate"], "aggregator.log");
        Self { workers, aggregator, folder: folder.to_owned(), redis, _namespace: namespace }
    }

    /// Measures a run of `manifest.jsonl` from the first published job to the report.
    pub fn judge(&self) -> Measured {
        let enqueue = ["enqueue", "manifest.jsonl", "--enable-llm-judge", "--quiet", "--wait"];
        measure(&mut of_fleet(juror(&self.folder, &enqueue), &self.redis), &[0])
    }

    /// Peak memory of the first worker and the aggregator so far.
    pub fn peaks_mb(&self) -> [f64; 2] {
        [&self.workers[0], &self.aggregator].map(|process| peak_mb(process.id()))
    }

    /// Processor time of Redis so far.
    pub fn redis_cpu_seconds(&self) -> f64 {
        let reported = self.redis.command(&["INFO", "cpu"]);
        let of = |name: &str| {
            let line = reported.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().parse::<f64>().unwrap()
        };
        of("used_cpu_user:") + of("used_cpu_sys:")
    }

    /// Shuts every process down gracefully.
    pub fn stop(mut self) {
        let processes = || self.workers.iter().chain([&self.aggregator]);
        for process in processes() {
            kill(Pid::from_raw(process.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
        }
        for process in self.workers.iter_mut().chain([&mut self.aggregator]) {
            let status = process.wait().unwrap();
            assert!(status.success(), "a role ended by {status}");
        }
    }
}

impl Drop for BenchFleet {
    fn drop(&mut self) {
        for process in self.workers.iter_mut().chain([&mut self.aggregator]) {
            // The process has ended already unless the measurement failed.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

fn of_fleet(mut command: Command, redis: &TestRedis) -> Command {
    command
        .env("JUROR_FLEET_BROKER", BROKER)
        .env("JUROR_FLEET_REDIS", &redis.url)
        .env("JUROR_FLEET_NAMESPACE", &redis.namespace);
    command
}
