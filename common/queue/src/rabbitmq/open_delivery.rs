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
use crate::rabbitmq::{message::Envelope, priority_window::OutstandingDelivery};
use async_trait::async_trait;
use futures_util::FutureExt as _;
use lapin::{
    message::Delivery,
    options::{BasicAckOptions, BasicNackOptions},
};
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// An unacknowledged delivery. Dropped, it is requeued.
pub(super) struct OpenDelivery {
    shared: Arc<SharedConnection>,
    route: Route,
    /// The delivered message, with the routing key for publishing it again.
    pub(super) delivery: Delivery,
    ended: bool,
    /// Keeps the channel open until the delivery is ended, even after its subscription has ended.
    tags: Arc<Tags>,
    /// The slot of its subscription, if it was handed out.
    pub(super) slot: Option<OwnedSemaphorePermit>,
    _counted: Option<OutstandingDelivery>,
}

impl OpenDelivery {
    /// A delivery that counts as outstanding by `counted` until it is ended.
    pub(super) fn new(
        shared: &Arc<SharedConnection>,
        tags: &Arc<Tags>,
        delivery: Delivery,
        route: Route,
        counted: Option<OutstandingDelivery>,
    ) -> Self {
        tags.add(delivery.delivery_tag);
        Self {
            shared: Arc::clone(shared),
            route,
            delivery,
            ended: false,
            tags: Arc::clone(tags),
            slot: None,
            _counted: counted,
        }
    }

    /// Publishes its successor, and then acknowledges it.
    async fn send_on(mut self: Box<Self>, disposition: &Disposition) -> Result<(), QueueError> {
        let namespace = &self.shared.namespace;
        let letter = Envelope::republished(&self.delivery, self.route, disposition, namespace);
        self.shared.publish_aside(letter).await?;
        self.end_at_broker(false).await;
        Ok(())
    }

    /// Acknowledges it, or returns it to its queue. A delivery that cannot be ended since its
    /// channel is gone is redelivered, which is no error of the caller: it must expect duplicates
    /// anyway.
    async fn end_at_broker(&mut self, requeue: bool) {
        self.ended = true;
        let (connection, acker) = (&self.tags.connection, &self.delivery.acker);
        let ended = match requeue {
            true => connection.during(acker.nack(REQUEUE)).await,
            false => connection.during(acker.ack(BasicAckOptions::default())).await,
        };
        if !matches!(ended, Ok(true)) {
            tracing::debug!(?ended, "the delivery's connection is lost; it will be redelivered");
        }
        self.tags.ended(self.delivery.delivery_tag);
    }
}

#[async_trait]
impl AdapterDelivery for OpenDelivery {
    async fn end(mut self: Box<Self>, disposition: Disposition) -> Result<(), QueueError> {
        match (&disposition, self.route) {
            (Disposition::Acknowledge, _) => self.end_at_broker(false).await,
            (Disposition::Requeue, _) => self.end_at_broker(true).await,
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
        if self.route == Route::Jobs {
            return None;
        }
        self.ended = true;
        Some(Ticket {
            batch: Arc::clone(&self.tags) as Arc<dyn Batch>,
            number: self.delivery.delivery_tag,
        })
    }
}

impl Drop for OpenDelivery {
    fn drop(&mut self) {
        if !self.ended {
            // One poll hands the command to the connection; a drop cannot wait for more. The tag
            // stays outstanding, since it is unknown when the command is sent.
            let _ = self.delivery.acker.nack(REQUEUE).now_or_never();
        }
    }
}

/// Options that return a message to its queue.
pub(super) const REQUEUE: BasicNackOptions = BasicNackOptions { requeue: true, multiple: false };
