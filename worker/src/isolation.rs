//! Which jobs work side by side, and which alone: a job that kills its worker must take no
//! neighbors with it, nor be taken for one of theirs.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The jobs that a worker has in hand.
#[derive(Debug, Default)]
pub struct IsolationGate(RwLock<()>);

/// The right to work, until it is dropped.
#[derive(Debug)]
pub enum IsolationGuard<'a> {
    /// Beside others.
    Shared(RwLockReadGuard<'a, ()>),
    /// While no other job of this worker is in hand.
    Alone(RwLockWriteGuard<'a, ()>),
}

impl IsolationGate {
    /// Waits for a seat. Whoever waits to be alone keeps later ones out, so that its turn comes.
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
    async fn one_works_alone_after_those_before_it_and_before_those_after_it() {
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
