//! Waiting for admission: fair, without lost wake-ups, and cheap with a thousand callers.

use super::{Admission, AdmissionError, Ask, Decision, WaitReason};
use crate::id::RunId;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// Only so many callers of a line ask at a time; the others wait for their turn to ask. Enough
/// for the home to commit in groups, few enough that a wake-up is no stampede.
const ASKING: usize = 16;
/// A line in which nobody was admitted for so long is told to pause its run.
const STARVED_AFTER: Duration = Duration::from_secs(60 * 60);
/// How often to ask for money again: other processes free some without telling us.
const ASK_FOR_MONEY_EVERY: Duration = Duration::from_secs(1);

/// How waiting for admission ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admittance {
    /// The lease is held: call.
    Admitted,
    /// A budget does not allow the call, for this reason.
    NoBudget {
        /// Which budget, in plain words with its figures.
        reason: String,
    },
    /// The caller's token was cancelled; no lease is held.
    Cancelled,
    /// Nobody of this run was admitted to this endpoint for 60 minutes: pause the run. No lease
    /// is held.
    Starved,
}

/// Where the callers of one process wait. Callers of one run and endpoint form a line.
#[derive(Debug, Default)]
pub struct WaitingRoom {
    lines: Mutex<HashMap<LineKey, Arc<Callers>>>,
}

type LineKey = (RunId, String);

#[derive(Debug)]
struct Callers {
    turns: Semaphore,
    last_admission: Mutex<Instant>,
}

impl WaitingRoom {
    /// An empty room.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks until there is an answer. To give up, cancel the token: whoever drops the future
    /// instead may leave a lease behind that counts as in flight while the process lives.
    pub async fn admit(
        &self,
        admission: &dyn Admission,
        ask: &Ask,
        cancelled: &CancellationToken,
    ) -> Result<Admittance, AdmissionError> {
        let place = self.enter(ask);
        // Cancelled callers must not take turns from those who want to go on.
        let _turn = tokio::select! {
            biased;
            () = cancelled.cancelled() => return Ok(Admittance::Cancelled),
            turn = place.callers.turns.acquire() => turn,
        };
        let mut changes = admission.changes();
        loop {
            // Seen before asking: whatever changes from here on wakes us.
            changes.borrow_and_update();
            let (retry_after, reason) = match admission.try_admit(ask).await? {
                Decision::Admitted => {
                    *lock(&place.callers.last_admission) = Instant::now();
                    return Ok(Admittance::Admitted);
                }
                Decision::NoBudget { reason } => return Ok(Admittance::NoBudget { reason }),
                Decision::Wait { retry_after, reason } => (retry_after, reason),
            };
            let starved_at = *lock(&place.callers.last_admission) + STARVED_AFTER;
            let again = Instant::now() + retry_after.unwrap_or(ASK_FOR_MONEY_EVERY);
            let ended = if Instant::now() >= starved_at {
                Admittance::Starved
            } else {
                tokio::select! {
                    biased;
                    () = cancelled.cancelled() => Admittance::Cancelled,
                    () = sleep_until(again.min(starved_at)) => continue,
                    () = helpful_change(&mut changes, reason) => continue,
                }
            };
            admission.release(&ask.lease).await?;
            return Ok(ended);
        }
    }

    fn enter(&self, ask: &Ask) -> Place<'_> {
        let key = (ask.run.clone(), ask.endpoint.clone());
        let callers = lock(&self.lines).entry(key.clone()).or_insert_with(Callers::new).clone();
        Place { room: self, key, callers }
    }
}

impl Callers {
    fn new() -> Arc<Self> {
        Arc::new(Self { turns: Semaphore::new(ASKING), last_admission: Mutex::new(Instant::now()) })
    }
}

/// A caller in the room. The last one to leave a line takes it down, and with it the memory of
/// how long nobody was admitted.
struct Place<'a> {
    room: &'a WaitingRoom,
    key: LineKey,
    callers: Arc<Callers>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut lines = lock(&self.room.lines);
        // The room's own share and ours: nobody else can get one while the room is locked.
        if Arc::strong_count(&self.callers) == 2 {
            lines.remove(&self.key);
        }
    }
}

/// Returns when something changed that may help. Time alone ends a cooldown or fills the bucket
/// of requests, and a home that is gone changes nothing any more.
async fn helpful_change(changes: &mut watch::Receiver<u64>, reason: WaitReason) {
    let may_help = matches!(reason, WaitReason::Tokens | WaitReason::Budget);
    if !may_help || changes.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "waiting_tests.rs"]
mod tests;
