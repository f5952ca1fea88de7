//! Exchanges and queues of a namespace, and their declaration.
//!
//! Everything is durable and every queue a quorum queue. A message that expires or is delivered too
//! often is dead-lettered at least once, for which a full queue must reject publishes.

use super::{
    super::{Priority, QueueError},
    address::Address,
    failure,
    names::{self, JOB_KINDS, Namespace},
};
use lapin::{
    Channel, ExchangeKind,
    options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions},
    types::{AMQPValue, FieldTable, ShortString},
};
use std::{collections::BTreeMap, time::Duration};

/// Deliveries of a message after which the broker itself dead-letters it: far above the fleet's own
/// limits, since some versions count a clean close too.
const MAX_BROKER_DELIVERIES: i64 = 1_000;
/// Time after which a job that waits for rendering is delivered to workers that do not render: they
/// end it if its run is cancelled or its deadline has passed, and requeue it otherwise.
const RENDERING_WAIT: Duration = Duration::from_secs(10 * 60);
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

/// An argument of a queue.
type Argument = (&'static str, AMQPValue);

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
    let key = names::key(priority, needs_rendering);
    let mut arguments = if needs_rendering {
        let routing_key = ("x-dead-letter-routing-key", text(names::key(priority, false)));
        [dead_lettering(namespace.jobs()), vec![expiring(RENDERING_WAIT), routing_key]].concat()
    } else {
        dead_lettering(namespace.dead())
    };
    arguments.push(("x-delivery-limit", MAX_BROKER_DELIVERIES.into()));
    arguments.extend(max_length.map(|length| ("x-max-length", i64::from(length).into())));
    quorum(namespace.work(priority, needs_rendering), (namespace.jobs(), key), arguments)
}

fn results(namespace: &Namespace) -> QueueSpecification {
    let mut arguments = dead_lettering(namespace.dead());
    arguments.push(("x-delivery-limit", MAX_BROKER_DELIVERIES.into()));
    arguments.push(("x-single-active-consumer", true.into()));
    quorum(namespace.results(), (namespace.results(), "#"), arguments)
}

/// A queue of dead letters.
fn kept(namespace: &Namespace, name: ShortString) -> QueueSpecification {
    let arguments = vec![("x-delivery-limit", NO_DELIVERY_LIMIT.into())];
    quorum(name, (namespace.dead(), ""), arguments)
}

/// A queue whose messages return to the jobs after a time. It has no dead-letter routing key, so
/// that they keep their own, which is the priority.
fn hold(namespace: &Namespace, name: ShortString, time: Duration) -> QueueSpecification {
    let mut arguments = dead_lettering(namespace.jobs());
    arguments.push(expiring(time));
    quorum(name.clone(), (name, ""), arguments)
}

/// A quorum queue with these further arguments, bound to an exchange by a routing key.
fn quorum(
    name: ShortString,
    (exchange, routing_key): (ShortString, &str),
    mut arguments: Vec<Argument>,
) -> QueueSpecification {
    arguments.extend([("x-queue-type", text("quorum")), ("x-overflow", text("reject-publish"))]);
    let arguments: BTreeMap<ShortString, AMQPValue> =
        arguments.into_iter().map(|(name, value)| (name.into(), value)).collect();
    let routing_key = routing_key.into();
    QueueSpecification { name, arguments: arguments.into(), exchange, routing_key }
}

fn expiring(time: Duration) -> Argument {
    // The maximum is 600,000 ms.
    ("x-message-ttl", i64::try_from(time.as_millis()).unwrap_or(i64::MAX).into())
}

/// Arguments of a queue whose rejected and expired messages go to an exchange.
fn dead_lettering(exchange: ShortString) -> Vec<Argument> {
    vec![
        ("x-dead-letter-exchange", text(exchange.as_str())),
        ("x-dead-letter-strategy", text("at-least-once")),
    ]
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}
