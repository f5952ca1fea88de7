//! Unacknowledged deliveries of a local queue. One that is dropped, as with its worker, is
//! delivered again.

use super::queue_state::{Entry, QueueState};
use crate::{AdapterDelivery, DeadLetter, Delivery, Disposition, Message, QueueError};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

/// A delivery of an entry, which holds a slot of its subscription until it is ended.
pub(super) fn deliver<M: Message>(
    shared: &Arc<QueueState<M>>,
    entry: Entry<M>,
    slot: OwnedSemaphorePermit,
) -> Delivery<M> {
    let (message, priority) = (Arc::clone(&entry.message), entry.priority);
    let redelivered = entry.delivered_before;
    let lease =
        UnacknowledgedDelivery { shared: Arc::clone(shared), entry: Some(entry), _slot: slot };
    Delivery::new(message, priority, redelivered, Box::new(lease))
}

/// An unacknowledged delivery. Dropped with its entry, it requeues the message.
struct UnacknowledgedDelivery<M: Message> {
    shared: Arc<QueueState<M>>,
    entry: Option<Entry<M>>,
    _slot: OwnedSemaphorePermit,
}

#[async_trait]
impl<M: Message> AdapterDelivery for UnacknowledgedDelivery<M> {
    async fn end(mut self: Box<Self>, disposition: Disposition) -> Result<(), QueueError> {
        let Some(entry) = self.entry.take() else { return Ok(()) };
        match disposition {
            Disposition::Acknowledge => self.shared.end_message(None),
            Disposition::DeadLetter(reason) => {
                let Entry { message, priority, .. } = entry;
                let message = Arc::unwrap_or_clone(message);
                let dead = DeadLetter { message, priority, reason, is_undelivered: false };
                self.shared.end_message(Some(dead));
            }
            Disposition::Requeue => self.shared.requeue(entry),
            Disposition::RetryAfter(delay) => match Instant::now().checked_add(delay) {
                Some(due) => self.shared.delay(entry, due),
                None => {
                    self.entry = Some(entry);
                    let problem = format!("a delay of {} s is too long", delay.as_secs());
                    return Err(QueueError::Refused(problem));
                }
            },
        }
        Ok(())
    }
}

impl<M: Message> Drop for UnacknowledgedDelivery<M> {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.shared.requeue(entry);
        }
    }
}
