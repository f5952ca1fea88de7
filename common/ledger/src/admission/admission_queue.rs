//! Waiting for admission: fair, without lost wake-ups, and efficient with a thousand callers.

use super::{Admission, AdmissionDecision, AdmissionRequest, WaitReason};
use crate::error::LedgerError;
use juror_telemetry::Metrics;
use juror_types::id::RunId;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// Maximum number of concurrent requests of a queue to the backend: enough for it to commit in
/// groups. While calls have to wait, requests are sequential, so that a process reserves little and
/// a wake-up is no stampede.
const MAX_CONCURRENT_REQUESTS: usize = 16;
/// Interval between two requests for money: other processes release some without a notification.
const MONEY_RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum wait for a rate limit without a new request: limits may have been raised, and tokens
/// refunded.
const MAX_RATE_WAIT: Duration = Duration::from_secs(5);
/// Maximum wait for the end of a cooldown without a new request.
const MAX_COOLDOWN_WAIT: Duration = Duration::from_secs(60 * 60);

/// Result of a wait for admission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdmissionOutcome {
    /// The lease is held: make the call.
    Admitted,
    /// A budget does not allow the call, for this reason.
    NoBudget {
        /// The exhausted budget with its figures, as a message.
        reason: String,
    },
    /// There is no record of a budget, so the run is unknown.
    NoRecord {
        /// The budget and the remedy, as a message.
        reason: String,
    },
    /// The caller's token was cancelled; no lease is held.
    Cancelled,
}

/// A process's callers that wait for admission, with a queue for each run and endpoint.
#[derive(Debug, Default)]
pub struct AdmissionQueue {
    metrics: Arc<Metrics>,
    queues: Mutex<HashMap<QueueKey, Arc<Callers>>>,
}

impl AdmissionQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty queue with metrics of its waits.
    pub fn measured(metrics: Arc<Metrics>) -> Self {
        Self { metrics, ..Self::default() }
    }

    /// Repeats the request until there is a decision. `request` is called at the caller's turn,
    /// since the token counting may have changed meanwhile. To stop waiting, cancel the token:
    /// dropping the future instead may leave a lease behind that counts as in flight while the
    /// process lives.
    pub async fn admit(
        &self,
        admission: &dyn Admission,
        request: impl Fn() -> AdmissionRequest,
        cancelled: &CancellationToken,
    ) -> Result<AdmissionOutcome, LedgerError> {
        let _waiting = self.metrics.admission_waiting();
        let (since, mut obstacle) = (Instant::now(), None);
        let place = self.enter(&request());
        // Cancelled callers must not take turns from the others.
        let _turn = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Ok(AdmissionOutcome::Cancelled),
            turn = place.callers.turns.acquire() => turn,
        };
        let mut head = None;
        let mut changes = admission.changes();
        loop {
            if head.is_none() && place.callers.is_exclusive.load(Ordering::Relaxed) {
                head = tokio::select! {
                    biased;
                    () = cancelled.cancelled() => return Ok(AdmissionOutcome::Cancelled),
                    permit = place.callers.head.acquire() => Some(permit),
                };
            }
            // The token counting may have changed since the last request.
            let current = request();
            // Marked before the request, so that any later change wakes this caller.
            changes.borrow_and_update();
            let (retry_after, reason) = match admission.try_admit(&current).await? {
                AdmissionDecision::Admitted => {
                    place.callers.is_exclusive.store(obstacle.is_some(), Ordering::Relaxed);
                    self.metrics.admission_waited(obstacle, since.elapsed());
                    return Ok(AdmissionOutcome::Admitted);
                }
                AdmissionDecision::NoBudget { reason } => {
                    return Ok(AdmissionOutcome::NoBudget { reason });
                }
                AdmissionDecision::NoRecord { reason } => {
                    return Ok(AdmissionOutcome::NoRecord { reason });
                }
                AdmissionDecision::Wait { retry_after, reason } => (retry_after, reason),
            };
            obstacle = Some(reason);
            place.callers.is_exclusive.store(true, Ordering::Relaxed);
            if head.is_none() {
                // The request was concurrent with others while no call had to wait: it is repeated
                // at its turn.
                admission.release(&current.lease).await?;
                continue;
            }
            tokio::select! {
                biased;
                () = cancelled.cancelled() => {}
                () = sleep(pause_before_next_request(retry_after, reason)) => continue,
                () = await_relevant_change(&mut changes, reason) => continue,
            }
            admission.release(&current.lease).await?;
            return Ok(AdmissionOutcome::Cancelled);
        }
    }

    fn enter(&self, request: &AdmissionRequest) -> QueuePlace<'_> {
        let key = (request.run.clone(), request.endpoint.clone());
        let callers = Arc::clone(self.queues.lock().entry(key.clone()).or_default());
        QueuePlace { queue: self, key, callers }
    }
}

type QueueKey = (RunId, String);

#[derive(Debug)]
struct Callers {
    turns: Semaphore,
    /// Permit of the single requesting caller while calls have to wait.
    head: Semaphore,
    /// True if the last decision was to wait, or there was none yet.
    is_exclusive: AtomicBool,
}

impl Default for Callers {
    fn default() -> Self {
        Self {
            turns: Semaphore::new(MAX_CONCURRENT_REQUESTS),
            head: Semaphore::new(1),
            is_exclusive: AtomicBool::new(true),
        }
    }
}

/// A caller in the queue. The last one that leaves a queue removes it.
struct QueuePlace<'a> {
    queue: &'a AdmissionQueue,
    key: QueueKey,
    callers: Arc<Callers>,
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        let mut queues = self.queue.queues.lock();
        // One reference of the map and one of this caller: none can be added while the map is
        // locked.
        if Arc::strong_count(&self.callers) == 2 {
            queues.remove(&self.key);
        }
    }
}

fn pause_before_next_request(retry_after: Option<Duration>, reason: WaitReason) -> Duration {
    let longest = match reason {
        WaitReason::Cooldown => MAX_COOLDOWN_WAIT,
        _ => MAX_RATE_WAIT,
    };
    retry_after.unwrap_or(MONEY_RETRY_INTERVAL).min(longest)
}

/// Returns when a change may help. A cooldown and a rate limit end by time alone, and a closed
/// backend reports no change.
async fn await_relevant_change(changes: &mut watch::Receiver<u64>, reason: WaitReason) {
    if reason != WaitReason::Budget || changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
mod tests;
