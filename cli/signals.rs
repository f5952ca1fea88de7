//! Ctrl-C and SIGTERM: the first drains, the second stops immediately.

use crate::terminal;
use juror_types::{
    event::{Event, Events},
    shutdown::Shutdown,
};
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit code of a process that a signal ended: 128 plus the number of SIGINT.
const INTERRUPTED_EXIT_CODE: i32 = 130;

/// A stream of both signals. A command of several phases opens it once, before the first, so that
/// a signal between two phases is not lost.
pub struct SignalStream(io::Result<Signals>);

impl SignalStream {
    pub fn open() -> Self {
        Self(Signals::new())
    }

    /// Escalates `shutdown` on each signal until `shutdown.now` is cancelled; the first signal
    /// emits [`Event::Stopping`]. Returns the stream for the next phase; a signal received
    /// meanwhile is delivered there.
    pub async fn listen(mut self, shutdown: Shutdown, events: Events) -> Self {
        let listened = tokio::select! {
        () = shutdown.now.cancelled() => Ok(()),
        listened = self.escalate(&shutdown, &events) => listened,
        };
        if let Err(error) = listened {
            tracing::warn!(%error, "cannot receive signals; stop this process with SIGKILL");
        }
        self
    }

    /// Runs the last phase of a command, the writing of a report: a signal exits the process
    /// immediately and prints `remedy`, which writes the report again.
    pub async fn exit_on_signal<T>(self, remedy: &str, last: impl Future<Output = T>) -> T {
        let message = format!("interrupted while writing the report; {remedy}");
        let listening = tokio::spawn(async move {
            if let Ok(mut signals) = self.0
                && signals.next().await.is_ok()
            {
                terminal::print_notice(&message);
                std::process::exit(INTERRUPTED_EXIT_CODE);
            }
        });
        let done = last.await;
        listening.abort();
        // The task only waited for a signal.
        let _ = listening.await;
        done
    }

    async fn escalate(&mut self, shutdown: &Shutdown, events: &Events) -> io::Result<()> {
        let signals = match &mut self.0 {
            Ok(signals) => signals,
            Err(error) => return Err(io::Error::new(error.kind(), error.to_string())),
        };
        while !shutdown.now.is_cancelled() {
            signals.next().await?;
            shutdown.escalate();
            if !shutdown.now.is_cancelled() {
                events.emit(Event::Stopping).await;
            }
        }
        Ok(())
    }
}

/// Both signals; one that arrives while another is handled is not lost.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) -> io::Result<()> {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};

    #[tokio::test]
    async fn a_signal_between_two_phases_reaches_the_next_phase() {
        let signals = SignalStream::open();
        kill_process(getpid(), Signal::TERM).unwrap();
        let shutdown = Shutdown::new();
        let listening = tokio::spawn(signals.listen(shutdown.clone(), Events::silent()));
        shutdown.drain.cancelled().await;
        shutdown.now.cancel();
        let mut signals = listening.await.unwrap();
        kill_process(getpid(), Signal::INT).unwrap();
        let next = Shutdown::new();
        let events = Events::silent();
        tokio::select! {
            listened = signals.escalate(&next, &events) => panic!("ended by {listened:?}"),
            () = next.drain.cancelled() => {}
        }
        assert!(!next.now.is_cancelled(), "the first signal was for the phase before");
    }
}
