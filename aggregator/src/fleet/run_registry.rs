//! Registry of runs with their progress, which is written to the fleet's backend.

use juror_ledger::redis::RunProgress;
use juror_types::id::RunId;
use std::collections::BTreeMap;
use tokio::sync::watch;

/// A registered run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RegistryEntry {
    /// Its progress; none while it is not known where its results belong.
    pub(super) progress: Option<RunProgress>,
    /// True if nothing is to be expected of it, as long as it is not announced again.
    pub(super) settled: bool,
    /// True if its status is waited for.
    pub(super) asked: bool,
}

/// Every run that results came of, or that is announced and not reported, since this aggregator
/// works.
pub(super) type Entries = BTreeMap<RunId, RegistryEntry>;

/// The board as its one writer has it.
#[derive(Debug, Default)]
pub(super) struct RunRegistry(watch::Sender<Entries>);

impl RunRegistry {
    /// The board as its readers have it.
    pub(super) fn reader(&self) -> watch::Receiver<Entries> {
        self.0.subscribe()
    }

    /// Asks for the status of a run.
    pub(super) fn ask_for(&self, run: &RunId) {
        self.change(run, |entry| {
            entry.settled = false;
            entry.asked = true;
        });
    }

    /// Tells how far a run has come.
    pub(super) fn tell(&self, run: &RunId, progress: &RunProgress) {
        let told = RegistryEntry { progress: Some(progress.clone()), ..RegistryEntry::default() };
        self.change(run, |entry| *entry = told);
    }

    /// Says that nothing is to be expected of a run, if it stands here.
    pub(super) fn settle(&self, run: &RunId) {
        self.0.send_if_modified(|entries| {
            let Some(entry) = entries.get_mut(run) else { return false };
            entry.asked = false;
            !std::mem::replace(&mut entry.settled, true)
        });
    }

    /// Takes a run off.
    pub(super) fn forget(&self, run: &RunId) {
        self.0.send_if_modified(|entries| entries.remove(run).is_some());
    }

    fn change(&self, run: &RunId, change: impl FnOnce(&mut RegistryEntry)) {
        self.0.send_modify(|entries| change(entries.entry(run.clone()).or_default()));
    }
}
