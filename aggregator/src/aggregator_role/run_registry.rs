//! Registry of runs with their progress, which is written to the fleet's backend.

use juror_ledger::redis::RunProgress;
use juror_types::id::RunId;
use std::collections::BTreeMap;
use tokio::sync::watch;

/// A registered run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RegistryEntry {
    /// Progress; `None` while the destination of its results is unknown.
    pub(super) progress: Option<RunProgress>,
    /// True if nothing is expected of it until it is announced again.
    pub(super) finished: bool,
    /// True if its status is requested.
    pub(super) status_requested: bool,
}

/// Runs with results since this aggregator is active, and announced ones that are not reported.
pub(super) type Entries = BTreeMap<RunId, RegistryEntry>;

/// The registry for its only writer.
#[derive(Debug, Default)]
pub(super) struct RunRegistry(watch::Sender<Entries>);

impl RunRegistry {
    /// The registry for its readers.
    pub(super) fn reader(&self) -> watch::Receiver<Entries> {
        self.0.subscribe()
    }

    /// Requests the status of a run.
    pub(super) fn request_status(&self, run: &RunId) {
        self.change(run, |entry| {
            entry.finished = false;
            entry.status_requested = true;
        });
    }

    /// Sets the progress of a run.
    pub(super) fn set_progress(&self, run: &RunId, progress: &RunProgress) {
        let updated =
            RegistryEntry { progress: Some(progress.clone()), ..RegistryEntry::default() };
        self.change(run, |entry| *entry = updated);
    }

    /// Marks a registered run as finished.
    pub(super) fn mark_finished(&self, run: &RunId) {
        self.0.send_if_modified(|entries| {
            let Some(entry) = entries.get_mut(run) else { return false };
            entry.status_requested = false;
            !std::mem::replace(&mut entry.finished, true)
        });
    }

    /// Removes a run.
    pub(super) fn remove(&self, run: &RunId) {
        self.0.send_if_modified(|entries| entries.remove(run).is_some());
    }

    fn change(&self, run: &RunId, change: impl FnOnce(&mut RegistryEntry)) {
        self.0.send_modify(|entries| change(entries.entry(run.clone()).or_default()));
    }
}
