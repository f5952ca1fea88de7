//! Commands that are watched, signalled and killed while they run.

use super::Finished;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, Command, Stdio},
    thread::JoinHandle,
};

/// A command that runs. Dropped before its end, it is killed.
pub struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
    stdout: Option<JoinHandle<String>>,
}

impl Running {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let stdout = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        Self { child, stderr, said: String::new(), stdout: Some(stdout) }
    }

    /// Returns as soon as it has said this on standard error.
    #[track_caller]
    pub fn await_words(&mut self, words: &str) {
        while !self.said.contains(words) {
            let read = self.stderr.read_line(&mut self.said).unwrap();
            assert!(read > 0, "it ended without saying {words:?}:\n{}", self.said);
        }
    }

    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Whether it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Finished {
        self.stderr.read_to_string(&mut self.said).unwrap();
        Finished {
            code: self.child.wait().unwrap().code().unwrap_or(-1),
            stdout: self.stdout.take().unwrap().join().unwrap(),
            stderr: std::mem::take(&mut self.said),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already, unless the story broke off.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
