//! Queues in RabbitMQ, for a fleet. Valid from version 3.10 to 4.x.
//!
//! One connection and one task serve a process, which owns them through [`RabbitQueues`]. When the
//! connection breaks, everything is re-established: unconfirmed publishes are published again, and
//! unacknowledged deliveries are redelivered, marked as such; ending their old deliveries has no
//! effect. So no message is lost, and duplicates occur.

mod address;
mod backoff;
mod connected_workers;
mod connection;
mod consume;
mod dead_letters;
mod depths;
mod failure;
mod handshake;
mod message;
mod names;
mod open_delivery;
mod priority_window;
mod publish;
mod release_held;
mod shared_connection;
mod supervisor;
mod tls_reactor;
mod topology;
mod unacknowledged_tags;

#[cfg(any(test, feature = "conformance"))]
pub mod test_namespace;
#[cfg(test)]
mod tests;

pub use connected_workers::{ConnectedWorkers, connected_workers};
pub use dead_letters::{DeadLetterBody, StoredDeadLetter};
pub use handshake::broker_version;

use super::{DeadLetter, Message, Priority, Queue, QueueError, Subscription};
use address::Address;
use async_trait::async_trait;
use consume::RabbitSubscription;
use futures_util::future::BoxFuture;
use juror_tls::TlsFiles;
use juror_types::{event::Events, job::Job, outcome::JobResult};
use message::Envelope;
use names::{Namespace, Route};
use publish::Publisher;
use shared_connection::{ConnectionState, SharedConnection};
use std::{marker::PhantomData, sync::Arc, time::Duration};
use supervisor::{BrokerConnector, Supervisor};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use topology::Topology;

/// Capacity of the channel to the publisher. Unconfirmed messages are bounded separately.
const REQUESTS: usize = 1_000;

/// Settings of the connection to a broker.
#[derive(Clone)]
pub struct RabbitSettings {
    /// `amqp://user:password@host:port/vhost`, or `amqps://…` with TLS; never displayed.
    pub url: String,
    /// Files for TLS, with `amqps://` alone.
    pub tls: TlsFiles,
    /// Prefix of every exchange and queue: 1 to 100 ASCII letters, digits, `.`, `_`, `-`.
    pub namespace: String,
    /// Number of jobs per priority above which publishing pauses; unbounded if none. The broker may
    /// accept a few more. It cannot be changed while the queues exist.
    pub max_length: Option<u32>,
    /// Time limit for reaching the broker at the start.
    pub max_wait: Duration,
}

/// The connection of one process to its fleet's queues. Close it when all roles have ended;
/// dropped, it stops in the background.
pub struct RabbitQueues {
    address: Address,
    shared: Arc<SharedConnection>,
    stop: DropGuard,
    supervisor: JoinHandle<()>,
}

impl RabbitQueues {
    /// Connects, and declares missing exchanges and queues. Warnings go to `events`: an unreachable
    /// broker, a lost connection, a full queue.
    pub fn connect(
        settings: &RabbitSettings,
        events: Events,
    ) -> BoxFuture<'_, Result<Self, QueueError>> {
        Box::pin(async move {
            let address = Address::parse(&settings.url, &settings.tls)?;
            let namespace = Namespace::parse(&settings.namespace)?;
            let topology = Topology::new(&namespace, settings.max_length);
            let connector =
                BrokerConnector { address: address.clone(), topology, events: events.clone() };
            let connection = Arc::new(connector.connect_first(settings.max_wait).await?);
            let (sender, requests) = mpsc::channel(REQUESTS);
            // Connected before the supervisor's task begins, as some callers do not wait.
            let (phase, phases) =
                watch::channel(ConnectionState::Connected(Arc::clone(&connection)));
            let stop = CancellationToken::new();
            let supervisor = Supervisor { connector, phase, stop: stop.clone() };
            let running = supervisor.run(connection, Publisher::new(requests, events));
            Ok(Self {
                address,
                shared: Arc::new(SharedConnection::new(namespace, phases, sender)),
                stop: stop.drop_guard(),
                supervisor: tokio::spawn(running),
            })
        })
    }

    /// Address of the broker, without the account.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The jobs, in two priorities.
    pub fn jobs(&self) -> RabbitQueue<Job> {
        self.queue(Route::Jobs)
    }

    /// The jobs, for subscriptions that receive only jobs without rendering. Others are delivered
    /// to them only after ten minutes without a worker that renders.
    pub fn jobs_without_rendering(&self) -> RabbitQueue<Job> {
        RabbitQueue { renders: false, ..self.queue(Route::Jobs) }
    }

    /// The results. One subscription at a time receives them, the others are on standby. They have
    /// one priority and cannot be delayed.
    pub fn results(&self) -> RabbitQueue<JobResult> {
        self.queue(Route::Results)
    }

    /// Receives each dead job once, in addition to its copy in [`DeadLetters`](super::DeadLetters).
    /// Its deliveries can be acknowledged or requeued.
    pub async fn poison(
        &self,
        prefetch: usize,
    ) -> Result<Box<dyn Subscription<DeadLetter<Job>>>, QueueError> {
        let shared = Arc::clone(&self.shared);
        let opening =
            RabbitSubscription::open(shared, (Route::Poison, true), prefetch, |delivery| {
                message::dead_letter(delivery, Route::Poison)
            });
        Ok(Box::new(opening.await?))
    }

    /// Closes the connection, upon which the broker redelivers unacknowledged messages; waiting
    /// publishes and later operations fail with [`QueueError::Closed`].
    pub async fn close(self) {
        drop(self.stop);
        if let Err(error) = self.supervisor.await {
            tracing::error!(%error, "the connection's task broke off");
        }
    }

    fn queue<M: Message>(&self, route: Route) -> RabbitQueue<M> {
        RabbitQueue { shared: Arc::clone(&self.shared), route, renders: true, message: PhantomData }
    }
}

/// A queue of one kind of message. It never ends: a subscription waits for more until the
/// connection is closed. Clones share it.
///
/// A subscription's prefetch applies to each priority at the broker, and to both together as
/// handed-out deliveries; further ones wait here, and are returned when the subscription is
/// dropped.
pub struct RabbitQueue<M> {
    shared: Arc<SharedConnection>,
    route: Route,
    /// True if its subscriptions receive messages that need rendering.
    renders: bool,
    message: PhantomData<fn() -> M>,
}

impl<M> Clone for RabbitQueue<M> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), ..*self }
    }
}

#[async_trait]
impl<M: Message> Queue<M> for RabbitQueue<M> {
    async fn publish(&self, message: M, priority: Priority) -> Result<(), QueueError> {
        let letter = Envelope::new(&message, priority, self.route, &self.shared.namespace)?;
        drop(message);
        self.shared.publish(letter, self.route).await
    }

    async fn subscribe(&self, prefetch: usize) -> Result<Box<dyn Subscription<M>>, QueueError> {
        let decode = |delivery: &lapin::message::Delivery| message::decode(&delivery.data);
        let shared = Arc::clone(&self.shared);
        let opening =
            RabbitSubscription::open(shared, (self.route, self.renders), prefetch, decode);
        Ok(Box::new(opening.await?))
    }
}
