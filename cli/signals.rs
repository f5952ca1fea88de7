//! Ctrl-C and SIGTERM: once for a soft stop, twice for a hard one.

use juror_common::shutdown::Shutdown;
use std::io;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens until `shutdown.now` is given, by a second signal or by whoever ends the command.
pub async fn listen(shutdown: Shutdown) {
    let heard = tokio::select! {
        () = shutdown.now.cancelled() => return,
        heard = escalate(&shutdown) => heard,
    };
    if let Err(error) = heard {
        tracing::warn!(%error, "signals cannot be heard; only a kill stops this process");
    }
}

async fn escalate(shutdown: &Shutdown) -> io::Result<()> {
    let mut signals = Signals::new()?;
    while !shutdown.now.is_cancelled() {
        signals.next().await?;
        shutdown.escalate();
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
