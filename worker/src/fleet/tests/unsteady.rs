//! A home that can be away, and that can let nobody call.

use async_trait::async_trait;
use juror_common::{
    admission::{
        Admission, AdmissionError, Ask, Budget, Decision, Ledger, Limits, Observation, Settled,
        Settlement, WaitReason,
    },
    id::{Digest, LeaseId, OwnerId, RunId},
    sqlite::LocalHome,
    store::{CacheStats, CachedReply, Claim, ClaimKey, FinishedJob, Store},
};
use std::sync::{
    Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
};
use tokio::sync::watch;

pub struct Unsteady {
    pub home: LocalHome,
    /// Whether it cannot be reached.
    pub away: AtomicBool,
    /// How many more calls may go out; none: whatever the home says.
    pub tickets: Mutex<Option<usize>>,
    /// How often somebody met it away.
    pub missed: AtomicUsize,
    /// How often somebody stopped waiting for a call.
    pub gave_up: AtomicUsize,
}

impl Unsteady {
    pub fn new(home: LocalHome) -> Self {
        let [missed, gave_up] = Default::default();
        Self { home, away: AtomicBool::new(false), tickets: Mutex::default(), missed, gave_up }
    }

    /// The home, unless it is away.
    fn reach(&self) -> Result<&LocalHome, AdmissionError> {
        if self.away.load(SeqCst) {
            self.missed.fetch_add(1, SeqCst);
            return Err(AdmissionError::Unavailable("nobody answers".to_owned()));
        }
        Ok(&self.home)
    }

    fn has_ticket(&self) -> bool {
        match &mut *self.tickets.lock().unwrap() {
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
    async fn open_run(&self, run: &RunId, budget: Budget) -> Result<(), AdmissionError> {
        self.reach()?.open_run(run, budget).await
    }

    async fn set_limits(&self, endpoint: &str, limits: Limits) -> Result<(), AdmissionError> {
        self.reach()?.set_limits(endpoint, limits).await
    }

    async fn try_admit(&self, ask: &Ask) -> Result<Decision, AdmissionError> {
        let home = self.reach()?;
        if !self.has_ticket() {
            return Ok(Decision::Wait { retry_after: None, reason: WaitReason::Cooldown });
        }
        home.try_admit(ask).await
    }

    async fn settle(&self, settlement: Settlement) -> Result<Settled, AdmissionError> {
        self.reach()?.settle(settlement).await
    }

    async fn release(&self, lease: &LeaseId) -> Result<(), AdmissionError> {
        self.gave_up.fetch_add(1, SeqCst);
        self.reach()?.release(lease).await
    }

    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), AdmissionError> {
        self.reach()?.presume_spent(lease).await
    }

    async fn sweep(&self) -> Result<(), AdmissionError> {
        self.reach()?.sweep().await
    }

    async fn observe(&self, observation: &Observation) -> Result<(), AdmissionError> {
        self.reach()?.observe(observation).await
    }

    async fn ledger(&self, run: &RunId) -> Result<Option<Ledger>, AdmissionError> {
        self.reach()?.ledger(run).await
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.home.changes()
    }
}

#[async_trait]
impl Store for Unsteady {
    async fn claim(&self, key: &ClaimKey, owner: &OwnerId) -> Result<Claim, AdmissionError> {
        self.reach()?.claim(key, owner).await
    }

    async fn finish(&self, finished: FinishedJob) -> Result<bool, AdmissionError> {
        self.reach()?.finish(finished).await
    }

    async fn set_alone(&self, key: &ClaimKey, alone: bool) -> Result<(), AdmissionError> {
        self.reach()?.set_alone(key, alone).await
    }

    async fn give_back(&self, key: &ClaimKey) -> Result<(), AdmissionError> {
        self.reach()?.give_back(key).await
    }

    async fn miss(&self, key: &ClaimKey) -> Result<Option<u32>, AdmissionError> {
        self.reach()?.miss(key).await
    }

    async fn cached(&self, question: &Digest) -> Result<Option<CachedReply>, AdmissionError> {
        self.reach()?.cached(question).await
    }

    async fn cache_stats(&self) -> Result<CacheStats, AdmissionError> {
        self.reach()?.cache_stats().await
    }

    async fn clear_cache(&self) -> Result<u64, AdmissionError> {
        self.reach()?.clear_cache().await
    }
}
