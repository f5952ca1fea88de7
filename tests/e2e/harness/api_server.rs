//! `juror serve` as a process, and a minimal HTTP client.

use super::{CommandHarness, Finished, RunningCommand};
use juror_services::wait::poll;
use rustix::process::Signal;
use serde_json::Value;
use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    time::Duration,
};

/// Timeout of a read, above the idle time of any response, including event streams.
const MAX_WAIT: Duration = Duration::from_secs(90);

pub struct ApiServer {
    address: String,
    running: RunningCommand,
}

/// Response of the server.
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
        self.request("GET", path, "", "")
    }

    pub fn post(&self, path: &str, body: &Value) -> ApiResponse {
        self.request("POST", path, "content-type: application/json\r\n", &body.to_string())
    }

    /// Sends a request with these headers, each with its line break.
    pub fn request(&self, method: &str, path: &str, headers: &str, body: &str) -> ApiResponse {
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

    /// Waits until the run is inactive.
    #[track_caller]
    pub fn await_end(&self, run: &str) {
        let reported = self.get(&format!("/api/v1/runs/{run}/events"));
        let reported = String::from_utf8_lossy(&reported.body).into_owned();
        assert!(reported.contains("event: ended"), "{reported}");
    }

    /// Requests a graceful shutdown without waiting for it.
    pub fn request_stop(&self) {
        self.running.signal(Signal::TERM);
    }

    /// Waits until the server refuses connections.
    pub fn await_closed(&self) {
        poll("the server is closed", || TcpStream::connect(&self.address).is_err().then_some(()));
    }

    /// Waits for the end of the process.
    pub fn finish(self) -> Finished {
        self.running.finish()
    }
}

impl ApiResponse {
    /// Asserts the status; a failure shows the response.
    #[track_caller]
    pub fn has_status(self, status: u16) -> Self {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{}\n{body}", self.head);
        self
    }

    /// Asserts that the body contains each of these.
    #[track_caller]
    pub fn body_contains(self, texts: &[&str]) -> Self {
        let body = String::from_utf8_lossy(&self.body).into_owned();
        for text in texts {
            assert!(body.contains(text), "no {text:?} in:\n{body}");
        }
        self
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}
