//! Running commands, which can be observed, signaled and killed.

use super::Finished;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::Duration,
};

/// Time limit of a command, after which it is killed so that a hanging test ends with the output.
const LEASH: Duration = Duration::from_secs(15 * 60);

/// Running command. It is killed when dropped before its end.
pub struct RunningCommand {
    child: Child,
    stderr: BufReader<ChildStderr>,
    stderr_text: String,
    /// First line of standard output, once printed.
    first_line: Receiver<String>,
    stdout: Option<JoinHandle<String>>,
    /// Dropped when the command has ended.
    _leash: Sender<()>,
}

impl RunningCommand {
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, first_line) = channel();
        let stdout = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_line(&mut text).unwrap();
            // The receiver may be dropped.
            let _ = sender.send(text.clone());
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        let _leash = leash(&child);
        Self { child, stderr, stderr_text: String::new(), first_line, stdout: Some(stdout), _leash }
    }

    /// Waits for the first line of standard output; if there is none, the failure shows standard
    /// error.
    #[track_caller]
    pub fn first_line(&mut self) -> String {
        let line = self.first_line.recv().unwrap();
        if line.is_empty() {
            self.stderr.read_to_string(&mut self.stderr_text).unwrap();
            panic!("the command ended without a line on standard output:\n{}", self.stderr_text);
        }
        line
    }

    /// Waits until standard error contains this.
    #[track_caller]
    pub fn await_stderr(&mut self, text: &str) {
        while !self.stderr_text.contains(text) {
            let read = self.stderr.read_line(&mut self.stderr_text).unwrap();
            assert!(read > 0, "the command ended without {text:?}:\n{}", self.stderr_text);
        }
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(pid(&self.child), signal).unwrap();
    }

    /// True if it has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end of the process.
    pub fn finish(mut self) -> Finished {
        self.stderr.read_to_string(&mut self.stderr_text).unwrap();
        Finished {
            code: self.child.wait().unwrap().code().unwrap_or(-1),
            stdout: self.stdout.take().unwrap().join().unwrap(),
            stderr: std::mem::take(&mut self.stderr_text),
        }
    }
}

fn pid(child: &Child) -> Pid {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).unwrap()
}

/// Kills a command after the time limit, unless the returned sender is dropped before.
fn leash(child: &Child) -> Sender<()> {
    let (held, dropped) = channel();
    let pid = pid(child);
    std::thread::spawn(move || {
        if dropped.recv_timeout(LEASH) == Err(RecvTimeoutError::Timeout) {
            // The process may have just ended.
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    held
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // The process has ended already unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
