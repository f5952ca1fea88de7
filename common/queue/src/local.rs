//! A queue inside one process: bounded, with leases, delayed retries and dead letters.
//!
//! No task is spawned. Two semaphores carry every wake-up, since neither can lose one: `free_slots`
//! has a permit for each message that still fits, `ready` one for each message that waits in a
//! priority. Callers of `next` move delayed messages into their priorities.

mod queue_state;
mod return_publisher;
mod unacknowledged_delivery;

pub use return_publisher::LocalReturns;

use super::{
    DeadLetter, DeadLetters, Delivery, HeldMessages, Message, Priority, Queue, QueueError,
    Subscription,
};
use async_trait::async_trait;
use queue_state::{Entry, QueueState};
use std::{collections::BTreeSet, sync::Arc};
use tokio::{sync::Semaphore, time::Instant};

/// The queue of one process. Clones share it.
#[derive(Clone, Debug)]
pub struct LocalQueue<M>(Arc<QueueState<M>>);

impl<M: Message> LocalQueue<M> {
    /// An empty queue of at most `capacity` messages (at least one): waiting, delayed or
    /// unacknowledged ones. Requeued and delayed messages always fit; dead letters do not count.
    pub fn new(capacity: usize) -> Self {
        Self(Arc::new(QueueState::new(capacity)))
    }

    /// Closes the queue: waiting publishers are refused, and subscriptions end once no message is
    /// held, and none can come back.
    pub fn close(&self) {
        self.0.free_slots.close();
        let mut state = self.0.lock();
        state.closed = true;
        self.0.end_if_done(&state);
    }

    /// Number of held messages: waiting, delayed or unacknowledged ones.
    pub fn held(&self) -> usize {
        self.0.lock().held
    }
}

#[async_trait]
impl<M: Message> Queue<M> for LocalQueue<M> {
    async fn publish(&self, message: M, priority: Priority) -> Result<(), QueueError> {
        let slot = self.0.free_slots.acquire().await.map_err(|_| QueueError::Closed)?;
        let mut state = self.0.lock();
        if state.closed {
            return Err(QueueError::Closed);
        }
        slot.forget();
        let message = Arc::new(message);
        self.0.add(&mut state, Entry { message, priority, delivered_before: false });
        Ok(())
    }

    async fn subscribe(&self, prefetch: usize) -> Result<Box<dyn Subscription<M>>, QueueError> {
        let slots = Arc::new(Semaphore::new(prefetch.clamp(1, Semaphore::MAX_PERMITS)));
        Ok(Box::new(LocalSubscription { shared: Arc::clone(&self.0), slots }))
    }
}

#[async_trait]
impl<M: Message> HeldMessages for LocalQueue<M> {
    async fn release_held(&self) -> Result<usize, QueueError> {
        Ok(self.0.promote_all())
    }
}

#[async_trait]
impl<M: Message> DeadLetters<M> for LocalQueue<M> {
    async fn list(&self) -> Result<Vec<DeadLetter<M>>, QueueError> {
        Ok(self.0.lock().dead.clone())
    }

    async fn replay(&self, message_ids: &BTreeSet<String>) -> Result<usize, QueueError> {
        let mut replayed = 0;
        while self.0.lock().dead_position(message_ids).is_some() {
            // Reserved first: moving a dead letter to its priority must not be interrupted.
            let slot = self.0.free_slots.acquire().await.map_err(|_| QueueError::Closed)?;
            let mut state = self.0.lock();
            if state.closed {
                return Err(QueueError::Closed);
            }
            let Some(position) = state.dead_position(message_ids) else { break };
            let DeadLetter { message, priority, .. } = state.dead.remove(position);
            let message = Arc::new(message);
            self.0.add(&mut state, Entry { message, priority, delivered_before: true });
            slot.forget();
            replayed += 1;
        }
        Ok(replayed)
    }

    async fn remove_dead_letters(
        &self,
        is_done: &(dyn for<'m> Fn(&'m M) -> bool + Sync),
    ) -> Result<usize, QueueError> {
        let mut state = self.0.lock();
        let before = state.dead.len();
        state.dead.retain(|dead| !is_done(&dead.message));
        Ok(before - state.dead.len())
    }
}

struct LocalSubscription<M> {
    shared: Arc<QueueState<M>>,
    /// A permit for each further unacknowledged delivery.
    slots: Arc<Semaphore>,
}

#[async_trait]
impl<M: Message> Subscription<M> for LocalSubscription<M> {
    async fn next(&mut self) -> Result<Option<Delivery<M>>, QueueError> {
        let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else { return Ok(None) };
        loop {
            // Created before the schedule is read, so that a later change wakes it.
            let rescheduled = self.shared.rescheduled.notified();
            let due = self.shared.promote_due();
            tokio::select! {
                biased;
                permit = self.shared.ready.acquire() => {
                    let Ok(permit) = permit else { return Ok(None) };
                    permit.forget();
                    // The permit guarantees a message.
                    if let Some(entry) = self.shared.lock().take() {
                        return Ok(Some(unacknowledged_delivery::deliver(&self.shared, entry, slot)));
                    }
                }
                () = rescheduled => {}
                () = until(due) => {}
            }
        }
    }

    /// Messages stay in the queue until they are requested.
    async fn close(self: Box<Self>) {}
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
