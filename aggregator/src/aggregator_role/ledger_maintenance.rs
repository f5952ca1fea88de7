//! Maintenance of the fleet's ledger: sweeps leases of processes that are gone, and reconciles a
//! backend that was restarted or emptied with the journals.

use super::{
    ledger_journals::{USED_FILE, cost_of, mark_used, run_ids_in, send_results},
    run_registry::{Entries, RegistryEntry},
};
use juror_journal::journal::JournalError;
use juror_ledger::{
    error::LedgerError,
    redis::{FleetBackend, JournalCost, JournalCosts, LedgerState, Reconciliation},
};
use juror_types::{
    event::{Event, Events},
    id::RunId,
    usage::Money,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{Notify, mpsc, watch},
    task::spawn_blocking,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

/// Interval of sweeps of leases.
const SWEEP_INTERVAL: Duration = Duration::from_secs(15);
/// Interval of checks whether admission is suspended.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Interval of reconciliations while owners have not registered.
const RECONCILE_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum wait for queued results before the ledger is reconciled. Runs without a judge continue
/// meanwhile.
const MAX_RESULTS_WAIT: Duration = Duration::from_secs(20);

pub(super) struct LedgerMaintenance {
    pub(super) backend: Arc<dyn FleetBackend>,
    pub(super) runs_dir: PathBuf,
    pub(super) registry: watch::Receiver<Entries>,
    pub(super) events: Events,
    /// Notified when the ledger is reconciled after a suspension.
    pub(super) reconciled: Arc<Notify>,
    /// Signal for an immediate end.
    pub(super) stop: CancellationToken,
}

impl LedgerMaintenance {
    /// Sweeps and reconciles again and again.
    pub(super) async fn run(self) {
        let mut swept = None;
        let (mut pause, mut trouble) = (None, None);
        loop {
            if swept.is_none_or(|swept: Instant| swept.elapsed() >= SWEEP_INTERVAL) {
                swept = Some(Instant::now());
                if let Err(error) = self.backend.sweep_leases().await {
                    tracing::debug!(%error, "a sweep of the ledger failed");
                }
            }
            match self.maintain(&mut pause).await {
                Ok(()) => trouble = None,
                Err(error) => self.warn_once(&error, &mut trouble).await,
            }
            sleep(if pause.is_some() { RECONCILE_INTERVAL } else { CHECK_INTERVAL }).await;
        }
    }

    /// Books the costs of the journals in the ledger. After a restart, or when the backend was
    /// emptied, all runs are included that the backend knows, that are not complete, or that have
    /// no account in the ledger, and admission is resumed. At other times only active runs are.
    async fn maintain(&self, pause: &mut Option<AdmissionPause>) -> Result<(), MaintenanceError> {
        let marker = self.runs_dir.join(USED_FILE);
        let used_before = pause.is_some() || marker.exists();
        let state = self.backend.ledger_state(used_before).await?;
        if !used_before {
            mark_used(&marker)?;
        }
        if state == LedgerState::Reconciled {
            *pause = None;
            let active = self.costs(|entry| !entry.finished).into_iter();
            let runs: Vec<_> = active.map(|(run, cost)| JournalCost::current(run, cost)).collect();
            if !runs.is_empty() {
                self.backend.reconcile(&JournalCosts { runs, is_new: false }).await?;
            }
            return Ok(());
        }
        if pause.is_none() {
            let is_new = state == LedgerState::Empty && !used_before;
            *pause = Some(AdmissionPause::new(is_new, &self.registry));
            if !is_new {
                let pausing = "Redis was restarted or emptied, or has lost records: calls are suspended until the ledger is reconciled";
                self.warn(pausing).await;
                return Ok(());
            }
        }
        let Some(current) = pause.as_mut() else { return Ok(()) };
        if current.awaits_results() {
            return Ok(());
        }
        let announced = self.backend.announced().await?;
        self.read_others(&announced, &mut current.read).await?;
        self.restore_results(&announced, &mut current.restored).await?;
        let journal = self.journal_costs(current);
        if let Reconciliation::Done { presumed } = self.reconcile(&journal).await? {
            *pause = None;
            self.reconciled.notify_one();
            if !journal.is_new {
                self.warn(&format!(
                    "the ledger is reconciled and calls are resumed; {presumed} calls in flight are presumed spent"
                ))
                .await;
            }
        }
        Ok(())
    }

    async fn reconcile(&self, journal: &JournalCosts) -> Result<Reconciliation, MaintenanceError> {
        let reconciliation = self.backend.reconcile(journal).await?;
        if let Reconciliation::Waiting { owners } = &reconciliation {
            tracing::info!(
                owners = owners.len(),
                "waiting for workers to re-register their leases"
            );
        }
        Ok(reconciliation)
    }

    /// Costs by the journals at the end of a suspension.
    fn journal_costs(&self, pause: &AdmissionPause) -> JournalCosts {
        let mut runs = pause.read.clone();
        for (run, cost) in self.costs(|_| true) {
            let current = JournalCost::current(run.clone(), cost);
            runs.entry(run).or_insert(current).cost = Some(cost);
        }
        JournalCosts { runs: runs.into_values().collect(), is_new: pause.is_new }
    }

    /// Cost of the results of these registered runs.
    fn costs(&self, which: impl Fn(&RegistryEntry) -> bool) -> BTreeMap<RunId, Money> {
        let entries = self.registry.borrow();
        let chosen = entries.iter().filter(|(_, entry)| which(entry));
        let costs = chosen
            .filter_map(|(run, entry)| Some((run.clone(), entry.progress.as_ref()?.cost_usd)));
        costs.filter(|(_, cost)| *cost > Money::ZERO).collect()
    }

    /// Reads the journals of the runs that the backend knows, and of those without an account in
    /// the ledger. Of runs with results since this aggregator is active, the cost is known.
    async fn read_others(
        &self,
        announced: &[RunId],
        read: &mut BTreeMap<RunId, JournalCost>,
    ) -> Result<(), MaintenanceError> {
        let runs_dir = self.runs_dir.clone();
        let on_disk = spawn_blocking(move || run_ids_in(&runs_dir)).await?;
        let mut runs = announced.to_vec();
        for run in on_disk {
            let is_known = announced.contains(&run) || read.contains_key(&run);
            if !is_known && !self.backend.has_account(&run).await? {
                runs.push(run);
            }
        }
        for run in runs {
            if read.contains_key(&run) {
                continue;
            }
            let entry = self.registry.borrow().get(&run).cloned();
            let known = entry.and_then(|entry| entry.progress).map(|progress| progress.cost_usd);
            let (runs_dir, of_run, stop) = (self.runs_dir.clone(), run.clone(), self.stop.clone());
            let reading = spawn_blocking(move || cost_of(&runs_dir, &of_run, known, &stop));
            let cost = match reading.await? {
                // A damaged journal must not suspend other runs.
                Err(error) if error.is_damage() => {
                    self.warn(&format!(
                        "the ledger of run {run} is not reconciled with its journal: {error}"
                    ))
                    .await;
                    JournalCost { cost: known, ..JournalCost::current(run.clone(), Money::ZERO) }
                }
                cost => cost?,
            };
            read.insert(run, cost);
        }
        Ok(())
    }

    /// Restores the results of announced, unfinished runs in the backend.
    async fn restore_results(
        &self,
        announced: &[RunId],
        restored: &mut BTreeSet<RunId>,
    ) -> Result<(), MaintenanceError> {
        for run in announced {
            let status = self.backend.status(run).await?;
            if restored.contains(run) || status.is_none_or(|status| status.is_reported()) {
                continue;
            }
            let (sender, mut batches) = mpsc::channel(1);
            let (runs_dir, of_run, stop) = (self.runs_dir.clone(), run.clone(), self.stop.clone());
            let reading = spawn_blocking(move || send_results(&runs_dir, &of_run, stop, &sender));
            let storing = async {
                while let Some(batch) = batches.recv().await {
                    self.backend.restore_results(run, &batch).await?;
                }
                Ok::<(), LedgerError>(())
            };
            let stored = storing.await;
            // The reader ends when the receiver is gone.
            drop(batches);
            let read = reading.await?;
            stored?;
            match read {
                // Damaged files were reported when they were read for their costs.
                Err(error) if !error.is_damage() => return Err(error.into()),
                Ok(()) | Err(_) => {}
            }
            restored.insert(run.clone());
        }
        Ok(())
    }

    /// Emits a warning about an error, once.
    async fn warn_once(&self, error: &MaintenanceError, last_problem: &mut Option<String>) {
        let problem = error.to_string();
        // The status poller reports an unreachable backend.
        let is_unavailable =
            matches!(error, MaintenanceError::Backend(LedgerError::Unavailable(_)));
        if !is_unavailable && last_problem.as_ref() != Some(&problem) {
            self.warn(&format!("maintenance of the ledger failed: {problem}")).await;
            *last_problem = Some(problem);
        }
    }

    async fn warn(&self, what: &str) {
        self.events.emit(Event::Warning(what.to_owned())).await;
    }
}

/// Error of one round of ledger maintenance.
#[derive(Debug, thiserror::Error)]
enum MaintenanceError {
    #[error(transparent)]
    Backend(#[from] LedgerError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Reader(#[from] tokio::task::JoinError),
}

/// A suspension of admission.
struct AdmissionPause {
    /// True if the ledger is the first one of its fleet.
    is_new: bool,
    /// Costs by the journals.
    read: BTreeMap<RunId, JournalCost>,
    /// Runs whose results were restored in the fleet's backend.
    restored: BTreeSet<RunId>,
    /// Changes when results are committed.
    commits: watch::Receiver<Entries>,
    /// Time until which queued results are awaited.
    settled_at: Instant,
}

impl AdmissionPause {
    fn new(is_new: bool, registry: &watch::Receiver<Entries>) -> Self {
        let mut commits = registry.clone();
        commits.borrow_and_update();
        let settled_at = Instant::now() + MAX_RESULTS_WAIT;
        Self { is_new, read: BTreeMap::new(), restored: BTreeSet::new(), commits, settled_at }
    }

    /// True if results were committed since the last check: more of them may be queued, and their
    /// cost must be booked too.
    fn awaits_results(&mut self) -> bool {
        let came = self.commits.has_changed().unwrap_or(false);
        self.commits.borrow_and_update();
        !self.is_new && came && Instant::now() < self.settled_at
    }
}
