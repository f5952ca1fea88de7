//! Messages that come back to a local queue after they have left it.

use super::{
    super::{Message, Priority, Queue, QueueError, Subscription},
    LocalQueue,
    queue_state::{Entry, QueueState},
};
use async_trait::async_trait;
use std::sync::Arc;

/// A publisher whose messages always fit, even into a closed queue. While it exists, the queue does
/// not end.
#[derive(Debug)]
pub struct LocalReturns<M: Message>(Arc<QueueState<M>>);

impl<M: Message> LocalQueue<M> {
    /// A publisher of messages that come back. To be created before the queue is closed.
    pub fn returns(&self) -> LocalReturns<M> {
        self.0.lock().returns += 1;
        LocalReturns(Arc::clone(&self.0))
    }
}

impl<M: Message> LocalReturns<M> {
    /// True if the queue is closed and empty, so that only requeued messages can follow.
    pub fn is_drained(&self) -> bool {
        self.0.lock().is_drained()
    }

    /// Waits until the queue is closed and holds nothing.
    pub async fn drained(&self) {
        loop {
            // Created before the state is read, so that a change after the reading wakes it.
            let drained = self.0.drained.notified();
            if self.is_drained() {
                return;
            }
            drained.await;
        }
    }
}

#[async_trait]
impl<M: Message> Queue<M> for LocalReturns<M> {
    async fn publish(&self, message: M, priority: Priority) -> Result<(), QueueError> {
        let entry = Entry { message: Arc::new(message), priority, delivered_before: false };
        let mut state = self.0.lock();
        if let Ok(slot) = self.0.free_slots.try_acquire() {
            slot.forget();
        }
        self.0.add(&mut state, entry);
        Ok(())
    }

    async fn subscribe(&self, prefetch: usize) -> Result<Box<dyn Subscription<M>>, QueueError> {
        LocalQueue(Arc::clone(&self.0)).subscribe(prefetch).await
    }
}

impl<M: Message> Drop for LocalReturns<M> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.returns -= 1;
        self.0.end_if_done(&state);
    }
}
