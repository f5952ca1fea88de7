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

/// The last message about each run.
#[derive(Debug, Default)]
pub struct WarnOnce(Mutex<HashMap<(RunId, WarningTopic), (Instant, String)>>);

impl WarnOnce {
    /// Emits a warning about a run's state, unless the same was emitted a short while ago.
    pub async fn warn(&self, run: &RunId, message: String, events: &Events) {
        if self.is_new(run, WarningTopic::WorkerRunState, &message) {
            events.emit(Event::Warning(message)).await;
        }
    }

    /// Emits a warning about a file of a run, unless one about any of its files was emitted a short
    /// while ago.
    pub async fn warn_about_file(&self, run: &RunId, message: String, events: &Events) {
        if self.is_new(run, WarningTopic::Files, &message) {
            events.emit(Event::Warning(message)).await;
        }
    }

    fn is_new(&self, run: &RunId, topic: WarningTopic, message: &str) -> bool {
        let mut last_messages = self.0.lock();
        last_messages.retain(|_, (since, _)| since.elapsed() < REPEAT_INTERVAL);
        let key = (run.clone(), topic);
        if last_messages
            .get(&key)
            .is_some_and(|(_, last)| topic == WarningTopic::Files || last == message)
        {
            return false;
        }
        last_messages.insert(key, (Instant::now(), message.to_owned()));
        true
    }
}

/// Subject of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum WarningTopic {
    WorkerRunState,
    Files,
}
