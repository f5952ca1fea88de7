//! A ledger that retries while its backend is unavailable, so that work waits and no bill is lost.

use crate::jitter::full_jitter;
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use juror_ledger::{
    admission::{
        Admission, AdmissionDecision, AdmissionRequest, Budget, Limits, Observation, RunAccount,
        Settled, Settlement, TokenCounting,
    },
    batches::{BatchRecords, BatchRow, RowAdded, RowChange, RowState, ShardKey, ShardStep},
    error::LedgerError,
    job_store::{CacheStats, CachedReply, Claim, ClaimKey, FinishedJob, JobStore},
};
use juror_types::{
    id::{Digest, JobId, LeaseId, OwnerId, RunId},
    shutdown::Shutdown,
    usage::Money,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// Time for which a hard stop waits for ledger operations in progress.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// A backend whose operations are repeated while it is unavailable. Queries are repeated until the
/// worker stops; records that must not be lost (bills, ends of leases and of jobs) until a hard
/// stop.
pub struct RetryingLedger<Backend> {
    backend: Arc<Backend>,
    shutdown: Shutdown,
    /// Number of callers that wait for it now.
    waiting: AtomicUsize,
    /// Number of waits that ended with a reply.
    outages: AtomicU64,
}

/// An operation of the backend, to be repeated.
pub type RepeatedStep<'a, T> =
    &'a (dyn Fn() -> BoxFuture<'a, Result<T, LedgerError>> + Send + Sync);

/// A caller that waits, counted until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<Backend: Admission + JobStore> RetryingLedger<Backend> {
    /// A retrying ledger over this backend, until `shutdown`.
    pub fn new(backend: Arc<Backend>, shutdown: Shutdown) -> Self {
        Self { backend, shutdown, waiting: AtomicUsize::new(0), outages: AtomicU64::new(0) }
    }

    /// The backend itself.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Repeats a query until there is a reply, or until the worker stops: then returns the last
    /// error.
    pub async fn query<T>(&self, step: RepeatedStep<'_, T>) -> Result<T, LedgerError> {
        self.until(&self.shutdown.drain, step).await
    }

    /// Repeats a record until it is written, or until a hard stop: then returns the last error.
    async fn record<T>(&self, step: RepeatedStep<'_, T>) -> Result<T, LedgerError> {
        self.until(&self.shutdown.now, step).await
    }

    async fn until<T>(
        &self,
        stop: &CancellationToken,
        step: RepeatedStep<'_, T>,
    ) -> Result<T, LedgerError> {
        let mut changes = self.backend.changes();
        let (mut repetition, mut waiting) = (0, None);
        loop {
            // Marked as seen before the request, so a later change triggers a retry.
            changes.borrow_and_update();
            let answer = tokio::select! {
                biased;
                answer = step() => answer,
                () = self.stop_timeout() => Err(LedgerError::Unavailable(
                    "the worker stopped before a reply".to_owned(),
                )),
            };
            match answer {
                Err(LedgerError::Unavailable(reason)) if !stop.is_cancelled() => {
                    waiting.get_or_insert_with(|| self.wait(&reason));
                }
                settled => {
                    self.report_recovery(waiting, settled.is_ok());
                    return settled;
                }
            }
            let again = Instant::now() + full_jitter(repetition);
            repetition += 1;
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep_until(again) => {}
                // A backend that no longer exists sends no changes.
                Ok(()) = changes.changed() => {}
            }
        }
    }

    async fn stop_timeout(&self) {
        self.shutdown.now.cancelled().await;
        sleep(STOP_TIMEOUT).await;
    }

    fn wait(&self, reason: &str) -> Waiting<'_> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) == 0 {
            tracing::warn!(
                "vision API calls are suspended: the ledger is unavailable ({reason}); retrying"
            );
        }
        Waiting(&self.waiting)
    }

    /// Reports the end of an outage, by the last caller that waited: a ledger that is being
    /// reconciled replies to some callers earlier.
    fn report_recovery(&self, waited: Option<Waiting<'_>>, replied: bool) {
        if waited.is_none() || !replied {
            return;
        }
        self.outages.fetch_add(1, Ordering::Relaxed);
        if self.waiting.load(Ordering::Relaxed) == 1 {
            tracing::warn!("vision API calls are resumed: the ledger is available again");
        }
    }
}

/// Implements a trait of the ledger by repeating the backend's operations while it is unavailable:
/// `query` until the worker stops, `record` until a hard stop.
macro_rules! repeated {
    (
        impl $trait:ident where Backend: $first:ident $(+ $bound:ident)* {
            $($how:ident $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
        }
        $($others:tt)*
    ) => {
        #[async_trait]
        impl<Backend: $first $(+ $bound)*> $trait for RetryingLedger<Backend> {
            $(
                async fn $name(&self, $($argument: $type),*) -> Result<$answer, LedgerError> {
                    self.$how(&|| self.backend.$name($(Clone::clone(&$argument)),*)).await
                }
            )*
            $($others)*
        }
    };
}

repeated! {
    impl Admission where Backend: Admission + JobStore {
        query open_run_again(run: &RunId, budget: Budget, spent: Money) -> ();
        query set_limits(endpoint: &str, limits: Limits) -> ();
        query try_admit(ask: &AdmissionRequest) -> AdmissionDecision;
        record settle(settlement: Settlement) -> Settled;
        record release(lease: &LeaseId) -> ();
        record presume_spent(lease: &LeaseId) -> ();
        record observe(observation: &Observation) -> ();
        query token_counting(endpoint: &str) -> TokenCounting;
        query ledger(run: &RunId) -> Option<RunAccount>;
    }

    async fn sweep(&self) -> Result<(), LedgerError> {
        self.backend.sweep().await
    }

    fn known_token_counting(&self, endpoint: &str) -> TokenCounting {
        self.backend.known_token_counting(endpoint)
    }

    fn outages(&self) -> u64 {
        self.outages.load(Ordering::Relaxed)
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.backend.changes()
    }
}

repeated! {
    impl JobStore where Backend: Admission + JobStore {
        query claim(key: &ClaimKey, owner: &OwnerId) -> Claim;
        record finish(finished: FinishedJob) -> bool;
        record set_isolated(key: &ClaimKey, alone: bool) -> ();
        record requeue(key: &ClaimKey) -> ();
        record record_missing_file(key: &ClaimKey) -> Option<u32>;
        record count_unusable(run: &RunId) -> Option<u32>;
        query cached_reply(cache_key: &Digest) -> Option<CachedReply>;
        query cache_stats() -> CacheStats;
        query clear_cache() -> u64;
    }
}

repeated! {
    impl BatchRecords where Backend: Admission + JobStore + BatchRecords {
        query open_shard(run: &RunId, owner: &OwnerId) -> u32;
        query add_row(shard: &ShardKey, row: &BatchRow) -> RowAdded;
        query row(run: &RunId, job: &JobId) -> Option<BatchRow>;
        query rows(run: &RunId, number: u32, state: RowState, after: Option<&JobId>, limit: u32)
            -> Vec<BatchRow>;
        record change_row(run: &RunId, row: &BatchRow, change: RowChange) -> ();
        record plan_shard(shard: &ShardKey, left_out: &[JobId], next: Option<u32>) -> bool;
        record split_shard(shard: &ShardKey, parts: &[(u32, Vec<JobId>)]) -> bool;
        record set_step(shard: &ShardKey, step: &ShardStep) -> bool;
        query shards(run: &RunId) -> Vec<(u32, ShardStep)>;
        query runs_with_shards() -> Vec<RunId>;
        query renew_owner(owner: &OwnerId, ttl: Duration) -> ();
        query remove_owner(owner: &OwnerId) -> ();
        query take_over(run: &RunId, owner: &OwnerId) -> Vec<(u32, ShardStep)>;
    }
}
