//! Polls the fleet's backend for run statuses, and records the progress of runs there.

use super::run_registry::Entries;
use juror_ledger::{
    error::LedgerError,
    redis::{FleetBackend, RunProgress, RunStatus},
};
use juror_types::{
    event::{Event, Events},
    id::RunId,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// Interval of status queries and progress records for runs with pending results.
const PENDING_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of queries for all announced runs, since any may be announced again.
const ANNOUNCED_INTERVAL: Duration = Duration::from_secs(5);

/// Result of a status query.
#[derive(Debug)]
pub(super) enum StatusReply {
    /// Status in the backend.
    Known(Box<RunStatus>),
    /// The run has no record: it was never announced, or has expired.
    Unknown,
    /// The backend is unreachable.
    Unavailable,
}

pub(super) struct StatusPoller {
    backend: Arc<dyn FleetBackend>,
    registry: watch::Receiver<Entries>,
    answers: mpsc::Sender<(RunId, StatusReply)>,
    events: Events,
    /// Progress of each run as recorded last.
    recorded_progress: BTreeMap<RunId, RunProgress>,
    is_unavailable: bool,
}

impl StatusPoller {
    /// A poller that has recorded no progress.
    pub(super) fn new(
        backend: Arc<dyn FleetBackend>,
        registry: watch::Receiver<Entries>,
        answers: mpsc::Sender<(RunId, StatusReply)>,
        events: Events,
    ) -> Self {
        let recorded_progress = BTreeMap::new();
        Self { backend, registry, answers, events, recorded_progress, is_unavailable: false }
    }

    /// Polls and records until `ended`, then records the remaining progress, unless it is stopped.
    pub(super) async fn run(mut self, ended: CancellationToken, stop: CancellationToken) {
        ended.run_until_cancelled(self.poll_loop()).await;
        stop.run_until_cancelled(self.record_remaining()).await;
    }

    async fn poll_loop(&mut self) {
        let mut tick = interval(PENDING_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut all_requested_at = None;
        let mut requested = BTreeSet::new();
        loop {
            tokio::select! {
                biased;
                _ = tick.tick() => {
                    let all = all_requested_at
                        .is_none_or(|at: Instant| at.elapsed() >= ANNOUNCED_INTERVAL);
                    if all {
                        all_requested_at = Some(Instant::now());
                    }
                    requested.clear();
                    self.query_all(all).await;
                }
                changed = self.registry.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let waited_for = self.runs(|entry| entry.status_requested);
                    // Once between two ticks, so that an unreachable backend is not queried all the
                    // time.
                    for run in waited_for.into_iter().filter(|run| requested.insert(run.clone())) {
                        self.query(run).await;
                    }
                }
            }
        }
    }

    async fn query_all(&mut self, announced_too: bool) {
        let mut runs = self.runs(|entry| !entry.finished);
        if announced_too {
            match self.backend.announced().await {
                Ok(announced) => {
                    self.report_recovery().await;
                    runs.extend(announced);
                }
                Err(error) => self.report_outage(&error).await,
            }
        }
        for run in runs {
            self.query(run).await;
        }
    }

    fn runs(
        &mut self,
        which: impl Fn(&crate::aggregator_role::run_registry::RegistryEntry) -> bool,
    ) -> BTreeSet<RunId> {
        let entries = self.registry.borrow_and_update();
        entries.iter().filter(|(_, entry)| which(entry)).map(|(run, _)| run.clone()).collect()
    }

    async fn query(&mut self, run: RunId) {
        let answer = match self.backend.status(&run).await {
            Ok(status) => {
                self.report_recovery().await;
                match status {
                    Some(status) => {
                        self.record_progress(&run, status.progress.as_ref()).await;
                        StatusReply::Known(Box::new(status))
                    }
                    None => StatusReply::Unknown,
                }
            }
            Err(error) => {
                self.report_outage(&error).await;
                StatusReply::Unavailable
            }
        };
        // The committer has ended, and so does the poller.
        let _ = self.answers.send((run, answer)).await;
    }

    /// Records a run's progress unless the backend has the same.
    async fn record_progress(&mut self, run: &RunId, recorded: Option<&RunProgress>) {
        let progress = self.registry.borrow().get(run).and_then(|entry| entry.progress.clone());
        let Some(progress) = progress else { return };
        if recorded != Some(&progress)
            && let Err(error) = self.backend.record_progress(run, &progress).await
        {
            return self.report_outage(&error).await;
        }
        self.recorded_progress.insert(run.clone(), progress);
    }

    async fn record_remaining(&mut self) {
        let entries: Vec<_> = self.registry.borrow().clone().into_iter().collect();
        for (run, entry) in entries {
            let Some(progress) = entry.progress else { continue };
            if self.recorded_progress.get(&run) == Some(&progress) {
                continue;
            }
            if let Err(error) = self.backend.record_progress(&run, &progress).await {
                // The report is recorded again when the next aggregator starts.
                return self.report_outage(&error).await;
            }
        }
    }

    async fn report_outage(&mut self, error: &LedgerError) {
        if !std::mem::replace(&mut self.is_unavailable, true) {
            let warning = format!(
                "{error}; results are still committed, but new runs and final reports wait"
            );
            self.events.emit(Event::Warning(warning)).await;
        }
    }

    async fn report_recovery(&mut self) {
        if std::mem::take(&mut self.is_unavailable) {
            let warning = "the fleet's backend is available again".to_owned();
            self.events.emit(Event::Warning(warning)).await;
        }
    }
}
