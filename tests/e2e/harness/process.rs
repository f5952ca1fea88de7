//! Commands that are watched, signalled and killed while they run.

use super::Finished;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread::JoinHandle,
    time::Duration,
};

/// Longer than any command of a test goes on. One that waits in vain is killed after it, so that
/// the test ends and says what the command said, instead of standing still.
const LEASH: Duration = Duration::from_secs(15 * 60);

/// A command that runs. Dropped before its end, it is killed.
pub struct RunningCommand {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
    /// The first line of standard output, as soon as it is there.
    first_line: Receiver<String>,
    stdout: Option<JoinHandle<String>>,
    /// Let go of when the command has ended.
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
            // A test that does not wait for it has let it go.
            let _ = sender.send(text.clone());
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        let _leash = leash(&child);
        Self { child, stderr, said: String::new(), first_line, stdout: Some(stdout), _leash }
    }

    /// Waits for the first line of standard output; what it said on standard error is shown if it
    /// ends without one.
    #[track_caller]
    pub fn first_line(&mut self) -> String {
        let line = self.first_line.recv().unwrap();
        if line.is_empty() {
            self.stderr.read_to_string(&mut self.said).unwrap();
            panic!("it ended without a line on standard output:\n{}", self.said);
        }
        line
    }

    /// Returns as soon as it has said this on standard error.
    #[track_caller]
    pub fn await_words(&mut self, words: &str) {
        while !self.said.contains(words) {
            let read = self.stderr.read_line(&mut self.said).unwrap();
            assert!(read > 0, "it ended without saying {words:?}:\n{}", self.said);
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

fn pid(child: &Child) -> Pid {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).unwrap()
}

/// Kills a command that goes on for too long, unless what this returns is dropped before.
fn leash(child: &Child) -> Sender<()> {
    let (held, dropped) = channel();
    let pid = pid(child);
    std::thread::spawn(move || {
        if dropped.recv_timeout(LEASH) == Err(RecvTimeoutError::Timeout) {
            // It may have ended in this moment.
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    held
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // It has ended already, unless the test broke off.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
