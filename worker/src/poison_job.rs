//! Jobs that kill their workers: such a job is first prepared alone, so that it takes no other job
//! with it, and then given up. The broker dead-letters a job by itself after a thousand deliveries.

use juror_types::outcome::{ErrorKind, JobError};
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Number of unfinished starts after which a job may have killed its workers, and is prepared
/// alone.
const MAX_UNFINISHED_STARTS: u32 = 2;
/// Number of unfinished starts alone after which a job has killed its workers. Starts beside other
/// jobs prove nothing: whatever ends a process ends every job in it.
const MAX_ISOLATED_STARTS: u32 = 3;

/// Numbers of earlier starts of a job that never ended.
#[derive(Clone, Copy, Debug)]
pub struct UnfinishedStarts {
    /// All of them.
    pub all: u32,
    /// Those that ran while no other job of their worker did.
    pub isolated: u32,
}

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

impl UnfinishedStarts {
    /// True if the job may have killed its workers.
    pub fn is_suspect(self) -> bool {
        self.all >= MAX_UNFINISHED_STARTS
    }

    /// The error of a job that has killed its workers; `None` while that is not certain.
    pub fn poison(self) -> Option<JobError> {
        (self.isolated >= MAX_ISOLATED_STARTS).then(|| {
            let message = format!(
                "started {} times, the last times isolated, and never finished: it probably kills its \
                 worker; inspect its files, then judge it again with `juror dead-letters replay`, \
                 or with `juror retry`, which retries all unscored jobs of its run",
                self.all
            );
            JobError { kind: ErrorKind::Poison, message }
        })
    }
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
