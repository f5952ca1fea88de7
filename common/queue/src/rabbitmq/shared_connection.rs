//! State shared by all queues, subscriptions and deliveries of one process.

use super::{
    super::QueueError,
    names::{Namespace, Route},
    publish::PublishRequest,
};
use crate::rabbitmq::{connection::BrokerConnection, message::Envelope};
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

/// Maximum number of unconfirmed messages of one kind.
const WINDOW: usize = 1_000;

/// State of the connection to the broker.
#[derive(Clone)]
pub(super) enum ConnectionState {
    /// There is no connection; the supervisor is opening one.
    Connecting,
    /// Connected.
    Connected(Arc<BrokerConnection>),
    /// Closed for good, or refused.
    Closed(QueueError),
}

pub(super) struct SharedConnection {
    pub(super) namespace: Namespace,
    phase: watch::Receiver<ConnectionState>,
    publisher: mpsc::Sender<PublishRequest>,
    /// Separate limits, so that a full queue of jobs blocks neither results nor retries.
    jobs: Semaphore,
    results: Semaphore,
    aside: Semaphore,
}

impl SharedConnection {
    pub(super) fn new(
        namespace: Namespace,
        phase: watch::Receiver<ConnectionState>,
        publisher: mpsc::Sender<PublishRequest>,
    ) -> Self {
        let [jobs, results, aside] = std::array::from_fn(|_| Semaphore::new(WINDOW));
        Self { namespace, phase, publisher, jobs, results, aside }
    }

    /// The current connection, or the next one.
    pub(super) async fn connection(&self) -> Result<Arc<BrokerConnection>, QueueError> {
        let mut phase = self.phase.clone();
        let left = phase.wait_for(|phase| match phase {
            ConnectionState::Connecting => false,
            ConnectionState::Connected(connection) => !connection.is_over(),
            ConnectionState::Closed(_) => true,
        });
        match left.await.as_deref() {
            Ok(ConnectionState::Connected(connection)) => Ok(Arc::clone(connection)),
            Ok(ConnectionState::Closed(reason)) => Err(reason.clone()),
            Ok(ConnectionState::Connecting) | Err(_) => Err(QueueError::Closed),
        }
    }

    /// The current connection; an error where there is none.
    pub(super) fn connection_now(&self) -> Result<Arc<BrokerConnection>, QueueError> {
        match &*self.phase.borrow() {
            ConnectionState::Connected(connection) if !connection.is_over() => {
                Ok(Arc::clone(connection))
            }
            ConnectionState::Closed(reason) => Err(reason.clone()),
            ConnectionState::Connected(_) | ConnectionState::Connecting => {
                Err(QueueError::Unavailable("not connected to RabbitMQ".to_owned()))
            }
        }
    }

    /// Runs an operation over the current connection, and again over the next one when its
    /// connection is lost.
    pub(super) async fn over_connections<T, Running>(
        &self,
        operation: impl Fn(Arc<BrokerConnection>) -> Running,
    ) -> Result<T, QueueError>
    where
        Running: Future<Output = Result<T, QueueError>>,
    {
        loop {
            match operation(self.connection().await?).await {
                Err(QueueError::Unavailable(_)) => {}
                ended => return ended,
            }
        }
    }

    /// Publishes into a priority; returns when the broker has confirmed it.
    pub(super) async fn publish(&self, letter: Envelope, route: Route) -> Result<(), QueueError> {
        let window = match route {
            Route::Jobs => &self.jobs,
            Route::Results | Route::Poison => &self.results,
        };
        self.publish_in(window, letter).await
    }

    /// Publishes to the hold queues or the dead letters; returns when the broker has confirmed it.
    pub(super) async fn publish_aside(&self, letter: Envelope) -> Result<(), QueueError> {
        self.publish_in(&self.aside, letter).await
    }

    async fn publish_in(&self, window: &Semaphore, letter: Envelope) -> Result<(), QueueError> {
        let _room = window.acquire().await.map_err(|_| QueueError::Closed)?;
        let (done, reported) = oneshot::channel();
        if self.publisher.send(PublishRequest { letter, done }).await.is_err() {
            return Err(self.end_reason());
        }
        reported.await.unwrap_or_else(|_| Err(self.end_reason()))
    }

    fn end_reason(&self) -> QueueError {
        match &*self.phase.borrow() {
            ConnectionState::Closed(reason) => reason.clone(),
            ConnectionState::Connecting | ConnectionState::Connected(_) => QueueError::Closed,
        }
    }
}
