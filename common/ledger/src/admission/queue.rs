//! Waiting for admission: fair, without lost wake-ups, and cheap with a thousand callers.

use super::{Admission, AdmissionDecision, Ask, WaitReason};
use crate::error::LedgerError;
use juror_telemetry::Metrics;
use juror_types::id::RunId;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// Only so many callers of a line ask at a time; the others wait for their turn to ask. Enough for
/// the backend to commit in groups. While calls have to wait, one at a time asks: what a process
/// has reserved stays small, and a wake-up is no stampede.
const ASKING: usize = 16;
/// Interval between two requests for money: other processes free some without telling us.
const MONEY_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Longest wait for a rate limit without asking again: limits may have been raised, and tokens
/// refunded.
const MAX_RATE_WAIT: Duration = Duration::from_secs(5);
/// Longest wait for the end of a cooldown without asking again.
const MAX_COOLDOWN_WAIT: Duration = Duration::from_secs(60 * 60);

/// End of a wait for admission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admittance {
    /// The lease is held: call.
    Admitted,
    /// A budget does not allow the call, for this reason.
    NoBudget {
        /// The exhausted budget, in plain words with its figures.
        reason: String,
    },
    /// There is no record of a budget, so nothing is known of the run.
    NoRecord {
        /// The budget and the remedy, in plain words.
        reason: String,
    },
    /// The caller's token was cancelled; no lease is held.
    Cancelled,
}

/// Queue of a process's callers that wait for admission, with a line for each run and endpoint.
#[derive(Debug, Default)]
pub struct AdmissionQueue {
    metrics: Arc<Metrics>,
    lines: Mutex<HashMap<LineKey, Arc<Callers>>>,
}

type LineKey = (RunId, String);

#[derive(Debug)]
struct Callers {
    turns: Semaphore,
    /// Held by the one caller that asks while calls have to wait.
    head: Semaphore,
    /// True if the last decision made a call wait, or there was none yet.
    is_narrow: AtomicBool,
}

impl Default for Callers {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(ASKING),
            head: Semaphore::new(1),
            is_narrow: AtomicBool::new(true),
        }
    }
}

impl AdmissionQueue {
    /// An empty headroom.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty headroom whose waits are counted.
    pub fn measured(metrics: Arc<Metrics>) -> Self {
        Self { metrics, ..Self::default() }
    }

    /// Asks until there is an answer. `ask` is called when the caller's turn comes: what its call
    /// counts for may have been learned while it waited for that. To give up, cancel the token:
    /// whoever drops the future instead may leave a lease behind that counts as in flight while the
    /// process lives.
    pub async fn admit(
        &self,
        admission: &dyn Admission,
        ask: impl Fn() -> Ask,
        cancelled: &CancellationToken,
    ) -> Result<Admittance, LedgerError> {
        let _waiting = self.metrics.admission_waiting();
        let (since, mut obstacle) = (Instant::now(), None);
        let place = self.enter(&ask());
        // Cancelled callers must not take turns from those who want to go on.
        let _turn = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Ok(Admittance::Cancelled),
            turn = place.callers.turns.acquire() => turn,
        };
        let mut head = None;
        let mut changes = admission.changes();
        loop {
            if head.is_none() && place.callers.is_narrow.load(Ordering::Relaxed) {
                head = tokio::select! {
                    biased;
                    () = cancelled.cancelled() => return Ok(Admittance::Cancelled),
                    permit = place.callers.head.acquire() => Some(permit),
                };
            }
            // What the call counts for may have been learned since the last time.
            let current = ask();
            // Seen before asking: whatever changes from here on wakes us.
            changes.borrow_and_update();
            let (retry_after, reason) = match admission.try_admit(&current).await? {
                AdmissionDecision::Admitted => {
                    place.callers.is_narrow.store(obstacle.is_some(), Ordering::Relaxed);
                    self.metrics.admission_waited(obstacle, since.elapsed());
                    return Ok(Admittance::Admitted);
                }
                AdmissionDecision::NoBudget { reason } => {
                    return Ok(Admittance::NoBudget { reason });
                }
                AdmissionDecision::NoRecord { reason } => {
                    return Ok(Admittance::NoRecord { reason });
                }
                AdmissionDecision::Wait { retry_after, reason } => (retry_after, reason),
            };
            obstacle = Some(reason);
            place.callers.is_narrow.store(true, Ordering::Relaxed);
            if head.is_none() {
                // Asked beside others while nobody had to wait: it asks again when it is its turn.
                admission.release(&current.lease).await?;
                continue;
            }
            let longest = match reason {
                WaitReason::Cooldown => MAX_COOLDOWN_WAIT,
                _ => MAX_RATE_WAIT,
            };
            let pause = retry_after.unwrap_or(MONEY_RETRY_INTERVAL).min(longest);
            tokio::select! {
                biased;
                () = cancelled.cancelled() => {}
                () = sleep(pause) => continue,
                () = helpful_change(&mut changes, reason) => continue,
            }
            admission.release(&current.lease).await?;
            return Ok(Admittance::Cancelled);
        }
    }

    fn enter(&self, ask: &Ask) -> QueuePlace<'_> {
        let key = (ask.run.clone(), ask.endpoint.clone());
        let callers = Arc::clone(lock(&self.lines).entry(key.clone()).or_default());
        QueuePlace { headroom: self, key, callers }
    }
}

/// A caller in the headroom. The last one that leaves a line ends it.
struct QueuePlace<'a> {
    headroom: &'a AdmissionQueue,
    key: LineKey,
    callers: Arc<Callers>,
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        let mut lines = lock(&self.headroom.lines);
        // The headroom's own share and ours: nobody else can get one while the headroom is locked.
        if Arc::strong_count(&self.callers) == 2 {
            lines.remove(&self.key);
        }
    }
}

/// Returns when something changed that may help. Time alone ends a cooldown or brings the turn of a
/// call that waits for a rate limit, and a backend that is gone changes nothing any more.
async fn helpful_change(changes: &mut watch::Receiver<u64>, reason: WaitReason) {
    if reason != WaitReason::Budget || changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
