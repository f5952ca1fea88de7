//! Ctrl-C and SIGTERM: once for a soft stop, twice for a hard one.

use juror_common::shutdown::Shutdown;
use std::io;
use tokio::signal;

/// Listens until `shutdown.now` is given, by a second signal or by whoever ends the command.
/// Signals are caught from this call on, not only once the future is polled.
pub fn listen(shutdown: Shutdown) -> impl Future<Output = ()> {
    let signals = Signals::catch();
    async move {
        let heard = async {
            let mut signals = signals?;
            loop {
                signals.next().await?;
                shutdown.escalate();
            }
        };
        tokio::select! {
            () = shutdown.now.cancelled() => {}
            heard = heard => {
                let heard: io::Result<()> = heard;
                if let Err(error) = heard {
                    tracing::warn!(%error, "signals cannot be heard; only a kill stops this process");
                }
            }
        }
    }
}

/// The signals that stop a command. Held from one to the next, so that none falls in between.
struct Signals {
    #[cfg(unix)]
    interrupt: signal::unix::Signal,
    #[cfg(unix)]
    terminate: signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn catch() -> io::Result<Self> {
        use signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
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
impl Signals {
    fn catch() -> io::Result<Self> {
        Ok(Self {})
    }

    async fn next(&mut self) -> io::Result<()> {
        signal::ctrl_c().await
    }
}
