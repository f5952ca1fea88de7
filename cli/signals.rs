//! Ctrl-C and SIGTERM: once for a soft stop, twice for a hard one.

use crate::terminal;
use juror_types::{
    event::{Event, Events},
    shutdown::Shutdown,
};
use std::io;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit code that shells expect of a process that a signal has ended: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// Both signals, heard from the moment that this is made: a command of several parts makes it
/// before the first, lest a signal between two of them is heard by neither.
pub struct SignalStream(io::Result<Signals>);

impl SignalStream {
    /// Hears from now on.
    pub fn open() -> Self {
        Self(Signals::new())
    }

    /// Listens until `shutdown.now` is given, by a second signal or by whoever ends this part of
    /// the command; answers with the ears for the next part, to which what came last is news. Tells
    /// `events` of the first.
    pub async fn listen(mut self, shutdown: Shutdown, events: Events) -> Self {
        let heard = tokio::select! {
            () = shutdown.now.cancelled() => Ok(()),
            heard = self.escalate(&shutdown, &events) => heard,
        };
        if let Err(error) = heard {
            tracing::warn!(%error, "signals cannot be heard; only a kill stops this process");
        }
        self
    }

    /// Does the last part of a command: a signal ends the process at once, as it would if nobody
    /// listened. For what is only written, and can be written again as `remedy` says.
    pub async fn exit_on_signal<T>(self, remedy: &str, last: impl Future<Output = T>) -> T {
        let words = format!("interrupted while writing the report; {remedy}");
        let leaving = tokio::spawn(async move {
            if let Ok(mut signals) = self.0
                && signals.next().await.is_ok()
            {
                terminal::print_notice(&words);
                std::process::exit(INTERRUPTED);
            }
        });
        let done = last.await;
        leaving.abort();
        // It was waiting for a signal, and lost nothing.
        let _ = leaving.await;
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

/// Both signals, heard from now on: one that comes while another is answered is not lost.
#[cfg(unix)]
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

#[cfg(unix)]
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

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> io::Result<()> {
        tokio::signal::ctrl_c().await
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};

    #[tokio::test]
    async fn a_signal_before_anybody_listens_is_heard_by_who_listens_next() {
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
            heard = signals.escalate(&next, &events) => panic!("ended by {heard:?}"),
            () = next.drain.cancelled() => {}
        }
        assert!(!next.now.is_cancelled(), "the first signal was for the part before");
    }
}
