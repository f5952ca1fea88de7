//! Properties and headers of messages.

use super::{
    super::{DeadLetter, Disposition, Message, Priority, QueueError},
    names::{Namespace, Route, key, priority_of},
};
use bytes::Bytes;
use juror_types::SCHEMA;
use lapin::{
    BasicProperties,
    message::Delivery,
    types::{AMQPValue, FieldTable, ShortString},
};
use serde::Deserialize;

/// Header of a message that was delivered before and then published again.
const REDELIVERED: &str = "juror-redelivered";
/// Header with the reason of a dead letter.
const REASON: &str = "juror-reason";
/// Maximum length of a reason, in characters.
const MAX_REASON: usize = 4_000;
/// AMQP's delivery mode of a message that survives a restart.
const PERSISTENT: u8 = 2;

/// A message to be published.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    pub(super) exchange: ShortString,
    pub(super) routing_key: ShortString,
    pub(super) payload: Bytes,
    message_id: ShortString,
    kind: &'static str,
    headers: FieldTable,
}

impl Envelope {
    /// A new message for its priority.
    pub(super) fn new<M: Message>(
        message: &M,
        priority: Priority,
        route: Route,
        namespace: &Namespace,
    ) -> Result<Self, QueueError> {
        let id = message.message_id();
        let message_id = ShortString::try_new(id.as_str()).map_err(|_| {
            let start = id.chars().take(80).collect::<String>();
            QueueError::Refused(format!("message id {start:?}… is longer than 255 bytes"))
        })?;
        let payload = message.to_json().map_err(|error| {
            QueueError::Refused(format!("message {message_id} cannot be written: {error}"))
        })?;
        Ok(Self {
            exchange: exchange(route, namespace),
            routing_key: key(priority, message.needs_rendering()).into(),
            payload: payload.into(),
            message_id,
            kind: route.kind(),
            headers: FieldTable::default(),
        })
    }

    /// A delivered message of a route that is published again unchanged, by `disposition`.
    pub(super) fn republished(
        delivery: &Delivery,
        route: Route,
        disposition: &Disposition,
        namespace: &Namespace,
    ) -> Self {
        let mut headers = FieldTable::default();
        headers.insert(REDELIVERED.into(), AMQPValue::Boolean(true));
        let key = delivery.routing_key.clone();
        let (exchange, routing_key) = match disposition {
            Disposition::RetryAfter(delay) => (namespace.hold(*delay), key),
            Disposition::DeadLetter(reason) => {
                let reason = reason.chars().take(MAX_REASON).collect::<String>();
                headers.insert(REASON.into(), AMQPValue::LongString(reason.into()));
                match route {
                    // The default exchange takes a queue's name: dead results are kept, but not
                    // delivered to consumers of dead jobs.
                    Route::Results => ("".into(), namespace.dead()),
                    Route::Jobs | Route::Poison => (namespace.dead(), key),
                }
            }
            Disposition::Acknowledge | Disposition::Requeue => (exchange(route, namespace), key),
        };
        Self {
            exchange,
            routing_key,
            payload: delivery.data.clone().into(),
            message_id: message_id(&delivery.properties),
            kind: route.kind(),
            headers,
        }
    }

    /// Properties for publishing; `number` identifies this message among unconfirmed ones.
    pub(super) fn properties(&self, number: u64) -> BasicProperties {
        BasicProperties::default()
            .with_delivery_mode(PERSISTENT)
            .with_content_type("application/json".into())
            .with_type(self.kind.into())
            .with_message_id(self.message_id.clone())
            .with_correlation_id(number.to_string().into())
            .with_headers(self.headers.clone())
    }
}

/// The message's id; empty if it has none.
pub(super) fn message_id(properties: &BasicProperties) -> ShortString {
    properties.message_id().clone().unwrap_or_default()
}

/// True if a message with these properties was delivered before it was published.
pub(super) fn was_delivered(properties: &BasicProperties) -> bool {
    matches!(header(properties, REDELIVERED), Some(AMQPValue::Boolean(true)))
}

/// Reason of a dead letter.
pub(super) fn reason(properties: &BasicProperties) -> String {
    match header(properties, REASON) {
        Some(AMQPValue::LongString(reason)) => reason.to_string(),
        _ => "RabbitMQ reached its delivery limit: every delivery ended without an acknowledgement"
            .to_owned(),
    }
}

/// Parses a dead letter that belongs to this route.
pub(super) fn dead_letter<M: Message>(
    delivery: &Delivery,
    route: Route,
) -> Result<DeadLetter<M>, String> {
    let properties = &delivery.properties;
    if !belongs_to(properties, route) {
        return Err(format!("it is not a {}", route.kind()));
    }
    Ok(DeadLetter {
        message: decode(&delivery.data)?,
        priority: priority_of(delivery.routing_key.as_str()),
        reason: reason(properties),
        // The broker gave up on it: no consumer recorded a reason.
        is_undelivered: header(properties, REASON).is_none(),
    })
}

/// True if a message belongs to this route.
pub(super) fn belongs_to(properties: &BasicProperties, route: Route) -> bool {
    properties.kind().as_ref().is_some_and(|kind| kind.as_str() == route.kind())
}

/// Parses a message's payload.
pub(super) fn decode<M: Message>(payload: &[u8]) -> Result<M, String> {
    M::from_json(payload).map_err(|error| format!("it cannot be parsed: {error}"))
}

/// Warning about a payload of another schema version; `None` for other payloads.
pub(super) fn other_version(payload: &[u8]) -> Option<String> {
    let stamp: MessageStamp = serde_json::from_slice(payload).ok()?;
    (stamp.schema != SCHEMA).then(|| {
        format!(
            "run {} has messages of schema {}, and this program reads schema {SCHEMA}: use the \
             same version of juror everywhere",
            stamp.run_id, stamp.schema
        )
    })
}

/// The fields of a message that are the same in all schema versions.
#[derive(Deserialize)]
struct MessageStamp {
    schema: u32,
    run_id: String,
}

fn header<'a>(properties: &'a BasicProperties, name: &str) -> Option<&'a AMQPValue> {
    properties.headers().as_ref()?.inner().get(name)
}

fn exchange(route: Route, namespace: &Namespace) -> ShortString {
    match route {
        Route::Jobs => namespace.jobs(),
        Route::Results => namespace.results(),
        Route::Poison => namespace.dead(),
    }
}
