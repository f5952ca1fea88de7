//! Limits on concurrent and waiting CPU-bound work.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limiter of concurrent and waiting work.
#[derive(Debug)]
pub struct WorkLimiter {
    working: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// Permit for work, released on drop. Move it into the work itself, which may outlive the request.
#[derive(Debug)]
pub struct WorkPermit(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit);

impl WorkLimiter {
    /// A limiter of `at_once` concurrent permits and `in_line` waiting requests.
    pub fn new(at_once: usize, in_line: usize) -> Self {
        let semaphore = |places| Arc::new(Semaphore::new(places));
        Self { working: semaphore(at_once), waiting: semaphore(in_line) }
    }

    /// Waits for a permit; none if too many requests wait already.
    pub async fn take(&self) -> Option<WorkPermit> {
        if let Ok(turn) = Arc::clone(&self.working).try_acquire_owned() {
            return Some(WorkPermit(turn));
        }
        let _place = self.waiting.try_acquire().ok()?;
        let turn = Arc::clone(&self.working).acquire_owned().await.ok()?;
        Some(WorkPermit(turn))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{FutureExt as _, future::join};

    #[tokio::test]
    async fn a_full_queue_refuses_and_a_cancelled_request_frees_its_slot() {
        let turns = WorkLimiter::new(1, 1);
        let first = turns.take().await.unwrap();
        {
            let mut second = Box::pin(turns.take());
            assert!(second.as_mut().now_or_never().is_none(), "it waits");
            assert!(turns.take().await.is_none());
        }
        let (third, ()) = join(turns.take(), async { drop(first) }).await;
        assert!(third.is_some());
    }
}
