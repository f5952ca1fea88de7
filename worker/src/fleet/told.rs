//! What the operator was told of runs: once in a while, and not for each of their jobs.

use juror_common::{
    event::{Event, Events},
    id::RunId,
};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// How long the same words of a run are not repeated.
const SILENCE: Duration = Duration::from_secs(10 * 60);

/// The last words about each run.
#[derive(Debug, Default)]
pub struct Told(Mutex<HashMap<RunId, (Instant, String)>>);

impl Told {
    /// Tells this about a run, unless it was told just now.
    pub async fn tell(&self, run: &RunId, words: String, events: &Events) {
        if self.is_news(run, &words) {
            events.emit(Event::Warning(words)).await;
        }
    }

    fn is_news(&self, run: &RunId, words: &str) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|_, (since, _)| since.elapsed() < SILENCE);
        if told.get(run).is_some_and(|(_, last)| last == words) {
            return false;
        }
        told.insert(run.clone(), (Instant::now(), words.to_owned()));
        true
    }
}
