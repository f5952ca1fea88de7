//! Begins runs where they belong: in this process, or in the fleet.

use super::{
    desk::{Desk, refusal},
    fleet::FleetRuns,
    local::LocalRuns,
    quote::quote,
};
use crate::{asked::new_run_id, commands::run, fleet::KEEPS_NO_INPUTS, session::Session};
use async_trait::async_trait;
use juror_aggregator::journal::{JournalError, check_vacant};
use juror_common::{id::RunId, run::RunRecord, shutdown::Shutdown, usage::Money};
use juror_server::{
    catalog::{Catalog, RunState},
    starter::{AskedRun, AwaitedRun, Refusal, RequestDefaults, RequestField, RunEstimate, Starter},
    turns::Turns,
};
use std::{sync::Arc, time::Duration};
use tokio::{task::spawn_blocking, time::timeout};
use tokio_util::task::TaskTracker;

/// So many datasets are read at once to estimate runs, and so many requests wait for that.
const ESTIMATES_AT_ONCE: usize = 2;
const ESTIMATES_IN_LINE: usize = 8;

/// Whoever asks for an estimate does not wait longer.
const LONGEST_ESTIMATE: Duration = Duration::from_secs(60);

/// Begins runs by the settings of this process.
pub struct HouseStarter {
    desk: Arc<Desk>,
    local: Arc<LocalRuns>,
    /// None without a fleet in the settings.
    fleet: Option<FleetRuns>,
    estimates: Turns,
    tasks: TaskTracker,
}

impl HouseStarter {
    /// Nothing goes on yet; all runs stop when `shutdown` says so.
    pub fn new(desk: Desk, shutdown: &Shutdown, quiet: bool) -> Self {
        let settings = desk.settings();
        let at_once = settings.serve.runs_at_once;
        let has_fleet = settings.fleet.broker.is_some() && settings.fleet.redis.is_some();
        Self {
            local: Arc::new(LocalRuns::new(at_once, shutdown.clone(), quiet)),
            fleet: has_fleet.then(|| FleetRuns::new(shutdown.clone(), quiet)),
            estimates: Turns::new(ESTIMATES_AT_ONCE, ESTIMATES_IN_LINE),
            tasks: TaskTracker::new(),
            desk: Arc::new(desk),
        }
    }

    /// Waits until every run has ended that was begun here. Call after the shutdown is given.
    pub async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.local.ended().await;
        if let Some(fleet) = &self.fleet {
            fleet.ended().await;
        }
    }

    async fn session(&self, asked: &AskedRun, run: &RunId) -> Result<Session, Refusal> {
        let (desk, asked, run) = (Arc::clone(&self.desk), asked.clone(), run.clone());
        at_leisure(move || desk.session(&asked, &run)).await
    }

    /// The record and the state of a run that has a directory here.
    async fn known(&self, run: &RunId) -> Result<Option<(RunRecord, RunState)>, Refusal> {
        let (runs_dir, run) = (self.desk.settings().run.runs_dir.clone(), run.clone());
        at_leisure(move || {
            let catalog = Catalog::new(runs_dir);
            match catalog.files(&run) {
                Ok(files) => Ok(Some((files.record().clone(), catalog.listed(&files).state))),
                Err(JournalError::Missing { directory }) => match check_vacant(&directory) {
                    Ok(()) => Ok(None),
                    Err(JournalError::Occupied { .. }) => Err(Refusal::Conflict(format!(
                        "run_id {run}: a file or folder of this name is in the runs directory and \
                         is no run; take another run_id"
                    ))),
                    Err(error) => Err(Refusal::Broken(error.to_string())),
                },
                Err(error) => Err(Refusal::Broken(error.to_string())),
            }
        })
        .await
    }

    async fn start_in_fleet(
        &self,
        fleet: &FleetRuns,
        asked: &AskedRun,
        run: &RunId,
    ) -> Result<(), Refusal> {
        let limits = [
            (RequestField::Rpm, asked.rpm.is_some()),
            (RequestField::Tpm, asked.tpm.is_some()),
            (RequestField::MaxConcurrency, asked.max_concurrency.is_some()),
        ];
        if let Some((field, _)) = limits.into_iter().find(|(_, is_set)| *is_set) {
            return Err(Refusal::of_field(
                field,
                "runs are judged by a fleet, whose workers have limits of their own: leave it out",
            ));
        }
        let session = self.session(asked, run).await?;
        if session.settings.run.keep_inputs {
            return Err(Refusal::of_field(RequestField::KeepInputs, KEEPS_NO_INPUTS));
        }
        fleet.start(session, run).await
    }

    async fn resume_here(
        &self,
        record: RunRecord,
        state: RunState,
        budget: Option<Money>,
    ) -> Result<(), Refusal> {
        let run = &record.run_id;
        match state {
            RunState::Running => {
                return Err(Refusal::Conflict(format!("run {run} goes on already")));
            }
            RunState::Complete => {
                return Err(Refusal::Conflict(format!(
                    "run {run} is complete: every job is scored"
                )));
            }
            RunState::Damaged => {
                return Err(Refusal::Conflict(format!(
                    "run {run} is damaged: its page says where; mend or remove its folder"
                )));
            }
            RunState::Incomplete => {}
        }
        let place = self.local.place(run)?;
        let (desk, known) = (Arc::clone(&self.desk), record.clone());
        let session = at_leisure(move || desk.resumed(&known, budget)).await?;
        let record = run::record(&session, run, Some(&record));
        self.local.begin(place, session, record, true).await
    }
}

#[async_trait]
impl Starter for HouseStarter {
    async fn estimate(&self, asked: &AskedRun) -> Result<RunEstimate, Refusal> {
        let turn = self.estimates.take().await.ok_or_else(|| {
            let reason = "too many runs are being estimated already; try again when fewer are";
            Refusal::Unavailable(reason.to_owned())
        })?;
        let (desk, asked) = (Arc::clone(&self.desk), asked.clone());
        // Reading goes on to its end even if nobody waits for it, and keeps its turn meanwhile.
        let estimating = self.tasks.spawn(async move {
            let _turn = turn;
            let run = RunId::new("estimate");
            let session = at_leisure(move || desk.session(&asked, &run)).await?;
            quote(&session).await.map_err(refusal)
        });
        match timeout(LONGEST_ESTIMATE, estimating).await {
            Ok(estimated) => estimated.map_err(|error| Refusal::Broken(error.to_string()))?,
            Err(_) => Err(Refusal::Unavailable(format!(
                "estimating this takes longer than {} seconds: juror estimate has more patience",
                LONGEST_ESTIMATE.as_secs()
            ))),
        }
    }

    async fn start(&self, asked: &AskedRun) -> Result<RunId, Refusal> {
        self.desk.check_budget(asked.enable_llm_judge, asked.budget_usd)?;
        let run = asked.run_id.clone().unwrap_or_else(|| new_run_id(""));
        if self.known(&run).await?.is_some() {
            return Err(Refusal::NameTaken(run));
        }
        match &self.fleet {
            Some(fleet) => self.start_in_fleet(fleet, asked, &run).await?,
            None => {
                let place = self.local.place(&run)?;
                let session = self.session(asked, &run).await?;
                let record = session.record(run.clone());
                self.local.begin(place, session, record, false).await?;
            }
        }
        Ok(run)
    }

    async fn resume(&self, run: &RunId, budget_usd: Option<Money>) -> Result<(), Refusal> {
        let Some((record, state)) = self.known(run).await? else { return Err(unknown(run)) };
        match (&record.fleet, &self.fleet) {
            (None, _) => self.resume_here(record, state, budget_usd).await,
            (Some(_), Some(fleet)) => fleet.resume(&self.desk, record, budget_usd).await,
            (Some(namespace), None) => Err(elsewhere(run, namespace)),
        }
    }

    async fn cancel(&self, run: &RunId) -> Result<(), Refusal> {
        if self.local.cancel(run) {
            return Ok(());
        }
        let known = self.known(run).await?;
        let record = known.as_ref().map(|(record, _)| record);
        match (&known, &self.fleet) {
            (Some((RunRecord { fleet: None, .. }, RunState::Running)), _) => {
                Err(Refusal::Conflict(format!(
                    "another process works on run {run}: stop it there, by Ctrl-C, say"
                )))
            }
            (Some((RunRecord { fleet: None, .. }, _)), _) => {
                Err(Refusal::Conflict(format!("run {run} does not go on")))
            }
            (_, Some(fleet)) => fleet.cancel(&self.desk, run, record).await,
            (Some((RunRecord { fleet: Some(namespace), .. }, _)), None) => {
                Err(elsewhere(run, namespace))
            }
            (None, None) => Err(unknown(run)),
        }
    }

    fn is_cancelling(&self, run: &RunId) -> bool {
        self.local.is_cancelling(run)
            || self.fleet.as_ref().is_some_and(|fleet| fleet.is_cancelling(run))
    }

    fn defaults(&self) -> RequestDefaults {
        self.desk.defaults()
    }

    async fn awaited(&self, run: &RunId) -> Option<AwaitedRun> {
        self.fleet.as_ref()?.awaited(self.desk.settings(), run).await
    }

    fn datasets(&self) -> Vec<String> {
        self.desk.datasets()
    }
}

/// Reads what takes a while, without holding others up.
async fn at_leisure<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let worked = spawn_blocking(work).await;
    worked.map_err(|error| Refusal::Broken(format!("the work broke off: {error}")))?
}

fn unknown(run: &RunId) -> Refusal {
    Refusal::Unknown(format!("there is no run {run} here"))
}

fn elsewhere(run: &RunId, namespace: &str) -> Refusal {
    Refusal::Conflict(format!(
        "run {run} is of the fleet {namespace}, and this server knows no fleet: start it with \
         --broker and --redis, or use juror cancel and juror retry"
    ))
}
