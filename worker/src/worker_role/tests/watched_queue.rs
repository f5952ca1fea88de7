//! Job queue whose subscriptions report their end.

use async_trait::async_trait;
use juror_queue::{Delivery, Priority, Queue, QueueError, Subscription, local::LocalQueue};
use juror_types::job::Job;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Job queue whose subscriptions report their end.
pub struct WatchedQueue {
    pub jobs: Arc<LocalQueue<Job>>,
    /// A permit for each subscription that has ended.
    pub ended: Arc<Semaphore>,
}

struct WatchedSubscription {
    inner: Box<dyn Subscription<Job>>,
    ended: Arc<Semaphore>,
}

#[async_trait]
impl Queue<Job> for WatchedQueue {
    async fn publish(&self, job: Job, priority: Priority) -> Result<(), QueueError> {
        self.jobs.publish(job, priority).await
    }

    async fn subscribe(&self, prefetch: usize) -> Result<Box<dyn Subscription<Job>>, QueueError> {
        let inner = self.jobs.subscribe(prefetch).await?;
        Ok(Box::new(WatchedSubscription { inner, ended: self.ended.clone() }))
    }
}

#[async_trait]
impl Subscription<Job> for WatchedSubscription {
    async fn next(&mut self) -> Result<Option<Delivery<Job>>, QueueError> {
        self.inner.next().await
    }

    async fn close(self: Box<Self>) {}
}

impl Drop for WatchedSubscription {
    fn drop(&mut self) {
        self.ended.add_permits(1);
    }
}
