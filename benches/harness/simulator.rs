//! `juror simulate` as a process, so that its processor time is separate.

use super::measured::juror;
use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

/// Interval of polling the counter.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub struct BenchSimulator {
    child: Child,
    pub base_url: String,
    address: SocketAddr,
}

/// Request counts of the simulator at every poll.
pub struct Asking {
    looks: Vec<(Instant, Value)>,
}

impl BenchSimulator {
    /// Starts a simulator with these flags of `juror simulate`.
    pub fn start(flags: &[&str]) -> Self {
        let arguments = [&["simulate", "--quiet", "--listen", "127.0.0.1:0"], flags].concat();
        let mut command = juror(Path::new("/"), &arguments);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let base_url = line.trim().to_owned();
        let address = base_url.trim_start_matches("http://").trim_end_matches("/v1");
        Self { child, address: address.parse().unwrap(), base_url }
    }

    /// Arguments of `juror` for a run that this simulator judges, with these further flags.
    pub fn run_arguments<'a>(&'a self, flags: &[&'a str]) -> Vec<&'a str> {
        let run = ["run", "manifest.jsonl", "--enable-llm-judge", "--quiet", "--base-url"];
        [&run[..], &[self.base_url.as_str()], flags].concat()
    }

    /// Counters of the simulator so far.
    pub fn stats(&self) -> Value {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let request =
            format!("GET /stats HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Runs a function and polls the counter meanwhile.
    pub fn watch<T>(&self, work: impl FnOnce() -> T) -> (T, Asking) {
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut looks = Vec::new();
                while !ended.load(Ordering::Relaxed) {
                    looks.push((Instant::now(), self.stats()));
                    thread::sleep(POLL_INTERVAL);
                }
                looks.push((Instant::now(), self.stats()));
                looks
            });
            let done = work();
            ended.store(true, Ordering::Relaxed);
            (done, Asking { looks: watching.join().unwrap() })
        })
    }
}

impl Drop for BenchSimulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Asking {
    /// Time from the first request to the last response.
    pub fn duration(&self) -> Duration {
        let answers = self.count(self.looks.len() - 1, "answers");
        let begun = self.looks.iter().position(|(_, stats)| stats["requests"] != 0).unwrap_or(0);
        let ended = (0..self.looks.len()).find(|look| self.count(*look, "answers") == answers);
        self.looks[ended.unwrap()].0 - self.looks[begun.saturating_sub(1)].0
    }

    /// Growth of the counter from `warm_up` after the first request until only this many requests
    /// were left: seconds, and the counts at both ends.
    pub fn steady(
        &self,
        warm_up: Duration,
        total: u64,
        still_to_come: u64,
    ) -> (f64, &Value, &Value) {
        let begun = self.looks.iter().position(|(_, stats)| stats["requests"] != 0).unwrap_or(0);
        let warm = self.looks[begun].0 + warm_up;
        let from = self.looks.iter().find(|(at, _)| *at >= warm).unwrap();
        let most = total.saturating_sub(still_to_come);
        let until = self
            .looks
            .iter()
            .rfind(|(_, stats)| stats["requests"].as_u64().unwrap_or(0) <= most)
            .unwrap();
        ((until.0 - from.0).as_secs_f64(), &from.1, &until.1)
    }

    fn count(&self, look: usize, name: &str) -> u64 {
        self.looks[look].1[name].as_u64().unwrap_or(0)
    }
}
