//! Runs that are started on request and continue in the background, in this process or in a fleet.

mod dataset_roots;
mod fleet_runs;
mod launcher;
mod local_runs;
mod notice;
mod request_validator;
mod run_estimate;
mod used_ledgers;

pub use launcher::RunLauncher;
pub use notice::{Notice, Notify, waiting_text};
pub use request_validator::RunRequestValidator;

use crate::{
    error::AppError,
    fleet::KEEPS_NO_INPUTS,
    run::{preflight::refuse_blessed_name, run_setup::RunSetup, run_setup_request::new_run_id},
    run_catalog::{RunCatalog, RunState},
    run_request::{QueuedRun, RequestDefaults, RequestField, RunEstimate, RunRequest},
    work_limiter::WorkLimiter,
};
use async_trait::async_trait;
use fleet_runs::FleetRuns;
use juror_journal::journal::{JournalError, check_vacant};
use juror_types::{id::RunId, run::RunRecord, shutdown::Shutdown, usage::Money};
use local_runs::LocalRuns;
use run_estimate::run_estimate;
use std::{sync::Arc, time::Duration};
use tokio::{runtime::Handle, task::spawn_blocking, time::timeout};
use tokio_util::task::TaskTracker;

/// Maximum number of concurrent estimates, and of requests that wait for one.
const MAX_CONCURRENT_ESTIMATES: usize = 2;
const MAX_WAITING_ESTIMATES: usize = 8;

/// Time limit of an estimate.
const ESTIMATE_TIMEOUT: Duration = Duration::from_secs(60);

/// Service that starts, resumes, cancels and estimates runs, with the settings of this process.
pub struct RunService {
    validator: Arc<RunRequestValidator>,
    local: Arc<LocalRuns>,
    /// None without a fleet in the settings.
    fleet: Option<FleetRuns>,
    estimates: WorkLimiter,
    /// Tasks of estimates and of all runs.
    tasks: TaskTracker,
}

impl RunService {
    /// A service without runs; all its runs stop on `shutdown`.
    pub fn new(validator: RunRequestValidator, shutdown: &Shutdown, notify: Notify) -> Self {
        let (settings, tasks) = (validator.settings(), TaskTracker::new());
        let local = LocalRuns::new(settings, tasks.clone(), shutdown.clone(), notify.clone());
        let fleet = || FleetRuns::new(tasks.clone(), shutdown.clone(), notify);
        Self {
            local: Arc::new(local),
            fleet: validator.has_fleet().then(fleet),
            estimates: WorkLimiter::new(MAX_CONCURRENT_ESTIMATES, MAX_WAITING_ESTIMATES),
            tasks,
            validator: Arc::new(validator),
        }
    }

    /// Waits until every run of this process has ended; call it after the shutdown.
    pub async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    async fn setup(&self, requested: &RunRequest, run: &RunId) -> Result<RunSetup, AppError> {
        let (validator, requested, run) =
            (Arc::clone(&self.validator), requested.clone(), run.clone());
        spawn_blocking_result(move || validator.setup(&requested, &run)).await
    }

    /// The record and the state of a run that has a directory here.
    async fn known(&self, run: &RunId) -> Result<Option<(RunRecord, RunState)>, AppError> {
        let (runs_dir, run) = (self.validator.settings().run.runs_dir.clone(), run.clone());
        spawn_blocking_result(move || {
            let catalog = RunCatalog::new(runs_dir);
            match catalog.files(&run) {
                Ok(files) => Ok(Some((files.record().clone(), catalog.listed(&files).state))),
                Err(JournalError::Missing(directory)) => match check_vacant(&directory) {
                    Ok(()) => Ok(None),
                    Err(JournalError::Occupied { .. }) => Err(AppError::conflict(format!(
                        "run_id {run}: the runs directory has a file or folder of this name that is not \
                         a run; use another run_id"
                    ))),
                    Err(error) => Err(error.into()),
                },
                Err(error) => Err(error.into()),
            }
        })
        .await
    }

    async fn start_in_fleet(
        &self,
        fleet: &FleetRuns,
        requested: &RunRequest,
        run: &RunId,
    ) -> Result<(), AppError> {
        let limits = [
            (RequestField::Rpm, requested.rpm.is_some()),
            (RequestField::Tpm, requested.tpm.is_some()),
            (RequestField::MaxConcurrency, requested.max_concurrency.is_some()),
        ];
        if let Some((field, _)) = limits.into_iter().find(|(_, is_set)| *is_set) {
            return Err(AppError::for_field(
                field,
                "runs are judged by a fleet, whose workers configure limits: omit it",
            ));
        }
        let setup = self.setup(requested, run).await?;
        if setup.settings.run.keep_inputs {
            return Err(AppError::for_field(RequestField::KeepInputs, KEEPS_NO_INPUTS));
        }
        fleet.start(setup, run).await
    }

    async fn resume_local_run(
        &self,
        record: RunRecord,
        state: RunState,
        budget: Option<Money>,
    ) -> Result<(), AppError> {
        let run = &record.run_id;
        let refusal = match state {
            RunState::Running => Some("already active"),
            RunState::Complete => Some("complete: every job is scored"),
            RunState::Damaged => Some("damaged, see its page; repair or remove its folder"),
            RunState::Incomplete => None,
        };
        if let Some(refusal) = refusal {
            return Err(AppError::conflict(format!("run {run} is {refusal}")));
        }
        let permit = self.local.acquire(run)?;
        let (validator, known) = (Arc::clone(&self.validator), record.clone());
        let setup = spawn_blocking_result(move || validator.resumed(&known, budget)).await?;
        self.local.begin(permit, setup, Some(record)).await
    }
}

#[async_trait]
impl RunLauncher for RunService {
    async fn estimate(&self, requested: &RunRequest) -> Result<RunEstimate, AppError> {
        let permit = self.estimates.take().await.ok_or_else(|| {
            let reason = "too many estimates are in progress; retry later";
            AppError::unavailable(reason)
        })?;
        let (validator, requested) = (Arc::clone(&self.validator), requested.clone());
        // An abandoned estimate runs to completion and holds its permit until then.
        let estimating = self.tasks.spawn(async move {
            let _permit = permit;
            block_on_thread(async move {
                let setup = validator.setup(&requested, &RunId::new("estimate"))?;
                run_estimate(&setup).await
            })
            .await
        });
        match timeout(ESTIMATE_TIMEOUT, estimating).await {
            Ok(estimated) => estimated.map_err(AppError::internal)?,
            Err(_) => Err(AppError::unavailable(format!(
                "the estimate timed out after {} s; run `juror estimate`, which has no time limit",
                ESTIMATE_TIMEOUT.as_secs()
            ))),
        }
    }

    async fn start(&self, requested: &RunRequest) -> Result<RunId, AppError> {
        self.validator.check_budget(requested.enable_llm_judge, requested.budget_usd)?;
        let run = requested.run_id.clone().unwrap_or_else(|| new_run_id(""));
        if self.known(&run).await?.is_some() {
            return Err(AppError::NameTaken(run));
        }
        let (runs_dir, named) = (self.validator.settings().run.runs_dir.clone(), run.clone());
        spawn_blocking_result(move || refuse_blessed_name(&runs_dir, &named)).await?;
        match &self.fleet {
            Some(fleet) => self.start_in_fleet(fleet, requested, &run).await?,
            None => {
                let permit = self.local.acquire(&run)?;
                let setup = self.setup(requested, &run).await?;
                self.local.begin(permit, setup, None).await?;
            }
        }
        Ok(run)
    }

    async fn resume(&self, run: &RunId, budget_usd: Option<Money>) -> Result<(), AppError> {
        let Some((record, state)) = self.known(run).await? else { return Err(unknown(run)) };
        match (&record.fleet, &self.fleet) {
            (None, _) => self.resume_local_run(record, state, budget_usd).await,
            (Some(_), Some(fleet)) => {
                fleet.resume(Arc::clone(&self.validator), record, budget_usd).await
            }
            (Some(namespace), None) => Err(fleet_not_configured(run, namespace)),
        }
    }

    async fn cancel(&self, run: &RunId) -> Result<(), AppError> {
        if self.local.cancel(run) {
            return Ok(());
        }
        let known = self.known(run).await?;
        let record = known.as_ref().map(|(record, _)| record);
        match (&known, &self.fleet) {
            (Some((RunRecord { fleet: None, .. }, RunState::Running)), _) => {
                Err(AppError::conflict(format!(
                    "run {run} is active in another process: stop it there, with Ctrl-C for example"
                )))
            }
            (Some((RunRecord { fleet: None, lane, .. }, _)), _) => {
                let batches = lane.is_batched().then(|| {
                    format!(
                        "; cancel batches that it left at the provider with: juror cancel {run}"
                    )
                });
                let batches = batches.unwrap_or_default();
                Err(AppError::conflict(format!(
                    "run {run} is not running; nothing to cancel{batches}"
                )))
            }
            (_, Some(fleet)) => fleet.cancel(&self.validator, run, record).await,
            (Some((RunRecord { fleet: Some(namespace), .. }, _)), None) => {
                Err(fleet_not_configured(run, namespace))
            }
            (None, None) => Err(unknown(run)),
        }
    }

    fn is_cancelling(&self, run: &RunId) -> bool {
        self.local.is_cancelling(run)
            || self.fleet.as_ref().is_some_and(|fleet| fleet.is_cancelling(run))
    }

    fn defaults(&self) -> RequestDefaults {
        self.validator.defaults()
    }

    async fn queued_run(&self, run: &RunId) -> Option<QueuedRun> {
        self.fleet.as_ref()?.queued_run(self.validator.settings(), run).await
    }

    fn datasets(&self) -> Vec<String> {
        self.validator.datasets()
    }
}

/// Runs work that blocks between its awaits, such as reading a journal, on a thread for it.
async fn block_on_thread<T: Send + 'static>(
    work: impl Future<Output = Result<T, AppError>> + Send + 'static,
) -> Result<T, AppError> {
    let runtime = Handle::current();
    spawn_blocking_result(move || runtime.block_on(work)).await
}

/// Runs blocking work on a thread for it, and returns its result.
async fn spawn_blocking_result<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    let worked = spawn_blocking(work).await;
    worked.map_err(|error| AppError::internal(format!("a blocking task failed: {error}")))?
}

fn unknown(run: &RunId) -> AppError {
    AppError::not_found(format!("there is no run {run} in the server's runs directory"))
}

fn fleet_not_configured(run: &RunId, namespace: &str) -> AppError {
    AppError::conflict(format!(
        "run {run} belongs to the fleet {namespace}, and this server has no fleet: start it with \
         --broker and --redis, or use juror cancel and juror retry"
    ))
}
