//! Exchanges and queues of a namespace, and their declaration.
//!
//! Everything is durable and every queue a quorum queue. A message that expires or is delivered too
//! often is dead-lettered at least once, for which a full queue must reject publishes.

use super::{
    super::{Priority, QueueError},
    address::Address,
    failure,
    names::{JOB_KINDS, Namespace, key},
};
use lapin::{
    Channel, ExchangeKind,
    options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions},
    types::{AMQPValue, FieldTable, ShortString},
};
use std::time::Duration;

/// Deliveries of a message after which the broker itself dead-letters it: far above the fleet's own
/// limits, since some versions count a clean close too.
const DELIVERY_LIMIT: i64 = 1_000;
/// Time after which a job that waits for rendering is delivered to workers that do not render: they
/// end it if its run is cancelled or its deadline has passed, and requeue it otherwise.
const DRAWING_WAIT: Duration = Duration::from_secs(10 * 60);
/// Delivery limit of queues that are read repeatedly. Versions from 4.0 on have a default limit of
/// 20, and earlier ones refuse a negative limit.
const NO_DELIVERY_LIMIT: i64 = 1_000_000_000;

/// Exchanges and queues of a namespace.
#[derive(Default)]
pub(super) struct Topology {
    pub(super) exchanges: Vec<(ShortString, ExchangeKind)>,
    pub(super) queues: Vec<QueueSpecification>,
}

pub(super) struct QueueSpecification {
    pub(super) name: ShortString,
    arguments: FieldTable,
    exchange: ShortString,
    routing_key: ShortString,
}

impl Topology {
    /// The topology of a namespace; `max_length` bounds each priority of jobs.
    pub(super) fn new(namespace: &Namespace, max_length: Option<u32>) -> Self {
        let mut exchanges = vec![
            (namespace.dead(), ExchangeKind::Fanout),
            (namespace.jobs(), ExchangeKind::Direct),
            (namespace.results(), ExchangeKind::Topic),
        ];
        exchanges.extend(namespace.holds().map(|(_, name)| (name, ExchangeKind::Fanout)));
        let mut queues = vec![
            kept(namespace, namespace.dead()),
            kept(namespace, namespace.poison()),
            results(namespace),
        ];
        queues.extend(JOB_KINDS.map(|kind| work(namespace, kind, max_length)));
        queues.extend(namespace.holds().map(|(time, name)| hold(namespace, name, time)));
        Self { exchanges, queues }
    }

    /// Declares missing exchanges and queues, and checks existing ones.
    pub(super) async fn declare(
        &self,
        channel: &Channel,
        address: &Address,
    ) -> Result<(), QueueError> {
        for (name, kind) in &self.exchanges {
            let options = ExchangeDeclareOptions { durable: true, ..Default::default() };
            channel
                .exchange_declare(name.clone(), kind.clone(), options, FieldTable::default())
                .await
                .map_err(|error| {
                    failure::on_declaring(address, &format!("exchange {name}"), &error)
                })?;
        }
        for queue in &self.queues {
            queue.declare(channel).await.map_err(|error| {
                failure::on_declaring(address, &format!("queue {}", queue.name), &error)
            })?;
        }
        Ok(())
    }
}

impl QueueSpecification {
    async fn declare(&self, channel: &Channel) -> lapin::Result<()> {
        let options = QueueDeclareOptions { durable: true, ..Default::default() };
        channel.queue_declare(self.name.clone(), options, self.arguments.clone()).await?;
        channel
            .queue_bind(
                self.name.clone(),
                self.exchange.clone(),
                self.routing_key.clone(),
                QueueBindOptions::default(),
                FieldTable::default(),
            )
            .await
    }
}

fn work(
    namespace: &Namespace,
    (priority, needs_rendering): (Priority, bool),
    max_length: Option<u32>,
) -> QueueSpecification {
    let mut arguments = match needs_rendering {
        false => dead_lettering(namespace.dead()),
        true => dead_lettering_after(DRAWING_WAIT, namespace.jobs(), key(priority, false)),
    };
    arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(DELIVERY_LIMIT));
    if let Some(length) = max_length {
        arguments.insert("x-max-length".into(), AMQPValue::LongLongInt(length.into()));
    }
    QueueSpecification {
        name: namespace.work(priority, needs_rendering),
        arguments,
        exchange: namespace.jobs(),
        routing_key: key(priority, needs_rendering).into(),
    }
}

fn results(namespace: &Namespace) -> QueueSpecification {
    let mut arguments = dead_lettering(namespace.dead());
    arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(DELIVERY_LIMIT));
    arguments.insert("x-single-active-consumer".into(), AMQPValue::Boolean(true));
    QueueSpecification {
        name: namespace.results(),
        arguments,
        exchange: namespace.results(),
        routing_key: "#".into(),
    }
}

/// A queue of dead letters.
fn kept(namespace: &Namespace, name: ShortString) -> QueueSpecification {
    let mut arguments = quorum();
    arguments.insert("x-delivery-limit".into(), AMQPValue::LongLongInt(NO_DELIVERY_LIMIT));
    QueueSpecification { name, arguments, exchange: namespace.dead(), routing_key: "".into() }
}

/// A queue whose messages return to the jobs after a time. It has no dead-letter routing key, so
/// that they keep their own, which is the priority.
fn hold(namespace: &Namespace, name: ShortString, time: Duration) -> QueueSpecification {
    let arguments = expiring(dead_lettering(namespace.jobs()), time);
    QueueSpecification { exchange: name.clone(), name, arguments, routing_key: "".into() }
}

/// Arguments of a queue whose expired messages go to an exchange by this key.
fn dead_lettering_after(time: Duration, exchange: ShortString, key: &str) -> FieldTable {
    let mut arguments = expiring(dead_lettering(exchange), time);
    arguments.insert("x-dead-letter-routing-key".into(), AMQPValue::LongString(key.into()));
    arguments
}

fn expiring(mut arguments: FieldTable, time: Duration) -> FieldTable {
    // The maximum is 600,000 ms.
    let milliseconds = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    arguments.insert("x-message-ttl".into(), AMQPValue::LongLongInt(milliseconds));
    arguments
}

fn dead_lettering(exchange: ShortString) -> FieldTable {
    let mut arguments = quorum();
    let exchange = String::from(exchange);
    arguments.insert("x-dead-letter-exchange".into(), AMQPValue::LongString(exchange.into()));
    arguments
        .insert("x-dead-letter-strategy".into(), AMQPValue::LongString("at-least-once".into()));
    arguments
}

fn quorum() -> FieldTable {
    let mut arguments = FieldTable::default();
    arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
    arguments.insert("x-overflow".into(), AMQPValue::LongString("reject-publish".into()));
    arguments
}
