//! The end of a delivery: its acknowledgement, its return, or its successor.

use super::{
    super::{
        AdapterDelivery, Disposition, QueueError,
        acknowledge_many::{Batch, Ticket},
    },
    names::Route,
    shared_connection::SharedConnection,
    unacknowledged_tags::Tags,
};
use crate::rabbitmq::{
    message::{Envelope, Received},
    priority_window::OutstandingDelivery,
};
use async_trait::async_trait;
use futures_util::FutureExt as _;
use lapin::{
    Acker,
    options::{BasicAckOptions, BasicNackOptions},
};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// An unacknowledged delivery. Dropped, it is requeued.
pub(super) struct OpenDelivery {
    shared: Arc<SharedConnection>,
    received: Received,
    acker: Acker,
    ended: bool,
    tag: u64,
    /// Keeps the channel open until the delivery is ended, even after its subscription has ended.
    tags: Arc<Tags>,
    slot: Option<OwnedSemaphorePermit>,
    counted: Option<OutstandingDelivery>,
}

impl OpenDelivery {
    pub(super) fn new(
        shared: &Arc<SharedConnection>,
        tags: &Arc<Tags>,
        delivery: lapin::message::Delivery,
        route: Route,
    ) -> Self {
        let message_id = delivery.properties.message_id().clone().unwrap_or_default();
        let (payload, routing_key) = (delivery.data.into(), delivery.routing_key);
        let received = Received { payload, message_id, routing_key, route };
        let tag = delivery.delivery_tag;
        tags.add(tag);
        Self {
            shared: Arc::clone(shared),
            received,
            acker: delivery.acker,
            ended: false,
            tag,
            tags: Arc::clone(tags),
            slot: None,
            counted: None,
        }
    }

    /// Sets the routing key for publishing it again.
    pub(super) fn keyed(mut self, routing_key: &str) -> Self {
        self.received.routing_key = routing_key.into();
        self
    }

    /// Counts it as outstanding until it is ended.
    pub(super) fn counting(mut self, counted: Option<OutstandingDelivery>) -> Self {
        self.counted = counted;
        self
    }

    /// Holds this slot until it is ended.
    pub(super) fn holding(mut self, slot: OwnedSemaphorePermit) -> Self {
        self.slot = Some(slot);
        self
    }

    /// Publishes its successor, and then acknowledges it.
    async fn send_on(mut self: Box<Self>, disposition: &Disposition) -> Result<(), QueueError> {
        let letter = Envelope::republished(&self.received, disposition, &self.shared.namespace);
        self.shared.publish_aside(letter).await?;
        self.acknowledge().await;
        Ok(())
    }

    async fn acknowledge(&mut self) {
        self.ended = true;
        let acknowledging = self.acker.ack(BasicAckOptions::default());
        note_if_lost(self.tags.connection.during(acknowledging).await);
        self.tags.ended(self.tag);
    }

    async fn requeue(&mut self) {
        self.ended = true;
        note_if_lost(self.tags.connection.during(self.acker.nack(REQUEUE)).await);
        self.tags.ended(self.tag);
    }
}

#[async_trait]
impl AdapterDelivery for OpenDelivery {
    async fn end(mut self: Box<Self>, disposition: Disposition) -> Result<(), QueueError> {
        match (&disposition, self.received.route) {
            (Disposition::Acknowledge, _) => self.acknowledge().await,
            (Disposition::Requeue, _) => self.requeue().await,
            (Disposition::RetryAfter(_), Route::Jobs)
            | (Disposition::DeadLetter(_), Route::Jobs | Route::Results) => {
                return self.send_on(&disposition).await;
            }
            (Disposition::RetryAfter(_) | Disposition::DeadLetter(_), route) => {
                let problem = format!("a {} cannot be ended by {disposition:?}", route.kind());
                return Err(QueueError::Refused(problem));
            }
        }
        Ok(())
    }

    fn ticket(&mut self) -> Option<Ticket> {
        // Jobs come from two queues over one channel: while a delivery of one is not handed out
        // yet, a later one of the other may be.
        if self.received.route == Route::Jobs {
            return None;
        }
        self.ended = true;
        Some(Ticket { batch: Arc::clone(&self.tags) as Arc<dyn Batch>, number: self.tag })
    }
}

impl Drop for OpenDelivery {
    fn drop(&mut self) {
        if !self.ended {
            // One poll hands the command to the connection; a drop cannot wait for more. The tag
            // stays outstanding, since it is unknown when the command is sent.
            let _ = self.acker.nack(REQUEUE).now_or_never();
        }
    }
}

/// Options that return a message to its queue.
pub(super) const REQUEUE: BasicNackOptions = BasicNackOptions { requeue: true, multiple: false };

/// Logs a delivery that cannot be ended since its channel is gone. It is redelivered, which is no
/// error of the caller, which must expect duplicates anyway.
fn note_if_lost(ended: Result<bool, QueueError>) {
    if !matches!(ended, Ok(true)) {
        tracing::debug!(?ended, "the delivery's connection is lost; it will be redelivered");
    }
}
