//! Progress of runs that go on: one watcher per run reads its journal, however many look at it.
//!
//! A follower is told what is new since the result that it saw last, so that it can leave and come
//! back. One that is slow skips states in between and holds nobody up.

mod progress;
mod watcher;

pub use progress::{FinishedResult, LiveProgress, LiveState};

use juror_app::{catalog::Catalog, items::ItemSource};
use juror_journal::journal::JournalError;
use juror_types::id::RunId;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use watcher::Watcher;

/// So many runs are watched at once.
const MAX_WATCHED: usize = 64;

/// The runs that somebody looks at.
pub struct LiveRuns {
    catalog: Arc<Catalog>,
    item_source: Arc<dyn ItemSource>,
    watched: Mutex<HashMap<RunId, watch::Sender<Arc<LiveState>>>>,
    watchers: TaskTracker,
    stop: CancellationToken,
}

/// Reason why a run cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// Its files cannot be read, or it is not there.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Too many runs are followed already.
    #[error("{MAX_WATCHED} runs are followed already; try again when fewer are looked at")]
    Full,
}

/// Hears how one run goes.
#[derive(Debug)]
pub struct Follower {
    states: watch::Receiver<Arc<LiveState>>,
    seen: Option<u64>,
    has_heard: bool,
}

/// News for a follower.
#[derive(Clone, Debug)]
pub struct LiveUpdate {
    /// The state of the run.
    pub state: Arc<LiveState>,
    /// Newest results in `state.recent` that are new to this follower.
    pub new: usize,
    /// Results between those that it saw and those in `state.recent`, which it can no longer be
    /// told one by one.
    pub missed: u64,
}

impl LiveRuns {
    /// A set of watchers without any; all of them end when `stop` is cancelled.
    pub fn new(
        catalog: Arc<Catalog>,
        item_source: Arc<dyn ItemSource>,
        stop: CancellationToken,
    ) -> Self {
        Self { catalog, item_source, watched: Mutex::default(), watchers: TaskTracker::new(), stop }
    }

    /// Follows a run, from the result after the `seen`-th of its journal on.
    pub fn follow(
        self: &Arc<Self>,
        run: &RunId,
        seen: Option<u64>,
    ) -> Result<Follower, FollowError> {
        let states = self.states(run)?;
        Ok(Follower { states, seen, has_heard: false })
    }

    /// Waits until every watcher has ended. Call after `stop` is cancelled.
    pub async fn ended(&self) {
        self.watchers.close();
        self.watchers.wait().await;
    }

    fn states(
        self: &Arc<Self>,
        run: &RunId,
    ) -> Result<watch::Receiver<Arc<LiveState>>, FollowError> {
        let mut watched = self.watched();
        if let Some(sender) = watched.get(run) {
            return Ok(sender.subscribe());
        }
        if watched.len() >= MAX_WATCHED {
            return Err(FollowError::Full);
        }
        let files = self.catalog.files(run)?;
        let (sender, receiver) = watch::channel(Arc::default());
        watched.insert(run.clone(), sender.clone());
        let watcher =
            Watcher::new(files, Arc::clone(&self.catalog), Arc::clone(&self.item_source), sender);
        let (own, run) = (Arc::clone(self), run.clone());
        self.watchers.spawn(async move {
            let watching = watcher.watch(|sender| own.is_unheard(&run, sender));
            own.stop.run_until_cancelled(watching).await;
            own.watched().remove(&run);
        });
        Ok(receiver)
    }

    /// True if nobody listens any more; if so, whoever comes next begins anew.
    fn is_unheard(&self, run: &RunId, sender: &watch::Sender<Arc<LiveState>>) -> bool {
        let mut watched = self.watched();
        let is_unheard = sender.receiver_count() == 0;
        if is_unheard {
            watched.remove(run);
        }
        is_unheard
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<RunId, watch::Sender<Arc<LiveState>>>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Follower {
    /// The next news; none once the run has ended and all is told, or the server stops.
    pub async fn news(&mut self) -> Option<LiveUpdate> {
        loop {
            if self.has_heard {
                // The sender is gone when the run has ended.
                self.states.changed().await.ok()?;
            }
            self.has_heard = true;
            let state = Arc::clone(&self.states.borrow_and_update());
            if state.is_read {
                return Some(self.tell(state));
            }
        }
    }

    fn tell(&mut self, state: Arc<LiveState>) -> LiveUpdate {
        let unseen = state.results.saturating_sub(self.seen.unwrap_or(state.results));
        let new = unseen.min(state.recent.len() as u64);
        self.seen = Some(state.results);
        LiveUpdate { new: new as usize, missed: unseen - new, state }
    }
}

#[cfg(test)]
mod tests;
