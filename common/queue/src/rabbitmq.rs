//! Queues in RabbitMQ, for a fleet. Valid from version 3.10 to 4.x.
//!
//! One connection and one task serve a process, which owns them through [`RabbitQueues`]. When
//! the connection breaks, everything is made anew, and what was outstanding counts as void:
//! publishes that were not confirmed are published again, and deliveries come again, marked as
//! redelivered, whatever their holder still says about them. So nothing is lost, and duplicates
//! happen.

mod address;
mod backoff;
mod connection;
mod consume;
mod dead;
mod depths;
mod failure;
mod handshake;
mod hold;
mod message;
mod names;
mod priority;
mod publish;
mod settle;
mod shared;
mod supervisor;
mod tags;
mod tls_reactor;
mod topology;
mod workers;

#[cfg(any(test, feature = "conformance"))]
pub mod test_namespace;
#[cfg(test)]
mod tests;

pub use dead::{DeadLetterBody, StoredDeadLetter};
pub use handshake::broker_version;
pub use workers::{ConnectedWorkers, connected_workers};

use super::{DeadLetter, Message, Priority, Queue, QueueError, Subscription};
use address::Address;
use async_trait::async_trait;
use consume::RabbitSubscription;
use futures_util::future::BoxFuture;
use juror_tls::TlsFiles;
use juror_types::{event::Events, job::Job, outcome::JobResult};
use message::Envelope;
use names::{Namespace, Route, priority_of};
use publish::Publisher;
use shared::{ConnectionState, Shared};
use std::{marker::PhantomData, sync::Arc, time::Duration};
use supervisor::{BrokerConnector, Supervisor};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use topology::Topology;

/// Publishes that may stand before the publisher. What the broker has not confirmed is bounded
/// elsewhere.
const REQUESTS: usize = 1_000;

/// Settings of the connection to a broker.
#[derive(Clone)]
pub struct RabbitSettings {
    /// `amqp://user:password@host:port/vhost`, or `amqps://…` with TLS; never shown.
    pub url: String,
    /// Files for TLS, with `amqps://` alone.
    pub tls: TlsFiles,
    /// Prefix of every exchange and queue: 1 to 100 ASCII letters, digits, `.`, `_`, `-`.
    pub namespace: String,
    /// Jobs that each priority takes before publishing pauses; unbounded if none. The broker may
    /// take a few more. It cannot be changed while the queues exist.
    pub max_length: Option<u32>,
    /// Time for which a broker that is away at the start is waited for.
    pub max_wait: Duration,
}

/// The connection of one process to its fleet's queues. Close it when all roles have ended;
/// dropped, it stops without anybody waiting for the end.
pub struct RabbitQueues {
    address: Address,
    shared: Arc<Shared>,
    stop: DropGuard,
    supervisor: JoinHandle<()>,
}

impl RabbitQueues {
    /// Connects, and declares what is missing. Warnings go to `events`: a broker that is away,
    /// a connection that broke, a full queue.
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
            let link = connector.connect_first(settings.max_wait).await?;
            let (sender, requests) = mpsc::channel(REQUESTS);
            let (phase, phases) = watch::channel(ConnectionState::Connecting);
            let stop = CancellationToken::new();
            let supervisor = Supervisor { connector, phase, stop: stop.clone() };
            let running = supervisor.run(link, Publisher::new(requests, events));
            Ok(Self {
                address,
                shared: Arc::new(Shared::new(namespace, phases, sender)),
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

    /// The jobs, of which subscriptions receive those alone that need no drawing. Others come to
    /// them only when no worker has drawn them for ten minutes.
    pub fn jobs_without_drawing(&self) -> RabbitQueue<Job> {
        RabbitQueue { draws: false, ..self.queue(Route::Jobs) }
    }

    /// The results. One subscription at a time receives them, the others stand by. They have one
    /// priority and cannot be delayed.
    pub fn results(&self) -> RabbitQueue<JobResult> {
        self.queue(Route::Results)
    }

    /// Receives each dead job once, besides its being kept for [`DeadLetters`](super::DeadLetters).
    /// Its deliveries can be acknowledged or given back.
    pub async fn poison(
        &self,
        prefetch: usize,
    ) -> Result<Box<dyn Subscription<DeadLetter<Job>>>, QueueError> {
        let shared = Arc::clone(&self.shared);
        let opening =
            RabbitSubscription::open(shared, (Route::Poison, true), prefetch, |delivery| {
                if !message::belongs_to(&delivery.properties, Route::Poison) {
                    return Err("it is not a job".to_owned());
                }
                let message = message::decode(&delivery.data)?;
                let reason = message::reason(&delivery.properties);
                let priority = priority_of(delivery.routing_key.as_str());
                let is_undelivered = message::is_undelivered(&delivery.properties);
                Ok(DeadLetter { message, priority, reason, is_undelivered })
            });
        Ok(Box::new(opening.await?))
    }

    /// Closes the connection, upon which the broker gives what is still out to others; publishes
    /// that wait, and everything that is asked for later, are answered that the queue is closed.
    pub async fn close(self) {
        drop(self.stop);
        if let Err(error) = self.supervisor.await {
            tracing::error!(%error, "the connection's task broke off");
        }
    }

    fn queue<M: Message>(&self, route: Route) -> RabbitQueue<M> {
        RabbitQueue { shared: Arc::clone(&self.shared), route, draws: true, message: PhantomData }
    }
}

/// A queue of one kind of message. It never ends: a subscription waits for more until the
/// connection is closed. Clones share it.
///
/// A subscription's prefetch holds for each priority at the broker, and for both together as to
/// what is handed out; what is beyond waits here, and goes back when the subscription is dropped.
pub struct RabbitQueue<M> {
    shared: Arc<Shared>,
    route: Route,
    /// True if its subscriptions receive messages that need a drawing.
    draws: bool,
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
        let opening = RabbitSubscription::open(shared, (self.route, self.draws), prefetch, decode);
        Ok(Box::new(opening.await?))
    }
}
