//! `juror simulate` as a process, with the verdicts of the golden set.

use super::CommandHarness;
use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Stdio},
};

pub struct SimulatorProcess {
    pub base_url: String,
    process: Child,
    /// Kept open so that the final output does not fail.
    _output: BufReader<ChildStdout>,
}

impl SimulatorProcess {
    pub fn start(harness: &CommandHarness) -> Self {
        Self::start_with(harness, &["--listen", "127.0.0.1:0", "--quiet"])
    }

    pub fn start_with(harness: &CommandHarness, flags: &[&str]) -> Self {
        let mut command = harness.command(&[&["simulate"], flags].concat());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut base_url = String::new();
        output.read_line(&mut base_url).unwrap();
        Self { base_url: base_url.trim().to_owned(), process, _output: output }
    }
}

impl Drop for SimulatorProcess {
    fn drop(&mut self) {
        // The child process; it may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
