//! Warnings about runs: once in a while, and not for each of their jobs.

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

/// Time for which the same words of a run are not repeated.
const SILENCE: Duration = Duration::from_secs(10 * 60);

/// Subject of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum WarningTopic {
    WorkerRunState,
    Files,
}

/// The last words about each run.
#[derive(Debug, Default)]
pub struct WarnOnce(Mutex<HashMap<(RunId, WarningTopic), (Instant, String)>>);

impl WarnOnce {
    /// Tells how a run stands, unless that was told just now.
    pub async fn tell(&self, run: &RunId, words: String, events: &Events) {
        if self.is_news(run, WarningTopic::WorkerRunState, &words) {
            events.emit(Event::Warning(words)).await;
        }
    }

    /// Tells of a file of a run, unless another of its files was told of just now.
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
