//! A ledger that may be away for a while: the work waits for it, and no bill is lost.

use crate::retry::full_jitter;
use async_trait::async_trait;
use juror_common::{
    admission::{
        Admission, AdmissionError, Ask, Budget, CountRule, Decision, Ledger, Limits, Observation,
        Settled, Settlement,
    },
    id::{Digest, LeaseId, OwnerId, RunId},
    shutdown::Shutdown,
    store::{CacheStats, CachedReply, Claim, ClaimKey, FinishedJob, Store},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// How long a hard stop waits for what is being said to the ledger.
const LAST_MOMENT: Duration = Duration::from_secs(2);

/// A home that answers as soon as it can be reached again. What is asked of it waits until the
/// worker stops; what it must be told (bills, ends of leases and of jobs) until a hard stop.
pub struct Patient<Home> {
    home: Arc<Home>,
    shutdown: Shutdown,
    /// How many callers wait for it now.
    waiting: AtomicUsize,
}

/// One caller that waits.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<Home: Admission + Store> Patient<Home> {
    /// A patient caller of this home, until `shutdown`.
    pub fn new(home: Arc<Home>, shutdown: Shutdown) -> Self {
        Self { home, shutdown, waiting: AtomicUsize::new(0) }
    }

    /// The home itself.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Asks until there is an answer, or until the worker stops: then the last error.
    pub async fn asking<T, Answer>(&self, step: impl Fn() -> Answer) -> Result<T, AdmissionError>
    where
        Answer: Future<Output = Result<T, AdmissionError>>,
    {
        self.until(&self.shutdown.drain, step).await
    }

    /// Says something until it is heard, or until a hard stop: then the last error.
    async fn telling<T, Answer>(&self, step: impl Fn() -> Answer) -> Result<T, AdmissionError>
    where
        Answer: Future<Output = Result<T, AdmissionError>>,
    {
        self.until(&self.shutdown.now, step).await
    }

    async fn until<T, Answer>(
        &self,
        stop: &CancellationToken,
        step: impl Fn() -> Answer,
    ) -> Result<T, AdmissionError>
    where
        Answer: Future<Output = Result<T, AdmissionError>>,
    {
        let mut changes = self.home.changes();
        let (mut repetition, mut waiting) = (0, None);
        loop {
            // Seen before asking: whatever changes from here on is a reason to ask again.
            changes.borrow_and_update();
            let answer = tokio::select! {
                biased;
                answer = step() => answer,
                () = self.last_moment() => Err(AdmissionError::Unavailable(
                    "the worker ends before there was an answer".to_owned(),
                )),
            };
            match answer {
                Err(AdmissionError::Unavailable(reason)) if !stop.is_cancelled() => {
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
            tracing::warn!("nobody is called until the ledger can be used again: {reason}");
        }
        Waiting(&self.waiting)
    }

    /// The last one who waited says so: a ledger that is being reconciled answers some already.
    fn note_back(&self, waited: Option<Waiting<'_>>, heard: bool) {
        if waited.is_some() && heard && self.waiting.load(Ordering::Relaxed) == 1 {
            tracing::warn!("the ledger can be used again");
        }
    }
}

/// A home that is gone for good changes nothing any more.
async fn changed(changes: &mut watch::Receiver<u64>) {
    if changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[async_trait]
impl<Home: Admission + Store> Admission for Patient<Home> {
    async fn open_run(&self, run: &RunId, budget: Budget) -> Result<(), AdmissionError> {
        self.asking(|| self.home.open_run(run, budget)).await
    }

    async fn set_limits(&self, endpoint: &str, limits: Limits) -> Result<(), AdmissionError> {
        self.asking(|| self.home.set_limits(endpoint, limits)).await
    }

    async fn try_admit(&self, ask: &Ask) -> Result<Decision, AdmissionError> {
        self.asking(|| self.home.try_admit(ask)).await
    }

    async fn settle(&self, settlement: Settlement) -> Result<Settled, AdmissionError> {
        self.telling(|| self.home.settle(settlement.clone())).await
    }

    async fn release(&self, lease: &LeaseId) -> Result<(), AdmissionError> {
        self.telling(|| self.home.release(lease)).await
    }

    async fn presume_spent(&self, lease: &LeaseId) -> Result<(), AdmissionError> {
        self.telling(|| self.home.presume_spent(lease)).await
    }

    async fn sweep(&self) -> Result<(), AdmissionError> {
        self.home.sweep().await
    }

    async fn observe(&self, observation: &Observation) -> Result<(), AdmissionError> {
        self.telling(|| self.home.observe(observation)).await
    }

    async fn count_rule(&self, endpoint: &str) -> Result<Option<CountRule>, AdmissionError> {
        self.asking(|| self.home.count_rule(endpoint)).await
    }

    async fn ledger(&self, run: &RunId) -> Result<Option<Ledger>, AdmissionError> {
        self.asking(|| self.home.ledger(run)).await
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.home.changes()
    }
}

#[async_trait]
impl<Home: Admission + Store> Store for Patient<Home> {
    async fn claim(&self, key: &ClaimKey, owner: &OwnerId) -> Result<Claim, AdmissionError> {
        self.asking(|| self.home.claim(key, owner)).await
    }

    async fn finish(&self, finished: FinishedJob) -> Result<bool, AdmissionError> {
        self.telling(|| self.home.finish(finished.clone())).await
    }

    async fn set_alone(&self, key: &ClaimKey, alone: bool) -> Result<(), AdmissionError> {
        self.telling(|| self.home.set_alone(key, alone)).await
    }

    async fn give_back(&self, key: &ClaimKey) -> Result<(), AdmissionError> {
        self.telling(|| self.home.give_back(key)).await
    }

    async fn miss(&self, key: &ClaimKey) -> Result<Option<u32>, AdmissionError> {
        self.telling(|| self.home.miss(key)).await
    }

    async fn count_unusable(&self, run: &RunId) -> Result<Option<u32>, AdmissionError> {
        self.telling(|| self.home.count_unusable(run)).await
    }

    async fn cached(&self, question: &Digest) -> Result<Option<CachedReply>, AdmissionError> {
        self.asking(|| self.home.cached(question)).await
    }

    async fn cache_stats(&self) -> Result<CacheStats, AdmissionError> {
        self.asking(|| self.home.cache_stats()).await
    }

    async fn clear_cache(&self) -> Result<u64, AdmissionError> {
        self.asking(|| self.home.clear_cache()).await
    }
}
