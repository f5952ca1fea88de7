//! Live progress of runs: one watcher per run reads its journal for all followers.
//!
//! A follower receives updates since the last result that it saw, so that it can reconnect. A slow
//! one skips states and delays no other.

mod progress;
mod watcher;

pub use progress::{FinishedResult, LiveProgress, LiveState};

use crate::problem::Problem;
use axum::http::StatusCode;
use juror_app::{item_source::ItemSource, run_catalog::RunCatalog};
use juror_types::id::RunId;
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use watcher::watch_run;

/// Maximum number of watched runs.
const MAX_WATCHED: usize = 64;

/// Watched runs.
pub struct LiveRuns {
    catalog: Arc<RunCatalog>,
    item_source: Arc<dyn ItemSource>,
    watched: Mutex<HashMap<RunId, watch::Sender<Arc<LiveState>>>>,
    watchers: TaskTracker,
    stop: CancellationToken,
}

/// Receiver of a run's updates.
#[derive(Debug)]
pub struct Follower {
    states: watch::Receiver<Arc<LiveState>>,
    seen: Option<u64>,
    has_received: bool,
}

/// Update for a follower.
#[derive(Clone, Debug)]
pub struct LiveUpdate {
    pub state: Arc<LiveState>,
    /// Number of results at the end of `state.recent` that are new to this follower.
    pub new: usize,
    /// Number of results between those that it saw and those in `state.recent`.
    pub missed: u64,
}

impl LiveRuns {
    /// Creates an instance without watched runs; all watchers end when `stop` is cancelled.
    pub fn new(
        catalog: Arc<RunCatalog>,
        item_source: Arc<dyn ItemSource>,
        stop: CancellationToken,
    ) -> Self {
        Self { catalog, item_source, watched: Mutex::default(), watchers: TaskTracker::new(), stop }
    }

    /// Follows a run, starting after the `seen`-th result of its journal.
    pub fn follow(self: &Arc<Self>, run: &RunId, seen: Option<u64>) -> Result<Follower, Problem> {
        Ok(Follower { states: self.states(run)?, seen, has_received: false })
    }

    /// Waits until every watcher has ended; call it after `stop` is cancelled.
    pub async fn ended(&self) {
        self.watchers.close();
        self.watchers.wait().await;
    }

    fn states(self: &Arc<Self>, run: &RunId) -> Result<watch::Receiver<Arc<LiveState>>, Problem> {
        if let Some(sender) = self.watched.lock().get(run) {
            return Ok(sender.subscribe());
        }
        // Read without the lock, which watchers take on async threads.
        let files = self.catalog.files(run)?;
        let mut watched = self.watched.lock();
        if let Some(sender) = watched.get(run) {
            return Ok(sender.subscribe());
        }
        if watched.len() >= MAX_WATCHED {
            let detail =
                format!("the limit of {MAX_WATCHED} followed runs is reached; retry later");
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).retry_after(30));
        }
        let (sender, receiver) = watch::channel(Arc::default());
        watched.insert(run.clone(), sender.clone());
        let (own, run) = (Arc::clone(self), run.clone());
        self.watchers.spawn(async move {
            let is_unfollowed = |sender: &_| own.is_unfollowed(&run, sender);
            let (catalog, source) = (Arc::clone(&own.catalog), own.item_source.as_ref());
            let watching = watch_run(files, catalog, source, sender, is_unfollowed);
            own.stop.run_until_cancelled(watching).await;
            own.watched.lock().remove(&run);
        });
        Ok(receiver)
    }

    /// True if the run has no followers; then its watcher is removed.
    fn is_unfollowed(&self, run: &RunId, sender: &watch::Sender<Arc<LiveState>>) -> bool {
        let mut watched = self.watched.lock();
        let is_unfollowed = sender.receiver_count() == 0;
        if is_unfollowed {
            watched.remove(run);
        }
        is_unfollowed
    }
}

impl Follower {
    /// The next update; `None` after the last one of a run, or when the server stops.
    pub async fn next(&mut self) -> Option<LiveUpdate> {
        loop {
            if self.has_received {
                // The sender is dropped when the run has ended.
                self.states.changed().await.ok()?;
            }
            self.has_received = true;
            let state = Arc::clone(&self.states.borrow_and_update());
            if state.is_read {
                return Some(self.update(state));
            }
        }
    }

    fn update(&mut self, state: Arc<LiveState>) -> LiveUpdate {
        let unseen = state.results.saturating_sub(self.seen.unwrap_or(state.results));
        let new = unseen.min(state.recent.len() as u64);
        self.seen = Some(state.results);
        LiveUpdate { new: new as usize, missed: unseen - new, state }
    }
}

#[cfg(test)]
mod tests;
