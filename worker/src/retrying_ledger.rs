//! A ledger that retries while its backend is unavailable, so that work waits and no bill is lost.

/// Implements a trait of the ledger by repeating the backend's operations while it is unavailable:
/// `asking` until the worker stops, `telling` until a hard stop.
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

mod batches;

use crate::retry::full_jitter;
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use juror_ledger::{
    admission::{
        Admission, AdmissionDecision, Ask, Budget, Ledger, Limits, Observation, Settled,
        Settlement, TokenCounting,
    },
    error::LedgerError,
    store::{CacheStats, CachedReply, Claim, ClaimKey, FinishedJob, Store},
};
use juror_types::{
    id::{Digest, LeaseId, OwnerId, RunId},
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
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// A backend whose operations are repeated while it is unavailable. Queries are repeated until the
/// worker stops; records that must not be lost (bills, ends of leases and of jobs) until a hard
/// stop.
pub struct RetryingLedger<Backend> {
    backend: Arc<Backend>,
    shutdown: Shutdown,
    /// Number of callers that wait for it now.
    waiting: AtomicUsize,
    /// Number of waits that ended with an answer.
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

impl<Backend: Admission + Store> RetryingLedger<Backend> {
    /// A retrying ledger over this backend, until `shutdown`.
    pub fn new(backend: Arc<Backend>, shutdown: Shutdown) -> Self {
        Self { backend, shutdown, waiting: AtomicUsize::new(0), outages: AtomicU64::new(0) }
    }

    /// The backend itself.
    pub fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Repeats a query until there is an answer, or until the worker stops: then returns the last
    /// error.
    pub async fn asking<T>(&self, step: RepeatedStep<'_, T>) -> Result<T, LedgerError> {
        self.until(&self.shutdown.drain, step).await
    }

    /// Repeats a record until it is written, or until a hard stop: then returns the last error.
    async fn telling<T>(&self, step: RepeatedStep<'_, T>) -> Result<T, LedgerError> {
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
            // Seen before asking: whatever changes from here on is a reason to ask again.
            changes.borrow_and_update();
            let answer = tokio::select! {
                biased;
                answer = step() => answer,
                () = self.last_moment() => Err(LedgerError::Unavailable(
                    "the worker ends before there was an answer".to_owned(),
                )),
            };
            match answer {
                Err(LedgerError::Unavailable(reason)) if !stop.is_cancelled() => {
                    waiting.get_or_insert_with(|| self.wait(&reason));
                }
                settled => {
                    self.note_back(waiting, settled.is_ok());
                    return settled;
                }
            }
            let again = Instant::now() + full_jitter(repetition);
            repetition += 1;
            tokio::select! {
                () = stop.cancelled() => {}
                () = sleep_until(again) => {}
                () = changed(&mut changes) => {}
            }
        }
    }

    async fn last_moment(&self) {
        self.shutdown.now.cancelled().await;
        sleep(LAST_MOMENT).await;
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
    /// reconciled answers some calls earlier.
    fn note_back(&self, waited: Option<Waiting<'_>>, heard: bool) {
        if waited.is_some() && heard {
            self.outages.fetch_add(1, Ordering::Relaxed);
        }
        if waited.is_some() && heard && self.waiting.load(Ordering::Relaxed) == 1 {
            tracing::warn!("vision API calls go on: the ledger is available again");
        }
    }
}

/// Waits for a change; forever if the backend no longer exists.
async fn changed(changes: &mut watch::Receiver<u64>) {
    if changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

repeated! {
    impl Admission where Backend: Admission + Store {
        asking open_run_again(run: &RunId, budget: Budget, spent: Money) -> ();
        asking set_limits(endpoint: &str, limits: Limits) -> ();
        asking try_admit(ask: &Ask) -> AdmissionDecision;
        telling settle(settlement: Settlement) -> Settled;
        telling release(lease: &LeaseId) -> ();
        telling presume_spent(lease: &LeaseId) -> ();
        telling observe(observation: &Observation) -> ();
        asking token_counting(endpoint: &str) -> TokenCounting;
        asking ledger(run: &RunId) -> Option<Ledger>;
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
    impl Store where Backend: Admission + Store {
        asking claim(key: &ClaimKey, owner: &OwnerId) -> Claim;
        telling finish(finished: FinishedJob) -> bool;
        telling set_alone(key: &ClaimKey, alone: bool) -> ();
        telling requeue(key: &ClaimKey) -> ();
        telling miss(key: &ClaimKey) -> Option<u32>;
        telling count_unusable(run: &RunId) -> Option<u32>;
        asking cached(question: &Digest) -> Option<CachedReply>;
        asking cache_stats() -> CacheStats;
        asking clear_cache() -> u64;
    }
}
