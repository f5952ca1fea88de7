//! Limits on concurrent and waiting CPU-bound work.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limiter of concurrent and waiting work.
#[derive(Debug)]
pub struct WorkLimiter {
    working: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl WorkLimiter {
    /// A limiter of at most `max_concurrent` permits and `max_waiting` waiting requests.
    pub fn new(max_concurrent: usize, max_waiting: usize) -> Self {
        let semaphore = |permits| Arc::new(Semaphore::new(permits));
        Self { working: semaphore(max_concurrent), waiting: semaphore(max_waiting) }
    }

    /// Waits for a permit, released on drop; `None` if too many requests wait already. Move it into
    /// the work itself, which may outlive the request.
    pub async fn take(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&self.working).try_acquire_owned() {
            return Some(permit);
        }
        let _place = self.waiting.try_acquire().ok()?;
        Arc::clone(&self.working).acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{FutureExt as _, future::join};

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_cancelled_request_frees_its_slot() {
        let limiter = WorkLimiter::new(1, 1);
        let first = limiter.take().await.unwrap();
        {
            let mut second = Box::pin(limiter.take());
            assert!(second.as_mut().now_or_never().is_none(), "it waits");
            assert!(limiter.take().await.is_none());
        }
        let (third, ()) = join(limiter.take(), async { drop(first) }).await;
        assert!(third.is_some());
    }
}
