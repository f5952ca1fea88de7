//! Subscription to changes of other processes that may let a waiting call through.

use super::connection::Connection;
use crate::error::LedgerError;
use futures_util::StreamExt as _;
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Interval between two attempts to subscribe.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// Receives changes until it is stopped, and subscribes again whenever the connection is lost.
pub async fn listen(connection: Arc<Connection>, stop: CancellationToken) {
    let for_ever = async {
        let mut is_outage_logged = false;
        loop {
            match receive_changes(&connection).await {
                Ok(()) => is_outage_logged = false,
                Err(error) => {
                    // Logged once for each outage; callers that need the ledger report it to users.
                    if !std::mem::replace(&mut is_outage_logged, true) {
                        tracing::debug!(%error, "the subscription to the ledger's changes failed");
                    }
                }
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    };
    stop.run_until_cancelled(for_ever).await;
}

/// Receives changes until the connection is lost.
async fn receive_changes(connection: &Connection) -> Result<(), LedgerError> {
    let mut messages = connection.listen().await?;
    // Changes before the subscription are unknown.
    connection.notify_waiting();
    let mut messages = messages.on_message();
    while messages.next().await.is_some() {
        connection.notify_waiting();
    }
    Ok(())
}
