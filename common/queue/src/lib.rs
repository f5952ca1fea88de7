//! Message queues of jobs and of results.
//!
//! Every adapter guarantees: a published message is kept; a delivery is ended exactly once
//! (acknowledged, delayed, requeued or dead-lettered), and one that is dropped before, or whose
//! holder dies, is redelivered. Callers must acknowledge a message only after its successor is
//! confirmed.

mod acknowledge_many;
pub mod local;
pub mod rabbitmq;

#[cfg(test)]
mod conformance;

pub use acknowledge_many::{Batch, Ticket, acknowledge_all};

use async_trait::async_trait;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

/// A message of a queue: serialized as JSON, with an id by which duplicates are recognized.
pub trait Message: Sized + Clone + Send + Sync + 'static {
    /// The message's id.
    fn message_id(&self) -> String;

    /// Serializes the message. No default, which would be compiled in every crate that publishes.
    fn to_json(&self) -> serde_json::Result<Vec<u8>>;

    /// Parses the message.
    fn from_json(json: &[u8]) -> serde_json::Result<Self>;

    /// True if only receivers that can render pages should receive it.
    fn needs_rendering(&self) -> bool {
        false
    }
}

/// Serialization of a [`Message`] by serde.
macro_rules! json_message {
    () => {
        fn to_json(&self) -> serde_json::Result<Vec<u8>> {
            serde_json::to_vec(self)
        }

        fn from_json(json: &[u8]) -> serde_json::Result<Self> {
            serde_json::from_slice(json)
        }
    };
}

impl Message for juror_types::job::Job {
    fn message_id(&self) -> String {
        self.job_id.to_string()
    }

    json_message!();

    fn needs_rendering(&self) -> bool {
        Self::needs_rendering(self)
    }
}

impl Message for juror_types::outcome::JobResult {
    fn message_id(&self) -> String {
        format!("{}.{}", self.job_id, self.round)
    }

    json_message!();
}

impl<M: Message + Serialize + DeserializeOwned> Message for DeadLetter<M> {
    fn message_id(&self) -> String {
        self.message.message_id()
    }

    json_message!();

    fn needs_rendering(&self) -> bool {
        self.message.needs_rendering()
    }
}

/// Priority of a message; each has a separate queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The ordinary priority.
    #[default]
    #[serde(rename = "work")]
    Normal,
    /// Served before normal messages.
    High,
}

/// A queue of messages of one kind.
#[async_trait]
pub trait Queue<M: Message>: Send + Sync {
    /// Publishes a message; returns when the queue has stored it. Waits while the queue is full.
    async fn publish(&self, message: M, priority: Priority) -> Result<(), QueueError>;

    /// Starts to receive; at most `prefetch` deliveries (at least one) are unacknowledged at a
    /// time. A delayed message does not count.
    async fn subscribe(&self, prefetch: usize) -> Result<Box<dyn Subscription<M>>, QueueError>;
}

/// Messages that a queue delays after [`Disposition::RetryAfter`].
#[async_trait]
pub trait HeldMessages: Send + Sync {
    /// Delivers messages with long delays now, before their time; returns their number.
    async fn release_held(&self) -> Result<usize, QueueError>;
}

/// A receiver of deliveries.
#[async_trait]
pub trait Subscription<M: Message>: Send {
    /// The next delivery; `None` when the queue is closed and holds no more, including delayed
    /// messages and other holders' deliveries. Cancel-safe.
    async fn next(&mut self) -> Result<Option<Delivery<M>>, QueueError>;

    /// Ends the subscription; returns when the queue sends no more messages to it. Messages that
    /// were not handed out are delivered to other subscriptions; unacknowledged deliveries stay
    /// valid. Dropping a subscription does the same without waiting for the queue.
    async fn close(self: Box<Self>);
}

/// A message until it is ended. Dropped before, it is redelivered.
pub struct Delivery<M> {
    /// The message, which its queue may share.
    pub message: Arc<M>,
    /// The priority by which it came.
    pub priority: Priority,
    /// True if it was delivered before.
    pub redelivered: bool,
    adapter: Box<dyn AdapterDelivery>,
}

/// An adapter's side of a delivery. Dropping it requeues the message.
#[async_trait]
pub trait AdapterDelivery: Send + Sync {
    /// Ends the delivery; see [`Disposition`].
    async fn end(self: Box<Self>, disposition: Disposition) -> Result<(), QueueError>;

    /// Leaves the acknowledgement of this delivery to its batch, and counts it as ended from here
    /// on; none, without a change, where each is acknowledged separately.
    fn ticket(&mut self) -> Option<Ticket> {
        None
    }
}

/// Way in which a delivery ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Done: remove it.
    Acknowledge,
    /// Deliver it again after this time, with the same priority.
    RetryAfter(Duration),
    /// Deliver it again as soon as possible; not counted as an attempt.
    Requeue,
    /// Store it as a dead letter with this reason.
    DeadLetter(String),
}

impl<M> Delivery<M> {
    /// A delivery from an adapter.
    pub fn new(
        message: Arc<M>,
        priority: Priority,
        redelivered: bool,
        adapter: Box<dyn AdapterDelivery>,
    ) -> Self {
        Self { message, priority, redelivered, adapter }
    }

    /// Ends the delivery.
    pub async fn end(self, disposition: Disposition) -> Result<(), QueueError> {
        self.adapter.end(disposition).await
    }

    /// Acknowledges the delivery.
    pub async fn acknowledge(self) -> Result<(), QueueError> {
        self.end(Disposition::Acknowledge).await
    }
}

impl<M: fmt::Debug> fmt::Debug for Delivery<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Delivery")
            .field("message", &self.message)
            .field("priority", &self.priority)
            .field("redelivered", &self.redelivered)
            .finish_non_exhaustive()
    }
}

/// Dead letters of a queue, kept for inspection.
#[async_trait]
pub trait DeadLetters<M: Message>: Send + Sync {
    /// All dead letters, oldest first.
    async fn list(&self) -> Result<Vec<DeadLetter<M>>, QueueError>;

    /// Requeues every dead letter with one of these message ids into its priority, in one pass;
    /// returns their number.
    async fn replay(&self, message_ids: &BTreeSet<String>) -> Result<usize, QueueError>;

    /// Removes every dead letter whose message matches; returns their number. A successor must be
    /// published first.
    async fn remove_dead_letters(
        &self,
        is_done: &(dyn for<'m> Fn(&'m M) -> bool + Sync),
    ) -> Result<usize, QueueError>;
}

/// A dead letter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter<M> {
    /// Content of the message.
    pub message: M,
    /// The priority by which it came, and to which it is replayed.
    pub priority: Priority,
    /// Reason of its dead-lettering, as a message.
    pub reason: String,
    /// True if the queue itself gave up on its deliveries.
    pub is_undelivered: bool,
}

/// Errors of a queue, by the caller's next step.
#[derive(Clone, Debug, thiserror::Error)]
pub enum QueueError {
    /// The queue was closed: publish nothing more.
    #[error("the queue is closed")]
    Closed,
    /// The queue is unreachable now: retry.
    #[error("the queue cannot be reached: {0}")]
    Unavailable(String),
    /// The queue refuses the operation: retrying does not help.
    #[error("the queue refused the operation: {0}")]
    Refused(String),
}
