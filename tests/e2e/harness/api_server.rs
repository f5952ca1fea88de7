//! `juror serve` as a process of its own, and a client that speaks as plainly as can be.

use super::{CommandHarness, Finished, RunningCommand};
use rustix::process::Signal;
use serde_json::Value;
use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    time::Duration,
};

/// No answer keeps silent for so long, not even a stream of events.
const MAX_WAIT: Duration = Duration::from_secs(90);

pub struct ApiServer {
    address: String,
    running: RunningCommand,
}

/// Answer of a server.
pub struct ApiResponse {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl ApiServer {
    /// Serves the runs of the harness's folder, and judges the datasets in it.
    pub fn open(harness: &CommandHarness, more: &[&str]) -> Self {
        Self::start(Self::command(harness, more))
    }

    pub fn command(harness: &CommandHarness, more: &[&str]) -> Command {
        let flags = ["serve", "--listen", "127.0.0.1:0", "--data-root", "."];
        harness.command(&[&flags[..], more].concat())
    }

    pub fn start(command: Command) -> Self {
        let mut running = RunningCommand::start(command);
        let address = running.first_line().trim().strip_prefix("http://").unwrap().to_owned();
        Self { address, running }
    }

    /// URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn get(&self, path: &str) -> ApiResponse {
        self.ask("GET", path, "", "")
    }

    pub fn post(&self, path: &str, body: &Value) -> ApiResponse {
        self.ask("POST", path, "content-type: application/json\r\n", &body.to_string())
    }

    /// Asks with these headers, each with its line's end.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> ApiResponse {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(MAX_WAIT)).unwrap();
        let (host, length) = (&self.address, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: \
             {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        ApiResponse { status, head, body: answer[end + 4..].to_vec() }
    }

    /// Returns once no process works on the run any more.
    #[track_caller]
    pub fn await_end(&self, run: &str) {
        let told = self.get(&format!("/api/v1/runs/{run}/events"));
        let told = String::from_utf8_lossy(&told.body).into_owned();
        assert!(told.contains("event: ended"), "{told}");
    }

    /// Asks it to end in good order, without waiting for that.
    pub fn ask_to_stop(&self) {
        self.running.signal(Signal::TERM);
    }

    /// Returns once it takes no connections any more.
    pub fn await_refusal(&self) {
        while TcpStream::connect(&self.address).is_ok() {
            std::thread::yield_now();
        }
    }

    /// Waits for its end.
    pub fn finish(self) -> Finished {
        self.running.finish()
    }
}

impl ApiResponse {
    /// Asserts the status, and shows what was said otherwise.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{}\n{body}", self.head);
        self
    }

    /// Asserts that the answer says each of these.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        let body = String::from_utf8_lossy(&self.body).into_owned();
        for word in words {
            assert!(body.contains(word), "no {word:?} in:\n{body}");
        }
        self
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}
