//! Running commands, which can be observed, signaled and killed.

use super::Finished;
use rustix::process::{Pid, Signal, kill_process};
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::JoinHandle,
    time::Duration,
};

/// Time limit of a command, after which it is killed so that a hanging test ends with the output.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Running command. It is killed when dropped before its end.
pub struct RunningCommand {
    child: Child,
    stderr: BufReader<ChildStderr>,
    stderr_text: String,
    /// First line of standard output, once printed.
    first_line: Receiver<String>,
    stdout: Option<JoinHandle<String>>,
    kill_timer: KillTimer,
}

/// Timer that kills a process at its time limit, unless it is dropped before.
pub struct KillTimer {
    expired: Arc<AtomicBool>,
    /// Ends the timer when dropped.
    _running: Sender<()>,
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
        let kill_timer = KillTimer::start(&child, COMMAND_TIMEOUT);
        let (stderr_text, stdout) = (String::new(), Some(stdout));
        Self { child, stderr, stderr_text, first_line, stdout, kill_timer }
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

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Requests a graceful shutdown and asserts its success.
    #[track_caller]
    pub fn stop(self) -> Finished {
        self.signal(Signal::TERM);
        self.finish().exits(0)
    }

    /// Waits for the end of the process.
    #[track_caller]
    pub fn finish(mut self) -> Finished {
        self.stderr.read_to_string(&mut self.stderr_text).unwrap();
        assert!(!self.kill_timer.has_expired(), "the command hangs:\n{}", self.stderr_text);
        Finished {
            code: self.child.wait().unwrap().code().unwrap_or(-1),
            stdout: self.stdout.take().unwrap().join().unwrap(),
            stderr: std::mem::take(&mut self.stderr_text),
        }
    }
}

impl KillTimer {
    pub fn start(process: &Child, limit: Duration) -> Self {
        let (_running, dropped) = channel();
        let expired = Arc::new(AtomicBool::new(false));
        let (pid, expires) = (pid(process), Arc::clone(&expired));
        std::thread::spawn(move || {
            if dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                expires.store(true, SeqCst);
                // The process may have just ended.
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self { expired, _running }
    }

    /// True if it has killed the process.
    pub fn has_expired(&self) -> bool {
        self.expired.load(SeqCst)
    }
}

pub fn pid(process: &Child) -> Pid {
    i32::try_from(process.id()).ok().and_then(Pid::from_raw).unwrap()
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // The process has ended already unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
