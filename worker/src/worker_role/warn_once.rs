//! Warnings about runs, each at most once in an interval instead of once a job.

use juror_types::{
    event::{Event, Events},
    id::RunId,
};
use parking_lot::Mutex;
use std::{collections::HashMap, time::Duration};
use tokio::time::Instant;

/// Time for which the same message about a run is not repeated.
const REPEAT_INTERVAL: Duration = Duration::from_secs(10 * 60);

/// The last messages about each run's state and about its files.
#[derive(Debug, Default)]
pub struct WarnOnce {
    states: Mutex<LastMessages>,
    files: Mutex<LastMessages>,
}

type LastMessages = HashMap<RunId, (Instant, String)>;

impl WarnOnce {
    /// Emits a warning about a run's state, unless the same was emitted a short while ago.
    pub async fn warn(&self, run: &RunId, message: String, events: &Events) {
        if is_new(&self.states, run, &message) {
            events.emit(Event::Warning(message)).await;
        }
    }

    /// Emits a warning about a file of a run, unless one about any of its files was emitted a short
    /// while ago.
    pub async fn warn_about_file(&self, run: &RunId, message: String, events: &Events) {
        if is_new(&self.files, run, "any file") {
            events.emit(Event::Warning(message)).await;
        }
    }
}

fn is_new(last_messages: &Mutex<LastMessages>, run: &RunId, message: &str) -> bool {
    let mut last_messages = last_messages.lock();
    last_messages.retain(|_, (since, _)| since.elapsed() < REPEAT_INTERVAL);
    if last_messages.get(run).is_some_and(|(_, last)| last == message) {
        return false;
    }
    last_messages.insert(run.clone(), (Instant::now(), message.to_owned()));
    true
}
