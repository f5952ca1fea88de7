//! Events of the roles, for any listener; roles never print.

use crate::{id::RunId, outcome::JobResult};
use std::{sync::Arc, time::Duration};
use tokio::sync::mpsc;

/// Something that a reporter may want to show.
#[derive(Clone, Debug)]
pub enum Event {
    /// A signal asked for a stop: nothing new is begun, and what is in flight is finished.
    Stopping,
    /// So many jobs are planned in this round.
    Planned {
        /// Jobs of this round.
        jobs: u64,
    },
    /// A result is in the journal.
    Finished(Arc<JobResult>),
    /// The run is paused, for this reason; it goes on by itself or by `juror retry`.
    Paused {
        /// The reason, in plain words.
        reason: String,
    },
    /// Calls come to nothing for now, and the next one is tried after a pause.
    Waiting {
        /// Answer of the provider, in plain words.
        reason: String,
        /// Time until the next try.
        pause: Duration,
    },
    /// A batch is under way, and so much of it is done; told at its begin and at each further
    /// tenth.
    BatchProgress {
        /// The run.
        run: RunId,
        /// Number of the shard in the run.
        shard: u32,
        /// Rows that have run.
        done: u64,
        /// Rows in all.
        rows: u64,
    },
    /// Something that the user should know and that stops nothing.
    Warning(String),
}

/// Sender of a role's events: bounded, and silent without a receiver.
#[derive(Clone, Debug)]
pub struct Events(Option<mpsc::Sender<Event>>);

impl Events {
    /// A channel of events that holds at most `capacity`.
    pub fn channel(capacity: usize) -> (Self, mpsc::Receiver<Event>) {
        let (sender, receiver) = mpsc::channel(capacity);
        (Self(Some(sender)), receiver)
    }

    /// Events that nobody hears.
    pub fn silent() -> Self {
        Self(None)
    }

    /// Sends an event; waits while the listener is behind. A warning that nobody hears goes into
    /// the log.
    pub async fn emit(&self, event: Event) {
        let unheard = match &self.0 {
            Some(sender) => sender.send(event).await.err().map(|unsent| unsent.0),
            None => Some(event),
        };
        if let Some(Event::Warning(warning)) = unheard {
            tracing::warn!("{warning}");
        }
    }
}
