//! Looks after the fleet's ledger: processes that are gone, and a backend that was started anew or
//! emptied and has forgotten what journals still tell.

use super::ledger_journals::{USED_FILE, cost_of, mark_used, runs_in, send_results};
use crate::fleet::{
    backend::FleetBackend,
    run_registry::{Entries, RegistryEntry},
};
use juror_journal::journal::JournalError;
use juror_ledger::{
    error::LedgerError,
    redis::{JournalCosts, LedgerState, Reconciliation},
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

/// Interval of reconciliations while owners are waited for.
const WAITING: Duration = Duration::from_secs(1);
/// Longest wait for results that are in the queue while the ledger is reconciled. Runs without a
/// judge go on meanwhile.
const MAX_RESULTS_WAIT: Duration = Duration::from_secs(20);

pub(super) struct LedgerCare {
    pub(super) backend: Arc<dyn FleetBackend>,
    pub(super) runs_dir: PathBuf,
    pub(super) board: watch::Receiver<Entries>,
    pub(super) events: Events,
    /// Interval of sweeps.
    pub(super) heartbeat: Duration,
    /// Interval of looks whether admission pauses.
    pub(super) check: Duration,
    /// Notified when the ledger is reconciled after a pause.
    pub(super) reconciled: Arc<Notify>,
    /// Asks to end at once.
    pub(super) stop: CancellationToken,
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

/// A pause of admission.
struct AdmissionPause {
    /// True if the ledger is the first one of its fleet.
    is_new: bool,
    /// Cost of results that nothing came of here, by run.
    read: BTreeMap<RunId, Money>,
    /// Runs whose results are stored in the fleet's backend again.
    restored: BTreeSet<RunId>,
    /// Tells of results that are committed meanwhile.
    commits: watch::Receiver<Entries>,
    /// Time until which results that are still in the queue are waited for.
    settled_at: Instant,
}

impl AdmissionPause {
    fn new(is_new: bool, board: &watch::Receiver<Entries>) -> Self {
        let mut commits = board.clone();
        commits.borrow_and_update();
        let settled_at = Instant::now() + MAX_RESULTS_WAIT;
        Self { is_new, read: BTreeMap::new(), restored: BTreeSet::new(), commits, settled_at }
    }

    /// True if results were committed since the last look: more of them may be in the queue, and
    /// what they cost must be told too.
    fn awaits_results(&mut self) -> bool {
        let came = self.commits.has_changed().unwrap_or(false);
        self.commits.borrow_and_update();
        !self.is_new && came && Instant::now() < self.settled_at
    }
}

impl LedgerCare {
    /// Goes on until `ended`.
    pub(super) async fn run(self, ended: CancellationToken) {
        ended.run_until_cancelled(self.look_again_and_again()).await;
    }

    async fn look_again_and_again(&self) {
        let mut swept = None;
        let (mut pause, mut trouble) = (None, None);
        loop {
            if swept.is_none_or(|swept: Instant| swept.elapsed() >= self.heartbeat) {
                swept = Some(Instant::now());
                if let Err(error) = self.backend.sweep().await {
                    tracing::debug!(%error, "the ledger was not swept");
                }
            }
            match self.look(&mut pause).await {
                Ok(()) => trouble = None,
                Err(error) => self.tell(&error, &mut trouble).await,
            }
            sleep(if pause.is_some() { WAITING } else { self.check }).await;
        }
    }

    /// One pass that brings the ledger up to the journals. After a restart, or when the backend was
    /// emptied, all runs are told that the backend knows, that are not complete, or that the ledger
    /// has no account of, which ends the pause. At other times each run is told that goes on.
    async fn look(&self, pause: &mut Option<AdmissionPause>) -> Result<(), MaintenanceError> {
        let marker = self.runs_dir.join(USED_FILE);
        let used_before = pause.is_some() || marker.exists();
        let state = self.backend.ledger_state(used_before).await?;
        if !used_before {
            mark_used(&marker)?;
        }
        if state == LedgerState::Reconciled {
            *pause = None;
            let announced = self.costs(|_, entry| !entry.settled).into_iter().collect::<Vec<_>>();
            if !announced.is_empty() {
                let journal = JournalCosts { announced, ..JournalCosts::default() };
                self.backend.reconcile(&journal).await?;
            }
            return Ok(());
        }
        if pause.is_none() {
            let is_new = state == LedgerState::Empty && !used_before;
            *pause = Some(AdmissionPause::new(is_new, &self.board));
            if !is_new {
                let pausing =
                    "Redis was started anew or emptied: calls pause until the ledger is reconciled";
                self.say(pausing).await;
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
        let journal = self.journal_costs(current, &announced);
        if let Reconciliation::Done { presumed } = self.reconcile(&journal).await? {
            *pause = None;
            self.reconciled.notify_one();
            if !journal.is_new {
                self.say(&format!(
                    "the ledger is reconciled, and calls go on; {presumed} that were under way are presumed spent"
                ))
                .await;
            }
        }
        Ok(())
    }

    async fn reconcile(&self, journal: &JournalCosts) -> Result<Reconciliation, MaintenanceError> {
        let reconciliation = self.backend.reconcile(journal).await?;
        if let Reconciliation::Waiting { owners } = &reconciliation {
            tracing::info!(owners = owners.len(), "waiting for owners to say what they hold");
        }
        Ok(reconciliation)
    }

    /// Costs by the journals at the end of a pause.
    fn journal_costs(&self, pause: &AdmissionPause, announced: &[RunId]) -> JournalCosts {
        let mut costs = pause.read.clone();
        costs.extend(self.costs(|_, _| true));
        let (announced, others) = costs.into_iter().partition(|(run, _)| announced.contains(run));
        JournalCosts { announced, others, is_new: pause.is_new }
    }

    /// Cost of the results of these registered runs.
    fn costs(&self, which: impl Fn(&RunId, &RegistryEntry) -> bool) -> BTreeMap<RunId, Money> {
        let entries = self.board.borrow();
        let chosen = entries.iter().filter(|(run, entry)| which(run, entry));
        let costs = chosen
            .filter_map(|(run, entry)| Some((run.clone(), entry.progress.as_ref()?.cost_usd)));
        costs.filter(|(_, cost)| *cost > Money::ZERO).collect()
    }

    /// Reads the journals of runs that nothing came of since this aggregator works: of those that
    /// the backend knows, and of those that the ledger has no account of.
    async fn read_others(
        &self,
        announced: &[RunId],
        read: &mut BTreeMap<RunId, Money>,
    ) -> Result<(), MaintenanceError> {
        let runs_dir = self.runs_dir.clone();
        let on_disk = spawn_blocking(move || runs_in(&runs_dir)).await?;
        let mut runs = announced.to_vec();
        for run in on_disk {
            let is_known = announced.contains(&run) || read.contains_key(&run);
            if !is_known && !self.backend.has_account(&run).await? {
                runs.push(run);
            }
        }
        for run in &runs {
            let on_board =
                |entries: &Entries| entries.get(run).is_some_and(|entry| entry.progress.is_some());
            if read.contains_key(run) || on_board(&self.board.borrow()) {
                continue;
            }
            let (runs_dir, of_run, stop) = (self.runs_dir.clone(), run.clone(), self.stop.clone());
            let reading = spawn_blocking(move || cost_of(&runs_dir, &of_run, &stop));
            let cost = match reading.await? {
                // It must not hold up the calls of all other runs.
                Err(error) if error.is_damage() => {
                    self.say(&format!("the ledger of run {run} stays as Redis has it: {error}"))
                        .await;
                    Money::ZERO
                }
                cost => cost?,
            };
            read.insert(run.clone(), cost);
        }
        Ok(())
    }

    /// Stores the results of announced runs that go on in the backend again.
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
            // The reader ends where nobody receives.
            drop(batches);
            let read = reading.await?;
            stored?;
            match read {
                // That its files are damaged was said as they were read for their costs.
                Err(error) if !error.is_damage() => return Err(error.into()),
                Ok(()) | Err(_) => {}
            }
            restored.insert(run.clone());
        }
        Ok(())
    }

    /// Says what is wrong, once.
    async fn tell(&self, error: &MaintenanceError, told: &mut Option<String>) {
        let problem = error.to_string();
        // That the backend is away, the survey says.
        let is_away = matches!(error, MaintenanceError::Backend(LedgerError::Unavailable(_)));
        if !is_away && told.as_ref() != Some(&problem) {
            self.say(&format!("the ledger cannot be looked after: {problem}")).await;
            *told = Some(problem);
        }
    }

    async fn say(&self, what: &str) {
        self.events.emit(Event::Warning(what.to_owned())).await;
    }
}
