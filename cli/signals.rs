//! Ctrl-C and SIGTERM: once for a soft stop, twice for a hard one.

use juror_common::{
    event::{Event, Events},
    shutdown::Shutdown,
};
use std::io;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens until `shutdown.now` is given, by a second signal or by whoever ends the command. Tells
/// `events` of the first. Signals are heard from this call on, not only once the future is polled.
pub fn listen(shutdown: Shutdown, events: Events) -> impl Future<Output = ()> {
    let signals = Signals::new();
    async move {
        let heard = tokio::select! {
            () = shutdown.now.cancelled() => return,
            heard = escalate(signals, &shutdown, &events) => heard,
        };
        if let Err(error) = heard {
            tracing::warn!(%error, "signals cannot be heard; only a kill stops this process");
        }
    }
}

async fn escalate(
    signals: io::Result<Signals>,
    shutdown: &Shutdown,
    events: &Events,
) -> io::Result<()> {
    let mut signals = signals?;
    while !shutdown.now.is_cancelled() {
        signals.next().await?;
        shutdown.escalate();
        if !shutdown.now.is_cancelled() {
            events.emit(Event::Stopping).await;
        }
    }
    Ok(())
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
