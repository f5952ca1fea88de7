//! Hears from other processes that a waiting call may get through.

use super::connection::Connection;
use crate::error::LedgerError;
use futures_util::StreamExt as _;
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Pause before subscribing anew.
const PAUSE: Duration = Duration::from_millis(500);

/// Listens until it is stopped, and tries again whenever it hears no more.
pub async fn listen(connection: Arc<Connection>, stop: CancellationToken) {
    let for_ever = async {
        let mut deaf = false;
        loop {
            match hear(&connection).await {
                Ok(()) => deaf = false,
                Err(error) => {
                    // Once for each time that it is away; whoever needs it tells people.
                    if !std::mem::replace(&mut deaf, true) {
                        tracing::debug!(%error, "changes of the ledger are not heard of");
                    }
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    stop.run_until_cancelled(for_ever).await;
}

/// Ends when the connection does.
async fn hear(connection: &Connection) -> Result<(), LedgerError> {
    let mut messages = connection.listen().await?;
    // Whatever changed before is news too.
    connection.announce();
    let mut messages = messages.on_message();
    while messages.next().await.is_some() {
        connection.announce();
    }
    Ok(())
}
