//! Events of the roles, which never print themselves.

use crate::{id::RunId, outcome::JobResult};
use std::{sync::Arc, time::Duration};
use tokio::sync::mpsc;

/// An event that may be shown to users.
#[derive(Clone, Debug)]
pub enum Event {
    /// A signal requested a graceful shutdown: nothing new is started, work in progress is
    /// finished.
    Stopping,
    /// Jobs of this round are planned.
    Planned {
        /// Number of jobs.
        jobs: u64,
    },
    /// A result is in the journal.
    Finished(Arc<JobResult>),
    /// The run is paused, for this reason; it resumes by itself or by `juror retry`.
    Paused {
        /// The reason, as a message.
        reason: String,
    },
    /// Calls fail for now, and the next one is tried after a pause.
    Waiting {
        /// The provider's reply, as a message.
        reason: String,
        /// Time until the next attempt.
        pause: Duration,
    },
    /// Progress of a batch, reported at its beginning and at each further tenth.
    BatchProgress {
        /// Id of the run.
        run: RunId,
        /// Number of the shard in the run.
        shard: u32,
        /// Finished rows.
        done: u64,
        /// All rows.
        rows: u64,
    },
    /// A warning that stops nothing.
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

    /// Events without a receiver.
    pub fn silent() -> Self {
        Self(None)
    }

    /// Sends an event; waits while the receiver is behind. A warning without a receiver goes to the
    /// log.
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
