//! Message queues: jobs one way, results the other.
//!
//! Every adapter promises: a publish that returned is kept; a delivery is settled exactly once
//! (acknowledged, delayed, given back or dead-lettered), and one that is dropped unsettled, or
//! whose holder dies, is delivered again. Nothing is acknowledged before its successor is
//! confirmed: that order is the callers' duty.

mod batch;
pub mod local;
pub mod rabbitmq;

#[cfg(test)]
mod conformance;

pub use batch::{Batch, Ticket, acknowledge_all};

use async_trait::async_trait;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

/// A message of a queue: written as JSON, and named so that duplicates can be seen.
pub trait Message: Sized + Clone + Send + Sync + 'static {
    /// The id that the message travels under.
    fn message_id(&self) -> String;

    /// The message as it travels. No default, which would be compiled in every crate that
    /// publishes.
    fn to_json(&self) -> serde_json::Result<Vec<u8>>;

    /// The message that traveled so.
    fn from_json(json: &[u8]) -> serde_json::Result<Self>;

    /// True if it is for receivers alone that can draw pages.
    fn needs_drawing(&self) -> bool {
        false
    }
}

impl Message for juror_types::job::Job {
    fn message_id(&self) -> String {
        self.job_id.to_string()
    }

    fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }

    fn needs_drawing(&self) -> bool {
        Self::needs_drawing(self)
    }
}

impl Message for juror_types::outcome::JobResult {
    fn message_id(&self) -> String {
        format!("{}.{}", self.job_id, self.round)
    }

    fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }
}

impl<M: Message + Serialize + DeserializeOwned> Message for DeadLetter<M> {
    fn message_id(&self) -> String {
        self.message.message_id()
    }

    fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }

    fn needs_drawing(&self) -> bool {
        self.message.needs_drawing()
    }
}

/// Priority of a message, with a queue of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// The ordinary priority.
    #[default]
    #[serde(rename = "work")]
    Normal,
    /// Served before the ordinary priority.
    High,
}

/// A queue of messages of one kind.
#[async_trait]
pub trait Queue<M: Message>: Send + Sync {
    /// Hands a message over; returns when the queue vouches for it. Waits while the queue is full.
    async fn publish(&self, message: M, priority: Priority) -> Result<(), QueueError>;

    /// Starts to receive; at most `prefetch` deliveries (at least one) are out at once. A delayed
    /// message is not out.
    async fn subscribe(&self, prefetch: usize) -> Result<Box<dyn Subscription<M>>, QueueError>;
}

/// Messages that a queue holds back after [`Disposition::RetryAfter`].
#[async_trait]
pub trait HeldMessages: Send + Sync {
    /// Delivers the messages that are held back for long now, before their time; returns their
    /// number.
    async fn release_held(&self) -> Result<usize, QueueError>;
}

/// A receiver of deliveries.
#[async_trait]
pub trait Subscription<M: Message>: Send {
    /// The next delivery; none when the queue is closed and holds nothing more, delayed messages
    /// and other holders' deliveries included. Dropping the future before it is ready loses
    /// nothing.
    async fn next(&mut self) -> Result<Option<Delivery<M>>, QueueError>;

    /// Ends the subscription: returns when the queue sends nothing more here. What was sent and not
    /// handed out is delivered to other subscriptions; deliveries that are out stay valid. Dropping
    /// a subscription does the same without waiting for the queue.
    async fn close(self: Box<Self>);
}

/// A message in our hands until it is settled. Dropped unsettled, it is delivered again.
pub struct Delivery<M> {
    /// The message, which its queue may hold too.
    pub message: Arc<M>,
    /// The priority that it came by.
    pub priority: Priority,
    /// True if it was delivered before.
    pub redelivered: bool,
    settle: Box<dyn Settle>,
}

/// An adapter's end of a delivery. Dropping it gives the message back.
#[async_trait]
pub trait Settle: Send + Sync {
    /// See [`Disposition`].
    async fn settle(self: Box<Self>, disposition: Disposition) -> Result<(), QueueError>;

    /// Leaves it to its batch to acknowledge this delivery, which counts as settled from here on;
    /// none, and nothing has changed, where each is acknowledged by itself.
    fn ticket(&mut self) -> Option<Ticket> {
        None
    }
}

/// End of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Done: forget it.
    Acknowledge,
    /// Deliver it again, not before this much time has passed; its priority survives.
    RetryAfter(Duration),
    /// Deliver it again as soon as possible; burns no attempt.
    Requeue,
    /// Keep it aside with the reason, for a person to look at.
    DeadLetter(String),
}

impl<M> Delivery<M> {
    /// For adapters: a message and what settles it.
    pub fn new(
        message: Arc<M>,
        priority: Priority,
        redelivered: bool,
        settle: Box<dyn Settle>,
    ) -> Self {
        Self { message, priority, redelivered, settle }
    }

    /// Ends the delivery in this way.
    pub async fn settle(self, disposition: Disposition) -> Result<(), QueueError> {
        self.settle.settle(disposition).await
    }

    /// Done: forget it.
    pub async fn acknowledge(self) -> Result<(), QueueError> {
        self.settle(Disposition::Acknowledge).await
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

/// The messages that a queue keeps aside for a person to look at.
#[async_trait]
pub trait DeadLetters<M: Message>: Send + Sync {
    /// Every dead letter, oldest first.
    async fn list(&self) -> Result<Vec<DeadLetter<M>>, QueueError>;

    /// Puts every dead letter of these message ids back into its priority, in one pass; returns how
    /// many there were.
    async fn replay(&self, message_ids: &BTreeSet<String>) -> Result<usize, QueueError>;

    /// Takes every dead letter off for whose message this holds; answers how many there were. A
    /// message that has a successor is forgotten here after that is published, as everywhere.
    async fn forget(
        &self,
        is_done: &(dyn for<'m> Fn(&'m M) -> bool + Sync),
    ) -> Result<usize, QueueError>;
}

/// A message that was kept aside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter<M> {
    /// The message.
    pub message: M,
    /// The priority that it came by, and goes back to.
    pub priority: Priority,
    /// Reason of its dead-lettering, in plain words.
    pub reason: String,
    /// True if the queue gave up on its deliveries, and no consumer decided to keep it aside.
    pub is_undelivered: bool,
}

/// Failures of a queue, by what the caller can do next.
#[derive(Clone, Debug, thiserror::Error)]
pub enum QueueError {
    /// The queue was closed: publish nothing more.
    #[error("the queue is closed")]
    Closed,
    /// The queue cannot be reached now: try again later.
    #[error("the queue cannot be reached: {0}")]
    Unavailable(String),
    /// The queue refuses what was asked for: a person must mend it.
    #[error("the queue refuses: {0}")]
    Refused(String),
}
