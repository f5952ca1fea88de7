//! In-memory backend of a fleet, which can be unavailable, lose data, and restart.

use async_trait::async_trait;
use juror_ledger::{
    admission::RunAccount,
    error::LedgerError,
    redis::{
        FleetBackend, JournalCosts, LedgerState, Reconciliation, RunProgress, RunStatus,
        RunsDirectory,
    },
};
use juror_types::{
    budget_label::BudgetLabel,
    id::{JobId, OwnerId, RunId},
    job::Job,
    outcome::JobResult,
    run::RunRecord,
    usage::Money,
};
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::watch;

#[derive(Clone, Debug, Default)]
pub struct BackendState {
    pub runs: BTreeMap<RunId, RunStatus>,
    pub ledgers: BTreeMap<RunId, RunAccount>,
    pub directory: Option<RunsDirectory>,
    pub away: bool,
    /// Remaining replies that name an awaited owner; none: admission is not paused.
    pub paused: Option<u32>,
    /// Costs passed by each reconciliation.
    pub reconciled: Vec<Vec<(RunId, Option<Money>)>>,
    pub sweeps: u32,
    /// Jobs that never started: their dead letters are replayed once.
    pub unstarted: BTreeSet<JobId>,
    /// Runs whose costs are to be booked on the day of their last results, with their labels.
    pub dated: BTreeMap<RunId, Vec<BudgetLabel>>,
    /// True if the last reconciliation declared the fleet new.
    pub is_new: bool,
    /// True if its ledger was declared as used before.
    pub used_before: bool,
    /// True if its ledger is empty during a pause.
    pub is_empty: bool,
    /// Items of restored results.
    pub restored: BTreeSet<(RunId, String)>,
    /// Number of status requests.
    pub status_requests: u32,
}

#[derive(Default)]
pub struct MemoryBackend(watch::Sender<BackendState>);

impl MemoryBackend {
    pub fn change(&self, change: impl FnOnce(&mut BackendState)) {
        self.0.send_modify(change);
    }

    /// Waits until the condition holds.
    pub async fn until(&self, mut holds: impl FnMut(&BackendState) -> bool) -> BackendState {
        self.0.subscribe().wait_for(|state| holds(state)).await.unwrap().clone()
    }

    /// Announces a run as a producer does before its first job and before each further round.
    pub fn announce(&self, record: &RunRecord) {
        let status = RunStatus {
            record: record.clone(),
            published: 0,
            expected: None,
            cancelled: false,
            retrying: false,
            paused: None,
            progress: None,
        };
        self.change(|state| drop(state.runs.insert(record.run_id.clone(), status)));
    }

    pub fn close(&self, run: &RunId, expected: u64) {
        self.change(|state| state.runs.get_mut(run).unwrap().expected = Some(expected));
    }

    /// Waits until a run's report with this many results is recorded.
    pub async fn until_reported(&self, run: &RunId, results: u64) -> RunProgress {
        let reported = |state: &BackendState| {
            state.progress(run).is_some_and(|progress| progress.reported_at == Some(results))
        };
        self.until(reported).await.progress(run).unwrap()
    }

    /// Waits until this many committed results of a run are recorded.
    pub async fn until_results(&self, run: &RunId, results: u64) -> RunProgress {
        let committed = |state: &BackendState| {
            state.progress(run).is_some_and(|progress| progress.results == results)
        };
        self.until(committed).await.progress(run).unwrap()
    }

    fn ask<T>(&self, answer: impl FnOnce(&mut BackendState) -> T) -> Result<T, LedgerError> {
        let mut outcome = Err(LedgerError::Unavailable("it is away".to_owned()));
        self.0.send_modify(|state| {
            if !state.away {
                outcome = Ok(answer(state));
            }
        });
        outcome
    }
}

impl BackendState {
    pub fn progress(&self, run: &RunId) -> Option<RunProgress> {
        self.runs.get(run)?.progress.clone()
    }
}

#[async_trait]
impl FleetBackend for MemoryBackend {
    async fn announced(&self) -> Result<Vec<RunId>, LedgerError> {
        self.ask(|state| state.runs.keys().cloned().collect())
    }

    async fn status(&self, run: &RunId) -> Result<Option<RunStatus>, LedgerError> {
        self.ask(|state| {
            state.status_requests += 1;
            state.runs.get(run).cloned()
        })
    }

    async fn record_progress(
        &self,
        run: &RunId,
        progress: &RunProgress,
    ) -> Result<bool, LedgerError> {
        self.ask(|state| {
            let status = state.runs.get_mut(run);
            status.map(|status| status.progress = Some(progress.clone())).is_some()
        })
    }

    async fn claim_runs_directory(
        &self,
        directory: &RunsDirectory,
        take_over: bool,
    ) -> Result<RunsDirectory, LedgerError> {
        self.ask(|state| {
            let held = state.directory.take().filter(|held| !take_over && held.id != directory.id);
            state.directory.insert(held.unwrap_or_else(|| directory.clone())).clone()
        })
    }

    async fn allow_resend(&self, job: &Job) -> Result<bool, LedgerError> {
        self.ask(|state| state.unstarted.remove(&job.job_id))
    }

    async fn run_account(&self, run: &RunId) -> Result<Option<RunAccount>, LedgerError> {
        self.ask(|state| state.ledgers.get(run).copied())
    }

    async fn close_leases(&self, run: &RunId) -> Result<usize, LedgerError> {
        self.ask(|state| {
            let Some(ledger) = state.ledgers.get_mut(run) else { return 0 };
            let held = std::mem::take(&mut ledger.outstanding);
            ledger.committed += held;
            ledger.presumed += held;
            usize::from(held > Money::ZERO)
        })
    }

    async fn sweep_leases(&self) -> Result<(), LedgerError> {
        self.ask(|state| state.sweeps += 1)
    }

    async fn ledger_state(&self, used_before: bool) -> Result<LedgerState, LedgerError> {
        self.ask(|state| {
            state.used_before = used_before;
            match state.paused {
                Some(_) if state.is_empty => LedgerState::Empty,
                Some(_) => LedgerState::Restarted,
                None => LedgerState::Reconciled,
            }
        })
    }

    async fn has_account(&self, run: &RunId) -> Result<bool, LedgerError> {
        self.ask(|state| state.runs.contains_key(run) && !state.is_empty)
    }

    async fn restore_results(&self, run: &RunId, results: &[JobResult]) -> Result<(), LedgerError> {
        let items = results.iter().map(|result| (run.clone(), result.screenshot_id.clone()));
        self.ask(|state| state.restored.extend(items))
    }

    async fn reconcile(&self, journal: &JournalCosts) -> Result<Reconciliation, LedgerError> {
        self.ask(|state| {
            let costs = journal.runs.iter().map(|run| (run.run.clone(), run.cost));
            state.reconciled.push(costs.collect());
            let dated = journal.runs.iter().filter(|run| run.last_result_at.is_some());
            state.dated = dated.map(|run| (run.run.clone(), run.labels.clone())).collect();
            state.is_new = journal.is_new;
            state.paused = state.paused.and_then(|waits| waits.checked_sub(1));
            match state.paused {
                Some(_) => Reconciliation::Waiting { owners: vec![OwnerId::new("somebody")] },
                None => Reconciliation::Done { presumed: 0 },
            }
        })
    }
}
