//! Backend that can be unreachable and refuse calls.

use async_trait::async_trait;
use juror_ledger::{
    admission::{
        Admission, AdmissionDecision, AdmissionRequest, Budget, Ledger, Limits, Observation,
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
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use tokio::sync::watch;

pub struct Unsteady {
    pub backend: SqliteLedger,
    /// True while it is unreachable.
    pub away: AtomicBool,
    /// Number of calls that it still admits; none without a limit of its own.
    pub tickets: Mutex<Option<usize>>,
    /// Number of operations while it was unreachable.
    pub missed: AtomicUsize,
    /// Number of abandoned calls.
    pub gave_up: AtomicUsize,
}

impl Unsteady {
    pub fn new(backend: SqliteLedger) -> Self {
        let [missed, gave_up] = Default::default();
        Self { backend, away: AtomicBool::new(false), tickets: Mutex::default(), missed, gave_up }
    }

    /// Returns the backend if it is reachable.
    fn reach(&self) -> Result<&SqliteLedger, LedgerError> {
        if self.away.load(SeqCst) {
            self.missed.fetch_add(1, SeqCst);
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

#[async_trait]
impl Admission for Unsteady {
    async fn open_run_again(
        &self,
        run: &RunId,
        budget: Budget,
        spent: Money,
    ) -> Result<(), LedgerError> {
        self.reach()?.open_run_again(run, budget, spent).await
    }

    async fn set_limits(&self, endpoint: &str, limits: Limits) -> Result<(), LedgerError> {
        self.reach()?.set_limits(endpoint, limits).await
    }

    async fn try_admit(&self, ask: &AdmissionRequest) -> Result<AdmissionDecision, LedgerError> {
        let backend = self.reach()?;
        if !self.has_ticket() {
            return Ok(AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Cooldown });
        }
        backend.try_admit(ask).await
    }

    async fn settle(&self, settlement: Settlement) -> Result<Settled, LedgerError> {
        self.reach()?.settle(settlement).await
    }

    async fn release(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        self.gave_up.fetch_add(1, SeqCst);
        self.reach()?.release(lease).await
    }

    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), LedgerError> {
        self.reach()?.presume_spent(lease).await
    }

    async fn sweep(&self) -> Result<(), LedgerError> {
        self.reach()?.sweep().await
    }

    async fn observe(&self, observation: &Observation) -> Result<(), LedgerError> {
        self.reach()?.observe(observation).await
    }

    async fn ledger(&self, run: &RunId) -> Result<Option<Ledger>, LedgerError> {
        self.reach()?.ledger(run).await
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.backend.changes()
    }
}

#[async_trait]
impl JobStore for Unsteady {
    async fn claim(&self, key: &ClaimKey, owner: &OwnerId) -> Result<Claim, LedgerError> {
        self.reach()?.claim(key, owner).await
    }

    async fn finish(&self, finished: FinishedJob) -> Result<bool, LedgerError> {
        self.reach()?.finish(finished).await
    }

    async fn set_isolated(&self, key: &ClaimKey, alone: bool) -> Result<(), LedgerError> {
        self.reach()?.set_isolated(key, alone).await
    }

    async fn requeue(&self, key: &ClaimKey) -> Result<(), LedgerError> {
        self.reach()?.requeue(key).await
    }

    async fn record_missing_file(&self, key: &ClaimKey) -> Result<Option<u32>, LedgerError> {
        self.reach()?.record_missing_file(key).await
    }

    async fn cached_reply(&self, cache_key: &Digest) -> Result<Option<CachedReply>, LedgerError> {
        self.reach()?.cached_reply(cache_key).await
    }

    async fn cache_stats(&self) -> Result<CacheStats, LedgerError> {
        self.reach()?.cache_stats().await
    }

    async fn clear_cache(&self) -> Result<u64, LedgerError> {
        self.reach()?.clear_cache().await
    }
}
