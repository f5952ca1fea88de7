//! The task that owns the connection: it re-establishes it and publishes.

use super::{
    super::QueueError, address::Address, backoff::Backoff, publish::Publisher,
    shared_connection::ConnectionState, topology::Topology,
};
use crate::rabbitmq::connection::BrokerConnection;
use juror_types::event::{Event, Events};
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// Lifetime after which a connection counts as stable, so that the next pause is short again.
const MIN_STABLE_CONNECTION: Duration = Duration::from_secs(10);

pub(super) struct Supervisor {
    pub(super) connector: BrokerConnector,
    pub(super) phase: watch::Sender<ConnectionState>,
    pub(super) stop: CancellationToken,
}

/// Factory of connections.
pub(super) struct BrokerConnector {
    pub(super) address: Address,
    pub(super) topology: Topology,
    pub(super) events: Events,
}

impl Supervisor {
    /// Starts with this connection, and connects again whenever it fails, until it is stopped or
    /// the broker refuses it.
    pub(super) async fn run(self, first: Arc<BrokerConnection>, mut publisher: Publisher) {
        let mut connection = first;
        let mut backoff = Backoff::for_connections();
        let reason = loop {
            let since = Instant::now();
            self.phase.send_replace(ConnectionState::Connected(Arc::clone(&connection)));
            let failure = tokio::select! {
                biased;
                () = self.stop.cancelled() => QueueError::Closed,
                failure = connection.closed() => failure,
                failure = connection.watch() => failure,
                failure = publisher.serve(&connection) => failure,
            };
            self.phase.send_replace(ConnectionState::Connecting);
            connection.close().await;
            if !matches!(failure, QueueError::Unavailable(_)) {
                break failure;
            }
            if since.elapsed() >= MIN_STABLE_CONNECTION {
                backoff = Backoff::for_connections();
            }
            self.connector.warn(format!("{failure}; reconnecting")).await;
            let connecting = self.connector.connect(&mut backoff, None);
            let connected = tokio::select! {
                biased;
                () = self.stop.cancelled() => break QueueError::Closed,
                connected = connecting => connected,
            };
            connection = match connected {
                Ok(next) => Arc::new(next),
                Err(refused) => break refused,
            };
        };
        publisher.end(&reason);
        self.phase.send_replace(ConnectionState::Closed(reason));
    }
}

impl BrokerConnector {
    /// The first connection: waits for an unreachable broker, at most `max_wait`.
    pub(super) async fn connect_first(
        &self,
        max_wait: Duration,
    ) -> Result<BrokerConnection, QueueError> {
        self.connect(&mut Backoff::for_connections(), Some(max_wait)).await
    }

    /// Retries until the broker replies, refuses the connection, or `max_wait` is over.
    async fn connect(
        &self,
        backoff: &mut Backoff,
        max_wait: Option<Duration>,
    ) -> Result<BrokerConnection, QueueError> {
        let since = Instant::now();
        let mut is_warned = max_wait.is_none();
        loop {
            // Again after a failure, and immediately at the start.
            if backoff.is_used() || max_wait.is_none() {
                sleep(backoff.next()).await;
            }
            let problem = match BrokerConnection::connect(&self.address, &self.topology).await {
                Ok(connection) => return Ok(connection),
                Err(QueueError::Unavailable(problem)) => problem,
                Err(refused) => return Err(refused),
            };
            let left = max_wait.map(|max_wait| max_wait.saturating_sub(since.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                let remedy = "start RabbitMQ, or correct the setting fleet.broker";
                return Err(QueueError::Unavailable(format!("{problem}; {remedy}")));
            }
            if !is_warned {
                is_warned = true;
                let seconds = left.unwrap_or_default().as_secs_f32().ceil();
                self.warn(format!("{problem}; retrying for at most {seconds} s")).await;
            }
            if !backoff.is_used() {
                sleep(backoff.next().min(left.unwrap_or(Duration::MAX))).await;
            }
        }
    }

    async fn warn(&self, warning: String) {
        self.events.emit(Event::Warning(warning)).await;
    }
}
