//! Warnings about runs, each at most once in an interval instead of once a job.

use juror_types::{
    event::{Event, Events},
    id::RunId,
};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Time for which the same message about a run is not repeated.
const SILENCE: Duration = Duration::from_secs(10 * 60);

/// Subject of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum WarningTopic {
    WorkerRunState,
    Files,
}

/// The last message about each run.
#[derive(Debug, Default)]
pub struct WarnOnce(Mutex<HashMap<(RunId, WarningTopic), (Instant, String)>>);

impl WarnOnce {
    /// Emits a warning about a run's state, unless the same was emitted a short while ago.
    pub async fn tell(&self, run: &RunId, words: String, events: &Events) {
        if self.is_news(run, WarningTopic::WorkerRunState, &words) {
            events.emit(Event::Warning(words)).await;
        }
    }

    /// Emits a warning about a file of a run, unless one about any of its files was emitted a short
    /// while ago.
    pub async fn tell_of_files(&self, run: &RunId, words: String, events: &Events) {
        if self.is_news(run, WarningTopic::Files, &words) {
            events.emit(Event::Warning(words)).await;
        }
    }

    fn is_news(&self, run: &RunId, topic: WarningTopic, words: &str) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|_, (since, _)| since.elapsed() < SILENCE);
        let key = (run.clone(), topic);
        if told.get(&key).is_some_and(|(_, last)| topic == WarningTopic::Files || last == words) {
            return false;
        }
        told.insert(key, (Instant::now(), words.to_owned()));
        true
    }
}
