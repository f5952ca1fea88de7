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
/// Time for which a pause is remembered after the last job of its run: longer than paused runs' jobs
/// are held.
const PAUSE_TTL: Duration = Duration::from_secs(60 * 60);

/// The last messages about each run's state and about its files, and the runs with a reported
/// pause.
#[derive(Debug)]
pub struct WarnOnce {
    events: Events,
    states: Mutex<LastMessages>,
    files: Mutex<LastMessages>,
    pauses: Mutex<HashMap<RunId, Instant>>,
}

type LastMessages = HashMap<RunId, (Instant, String)>;

impl WarnOnce {
    /// Warnings that go to these events.
    pub fn new(events: Events) -> Self {
        let (states, files, pauses) = Default::default();
        Self { events, states, files, pauses }
    }

    /// Emits a warning about a run's state, unless the same was emitted a short while ago.
    pub async fn warn(&self, run: &RunId, message: String) {
        if is_new(&self.states, run, &message) {
            self.events.emit(Event::Warning(message)).await;
        }
    }

    /// Emits a warning about a file of a run, unless one about any of its files was emitted a short
    /// while ago.
    pub async fn warn_about_file(&self, run: &RunId, message: String) {
        if is_new(&self.files, run, "any file") {
            self.events.emit(Event::Warning(message)).await;
        }
    }

    /// Emits a warning about the pause of a run, once until the run is open again.
    pub async fn warn_about_pause(&self, run: &RunId, reason: &str) {
        if self.is_new_pause(run) {
            let warning = format!(
                "run {run} is paused and keeps its jobs: {reason}; resume with: juror retry {run}"
            );
            self.events.emit(Event::Warning(warning)).await;
        }
    }

    /// Records that a run is open, so that its next pause is reported.
    pub fn run_is_open(&self, run: &RunId) {
        self.pauses.lock().remove(run);
    }

    fn is_new_pause(&self, run: &RunId) -> bool {
        let mut pauses = self.pauses.lock();
        pauses.retain(|_, seen| seen.elapsed() < PAUSE_TTL);
        pauses.insert(run.clone(), Instant::now()).is_none()
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
