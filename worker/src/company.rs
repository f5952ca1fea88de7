//! Which jobs work side by side, and which alone: a job that kills its worker must take no
//! neighbours with it, nor be taken for one of theirs.

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The jobs that a worker has in hand.
#[derive(Debug, Default)]
pub struct Company(RwLock<()>);

/// The right to work, until it is dropped.
#[derive(Debug)]
pub enum Seat<'a> {
    /// Beside others.
    Shared(RwLockReadGuard<'a, ()>),
    /// While no other job of this worker is in hand.
    Alone(RwLockWriteGuard<'a, ()>),
}

impl Company {
    /// Waits for a seat. Whoever waits to be alone keeps later ones out, so that its turn comes.
    pub async fn join(&self, alone: bool) -> Seat<'_> {
        if alone { Seat::Alone(self.0.write().await) } else { Seat::Shared(self.0.read().await) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    #[tokio::test]
    async fn one_works_alone_after_those_before_it_and_before_those_after_it() {
        let company = Company::default();
        let [first, second] = [company.join(false).await, company.join(false).await];
        let mut alone = Box::pin(company.join(true));
        assert!(alone.as_mut().now_or_never().is_none());
        assert!(company.join(false).now_or_never().is_none(), "it would never be alone");
        drop((first, second));
        let alone = alone.await;
        assert!(matches!(alone, Seat::Alone(_)));
        assert!(company.join(false).now_or_never().is_none());
        drop(alone);
        assert!(matches!(company.join(false).await, Seat::Shared(_)));
    }
}
