//! Backend that can be unreachable and refuse calls.

use async_trait::async_trait;
use juror_ledger::{
    admission::{
        Admission, AdmissionDecision, AdmissionRequest, Budget, Limits, Observation, RunAccount,
        Settled, Settlement, WaitReason,
    },
    error::LedgerError,
    job_store::{CacheStats, CachedReply, Claim, ClaimKey, FinishedJob, JobStore},
    sqlite::SqliteLedger,
};
use juror_types::{
    id::{Digest, LeaseId, OwnerId, RunId},
    usage::Money,
};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tokio::sync::watch;

pub struct Unsteady {
    pub backend: SqliteLedger,
    /// True while it is unreachable.
    pub away: AtomicBool,
    /// Number of calls that it still admits; `None` without a limit of its own.
    pub tickets: Mutex<Option<usize>>,
    /// Number of operations while it was unreachable.
    missed: watch::Sender<usize>,
    /// Number of abandoned calls.
    pub gave_up: watch::Sender<usize>,
}

impl Unsteady {
    pub fn new(backend: SqliteLedger) -> Self {
        let [missed, gave_up] = Default::default();
        Self { backend, away: AtomicBool::new(false), tickets: Mutex::default(), missed, gave_up }
    }

    /// Waits for this many operations while it is unreachable.
    pub async fn await_missed(&self, count: usize) {
        self.missed.subscribe().wait_for(|missed| *missed >= count).await.unwrap();
    }

    /// Returns the backend if it is reachable.
    fn reach(&self) -> Result<&SqliteLedger, LedgerError> {
        if self.away.load(SeqCst) {
            self.missed.send_modify(|count| *count += 1);
            return Err(LedgerError::Unavailable("nobody answers".to_owned()));
        }
        Ok(&self.backend)
    }

    fn has_ticket(&self) -> bool {
        match &mut *self.tickets.lock() {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

/// Implements a trait of the ledger by the backend's operations, if it is reachable.
macro_rules! reached {
    (
        impl $trait:ident {
            $($name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
        }
        $($others:tt)*
    ) => {
        #[async_trait]
        impl $trait for Unsteady {
            $(
                async fn $name(&self, $($argument: $type),*) -> Result<$answer, LedgerError> {
                    self.reach()?.$name($($argument),*).await
                }
            )*
            $($others)*
        }
    };
}

reached! {
    impl Admission {
        open_run_again(run: &RunId, budget: Budget, spent: Money) -> ();
        set_limits(endpoint: &str, limits: Limits) -> ();
        settle(settlement: Settlement) -> Settled;
        presume_spent(lease: &LeaseId) -> ();
        sweep() -> ();
        observe(observation: &Observation) -> ();
        ledger(run: &RunId) -> Option<RunAccount>;
    }

    async fn try_admit(&self, ask: &AdmissionRequest) -> Result<AdmissionDecision, LedgerError> {
        let backend = self.reach()?;
        if !self.has_ticket() {
            return Ok(AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Cooldown });
        }
        backend.try_admit(ask).await
    }

    async fn release(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        self.gave_up.send_modify(|count| *count += 1);
        self.reach()?.release(lease).await
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.backend.changes()
    }
}

reached! {
    impl JobStore {
        claim(key: &ClaimKey, owner: &OwnerId) -> Claim;
        finish(finished: FinishedJob) -> bool;
        set_isolated(key: &ClaimKey, alone: bool) -> ();
        requeue(key: &ClaimKey) -> ();
        record_missing_file(key: &ClaimKey) -> Option<u32>;
        cached_reply(cache_key: &Digest) -> Option<CachedReply>;
        cache_stats() -> CacheStats;
        clear_cache() -> u64;
    }
}
