//! Work that takes a processor for a while: a few at a time, and a few more in line.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Gives out turns.
#[derive(Debug)]
pub struct WorkLimiter {
    working: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

/// A turn, as long as this lives. Give it to the work itself: whoever asked for that may leave.
#[derive(Debug)]
pub struct WorkPermit(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit);

impl WorkLimiter {
    /// So many work at once, and so many wait for that.
    pub fn new(at_once: usize, in_line: usize) -> Self {
        let semaphore = |places| Arc::new(Semaphore::new(places));
        Self { working: semaphore(at_once), waiting: semaphore(in_line) }
    }

    /// Waits for a turn; none if too many wait already.
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
    async fn who_finds_the_line_full_is_sent_away_and_who_leaves_it_makes_room() {
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
