//! `juror serve` as a process of its own, over the runs of a folder.

use super::compared::command;
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Stdio},
};

pub struct DashboardServer {
    /// As in `http://127.0.0.1:40123`.
    pub url: String,
    process: Child,
    /// Kept open so that the final output does not fail.
    _output: BufReader<ChildStdout>,
}

impl DashboardServer {
    pub fn open(folder: &Path, more: &[&str]) -> Self {
        Self::with_tokens(folder, more, &[])
    }

    /// Serves with these variables in its environment.
    pub fn with_tokens(folder: &Path, more: &[&str], tokens: &[(&str, &str)]) -> Self {
        let flags = ["serve", "--listen", "127.0.0.1:0", "--data-root", "."];
        let mut command = command(folder, &[&flags[..], more].concat());
        command.envs(tokens.iter().copied()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut url = String::new();
        output.read_line(&mut url).unwrap();
        Self { url: url.trim().to_owned(), process, _output: output }
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
}

impl Drop for DashboardServer {
    fn drop(&mut self) {
        // The child process; it may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
