//! Lifecycle of one connection.

use super::{super::QueueError, address::Address, failure, topology::Topology};
use crate::rabbitmq::handshake;
use futures_util::{FutureExt as _, StreamExt as _};
use lapin::{
    Channel, Connection, ConnectionProperties, Event,
    options::{ConfirmSelectOptions, QueueDeclareOptions},
    types::{FieldTable, ShortString},
};
use std::{ops::Deref, sync::OnceLock, time::Duration};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Timeout of a connection attempt with its topology.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of the broker's reply to a close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A connection with declared topology. On any error, [`fail`](Self::fail) ends it as a whole.
pub(super) struct BrokerConnection {
    connection: Connection,
    address: Address,
    failed: CancellationToken,
    failure: OnceLock<QueueError>,
}

impl BrokerConnection {
    /// Connects and declares the topology.
    pub(super) async fn connect(
        address: &Address,
        topology: &Topology,
    ) -> Result<Self, QueueError> {
        let connecting = async {
            let properties = ConnectionProperties::default().with_connection_name("juror".into());
            let connection = match address.connect(properties).await {
                Ok(connection) => connection,
                Err(error) if handshake::expects_tls(address, &error).await => {
                    return Err(failure::on_tls_port(address));
                }
                Err(error) => return Err(failure::on_connecting(address, &error)),
            };
            let (failed, failure) = (CancellationToken::new(), OnceLock::new());
            let connection = Self { connection, address: address.clone(), failed, failure };
            let channel = connection.channel().await?;
            match topology.declare(&channel, address).await {
                Ok(()) => Ok(connection),
                Err(error) => {
                    connection.close().await;
                    Err(error)
                }
            }
        };
        timeout(CONNECT_TIMEOUT, connecting).await.unwrap_or_else(|_| {
            Err(QueueError::Unavailable(format!(
                "{address} accepts connections but sent no reply within {} s",
                CONNECT_TIMEOUT.as_secs()
            )))
        })
    }

    /// Opens a channel.
    pub(super) async fn channel(&self) -> Result<OwnChannel, QueueError> {
        self.during(self.connection.create_channel()).await.map(OwnChannel)
    }

    /// Opens a channel with publisher confirms.
    pub(super) async fn confirming_channel(&self) -> Result<OwnChannel, QueueError> {
        let channel = self.channel().await?;
        self.during(channel.confirm_select(ConfirmSelectOptions::default())).await?;
        Ok(channel)
    }

    /// State of a queue, which must exist: a missing one ends the connection.
    pub(super) async fn inspect(
        &self,
        channel: &OwnChannel,
        queue: ShortString,
    ) -> Result<lapin::Queue, QueueError> {
        let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        self.during(channel.queue_declare(queue, passive, FieldTable::default())).await
    }

    /// Waits for the broker's reply, at most until the connection's end: the library may never
    /// complete after that. An error ends the connection.
    pub(super) async fn during<T>(
        &self,
        asking: impl Future<Output = lapin::Result<T>>,
    ) -> Result<T, QueueError> {
        tokio::select! {
            biased;
            failure = self.closed() => Err(failure),
            answer = asking => answer.map_err(|error| self.fail(&error)),
        }
    }

    /// Ends the whole connection; returns the meaning of the error.
    pub(super) fn fail(&self, error: &lapin::Error) -> QueueError {
        self.fail_as(failure::on_using(&self.address, error))
    }

    /// Ends the whole connection for this reason.
    pub(super) fn fail_as(&self, failure: QueueError) -> QueueError {
        let first = self.failure.get_or_init(|| failure);
        self.failed.cancel();
        first.clone()
    }

    /// True if it has ended.
    pub(super) fn is_over(&self) -> bool {
        self.failed.is_cancelled()
    }

    /// Waits for its end.
    pub(super) async fn closed(&self) -> QueueError {
        self.failed.cancelled().await;
        let unknown =
            || QueueError::Unavailable(format!("the connection to {} is closed", self.address));
        self.failure.get().cloned().unwrap_or_else(unknown)
    }

    /// Ends it when the connection breaks while it is unused.
    pub(super) async fn watch(&self) -> QueueError {
        let mut events = std::pin::pin!(self.connection.events_listener());
        while let Some(event) = events.next().await {
            if let Event::Error(error) = event {
                return self.fail(&error);
            }
        }
        self.closed().await
    }

    /// Closes it, upon which the broker redelivers unacknowledged messages. Waits briefly for the
    /// reply.
    pub(super) async fn close(&self) {
        self.fail_as(QueueError::Closed);
        let closing = self.connection.close(200, "done".into());
        match timeout(CLOSE_TIMEOUT, closing).await {
            Ok(Ok(())) => {}
            // The connection is closed already, or the broker detects its end by the missing
            // heartbeat.
            Ok(Err(error)) => tracing::debug!(%error, "closing a connection to RabbitMQ"),
            Err(_) => tracing::debug!("RabbitMQ sent no reply to the close"),
        }
    }
}

/// Channel of one holder, which is closed on drop: the broker removes its consumers, and redelivers
/// unacknowledged messages.
pub(super) struct OwnChannel(Channel);

impl Deref for OwnChannel {
    type Target = Channel;

    fn deref(&self) -> &Channel {
        &self.0
    }
}

impl Drop for OwnChannel {
    fn drop(&mut self) {
        // One poll hands the command to the connection; a drop cannot wait for more. The library
        // would do so later, when the connection may be closing, and report that as an error; and
        // not at all for a channel whose consumers have a delegate.
        let _ = self.0.close(200, "done".into()).now_or_never();
    }
}
