//! Ctrl-C and SIGTERM: once for a soft stop, twice for a hard one.

use juror_common::shutdown::Shutdown;
use tokio::signal;

/// Listens until `shutdown.now` is given, by a second signal or by whoever ends the command.
pub async fn listen(shutdown: Shutdown) {
    loop {
        tokio::select! {
            () = shutdown.now.cancelled() => return,
            received = next_signal() => match received {
                Ok(()) => shutdown.escalate(),
                Err(error) => {
                    tracing::warn!(%error, "signals cannot be heard; only a kill stops this process");
                    return;
                }
            },
        }
    }
}

#[cfg(unix)]
async fn next_signal() -> std::io::Result<()> {
    let mut terminate = signal::unix::signal(signal::unix::SignalKind::terminate())?;
    tokio::select! {
        interrupted = signal::ctrl_c() => interrupted,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn next_signal() -> std::io::Result<()> {
    signal::ctrl_c().await
}
