//! Isolation of suspect jobs: a job that kills its worker must not take other jobs with it, nor be
//! confused with them.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A fair read-write lock on a worker's jobs in progress.
#[derive(Debug, Default)]
pub struct IsolationGate(RwLock<()>);

/// The right to work, until it is dropped.
#[derive(Debug)]
pub enum IsolationGuard<'a> {
    /// Alongside other jobs.
    Shared(RwLockReadGuard<'a, ()>),
    /// While no other job of this worker is in progress.
    Alone(RwLockWriteGuard<'a, ()>),
}

impl IsolationGate {
    /// Waits for the right to work. A waiting exclusive job blocks later shared ones.
    pub async fn join(&self, alone: bool) -> IsolationGuard<'_> {
        if alone {
            IsolationGuard::Alone(self.0.write().await)
        } else {
            IsolationGuard::Shared(self.0.read().await)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn exclusive_job_runs_alone_between_earlier_and_later_ones() {
        let isolation = IsolationGate::default();
        let [first, second] = [isolation.join(false).await, isolation.join(false).await];
        let mut alone = Box::pin(isolation.join(true));
        assert!(alone.as_mut().now_or_never().is_none());
        assert!(isolation.join(false).now_or_never().is_none(), "it would never be alone");
        drop((first, second));
        let alone = alone.await;
        assert!(matches!(alone, IsolationGuard::Alone(_)));
        assert!(isolation.join(false).now_or_never().is_none());
        drop(alone);
        assert!(matches!(isolation.join(false).await, IsolationGuard::Shared(_)));
    }
}
