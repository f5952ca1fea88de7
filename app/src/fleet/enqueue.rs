//! A request to publish a run to a fleet: a new run, or one that is continued or changed.

use super::{
    publish::uploader,
    run_changes::{continued_cap, describe_record_changes},
    run_to_publish::{Opening, RunToPublish},
};
use crate::{
    error::AppError,
    reporting::{self, baseline::Baseline, recorded_gate::with_known_digest},
    reused_run_name::{LedgerPlace, refuse_reused_name},
    rubrics,
    run::{
        preflight::{known_run, refuse_blessed_name},
        resume_input_changes::refuse_changed_inputs,
        run_setup::{RunSetup, decision_terms, named_or_absolute},
        run_setup_request::RunSetupRequest,
    },
    settings::Settings,
};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use juror_journal::journal::RunFiles;
use juror_ledger::{
    budgets::ZoneChange,
    redis::{RedisLedger, RunStatus},
};
use juror_producer::fleet::change_budgets;
use juror_types::{id::RunId, lane::Lane, run::RunRecord};

/// A request for a run of a fleet.
pub struct EnqueueRequest<'a> {
    /// Requested run.
    pub setup_request: RunSetupRequest<'a>,
    /// Settings of the request.
    pub settings: &'a Settings,
    /// Bucket that files are uploaded to.
    pub upload: Option<String>,
    /// Deadline, if the request names one.
    pub deadline: Option<Timestamp>,
    /// Lane, if the request names one.
    pub lane: Option<Lane>,
    /// True if the request names a gate, a baseline or terms of the comparison.
    pub decides: bool,
    /// True if the run is followed to its end.
    pub follows: bool,
}

/// Changes of a published run.
#[derive(Default)]
pub struct RunChanges {
    /// A change of the time zone of budgets.
    pub zone: Option<ZoneChange>,
    /// Messages of the other changes.
    pub messages: Vec<String>,
}

impl EnqueueRequest<'_> {
    /// The fleet's status of a named run; none if the name is free.
    ///
    /// # Errors
    /// A run that cannot be continued.
    pub fn known<'a>(
        &'a self,
        backend: &'a RedisLedger,
        run: &'a RunId,
    ) -> BoxFuture<'a, Result<Option<RunStatus>, AppError>> {
        Box::pin(async move {
            let (runs_dir, namespace) =
                (&self.settings.run.runs_dir, &self.settings.fleet.namespace);
            let local_record = known_run(runs_dir, run)?;
            if local_record.as_ref().is_some_and(|record| record.fleet.is_none()) {
                return Err(AppError::conflict(format!(
                    "run {run} is a run of this machine, in {}: use another --run-id, or resume it \
                     with: juror run --resume {run}",
                    runs_dir.display()
                )));
            }
            let status = backend.run_status(run).await?;
            match (status, local_record) {
                (Some(status), _) if status.cancelled && !self.follows => {
                    Err(AppError::conflict(format!(
                        "run {run} was cancelled; follow it to its end with --wait, or judge its \
                         remaining jobs with: juror retry {run}"
                    )))
                }
                (Some(status), _) => Ok(Some(status)),
                (None, Some(_)) => Err(AppError::conflict(format!(
                    "run {run} has a directory in {}, but is no longer in the Redis of fleet \
                     {namespace}; judge its remaining jobs with: juror retry {run}",
                    runs_dir.display()
                ))),
                (None, None) if self.setup_request.dataset.is_none() => {
                    Err(AppError::not_found(format!(
                        "run {run} is unknown in fleet {namespace}; to start it, name its dataset too"
                    )))
                }
                (None, None) => {
                    refuse_blessed_name(runs_dir, run)?;
                    refuse_reused_name(backend, run, LedgerPlace::Fleet(namespace)).await?;
                    Ok(None)
                }
            }
        })
    }

    /// Requested setup, which must match that of a known run.
    pub fn setup(&self, run: &RunId, known: Option<&RunRecord>) -> Result<RunSetup, AppError> {
        let setup = self.setup_request.setup(run, known)?;
        self.check_upload(&setup, known)?;
        let runs_dir = &setup.settings.run.runs_dir;
        if known.is_some() && known_run(runs_dir, run)?.is_some() {
            refuse_changed_inputs(&RunFiles::open(runs_dir, run)?, &setup)?;
        }
        if self.follows
            && let Some(baseline) = Baseline::from_settings(&setup.settings)?
        {
            baseline.check(run, &setup.rubric.reference())?;
        }
        reporting::gate(&setup.settings, &setup.rubric, known)?;
        Ok(setup)
    }

    /// Checks that a run uploads to one place, which can be used.
    fn check_upload(&self, setup: &RunSetup, known: Option<&RunRecord>) -> Result<(), AppError> {
        let Some(place) = &self.upload else { return Ok(()) };
        match known {
            Some(known) if known.upload.as_ref() != Some(place) => {
                let before = known.upload.as_deref().unwrap_or("nowhere");
                Err(AppError::invalid(format!(
                    "run {} uploaded its files to {before}, not to {place}: omit --upload",
                    known.run_id
                )))
            }
            _ => uploader(place, setup).map(drop),
        }
    }

    /// Prepares a new run, or one of which not every job is published.
    pub fn prepare<'a>(
        &'a self,
        backend: &'a RedisLedger,
        run: &'a RunId,
        setup: RunSetup,
        known: Option<&'a RunStatus>,
    ) -> BoxFuture<'a, Result<RunToPublish, AppError>> {
        Box::pin(async move {
            let Some(known) = known else {
                return Ok(RunToPublish::new(setup, run, self.upload.clone()));
            };
            if known.retrying {
                return Err(AppError::conflict(format!(
                    "a retry of run {run} has not published every job again: wait for it, or, if it \
                     was stopped, continue with: juror retry {run}"
                )));
            }
            let (record, changes) = self.changed(backend, &known.record, &setup.settings).await?;
            let opening = Opening::Continued { published_before: known.published };
            Ok(RunToPublish { setup, record, opening, changes })
        })
    }

    /// Changes budget, deadline, lane and gate of a run that is completely published.
    pub fn change<'a>(
        &'a self,
        backend: &'a RedisLedger,
        known: &'a RunRecord,
    ) -> BoxFuture<'a, Result<RunChanges, AppError>> {
        Box::pin(async move {
            let settings = self.setup_request.settings_for(known)?;
            if self.decides {
                reporting::gate(&settings, &rubrics::recorded(known)?.0, Some(known))?;
            }
            let (record, messages) = self.changed(backend, known, &settings).await?;
            let mut zone = None;
            if self.setup_request.budget_usd.is_some() {
                zone = change_budgets(backend, &record, &self.settings.budget).await?;
            } else if record != *known {
                backend.update_record(&record).await?;
            }
            Ok(RunChanges { zone, messages })
        })
    }

    /// The record of a known run with the budget, deadline, lane and gate of the request, which
    /// `settings` has, and messages of the changes.
    async fn changed(
        &self,
        backend: &RedisLedger,
        known: &RunRecord,
        settings: &Settings,
    ) -> Result<(RunRecord, Vec<String>), AppError> {
        let run = &known.run_id;
        let given = self.setup_request.budget_usd;
        let (budget_usd, change) = continued_cap(backend, run, given, known.budget_usd).await?;
        let mut decided = known.clone();
        if self.decides {
            decided.decision = Some(with_known_digest(decision_terms(settings), Some(known)));
            decided.baseline = settings.run.baseline().map(named_or_absolute);
        }
        let record = RunRecord {
            budget_usd,
            deadline: self.deadline.or(known.deadline),
            lane: self.lane.unwrap_or(known.lane),
            ..decided
        };
        let messages = change.into_iter().chain(describe_record_changes(known, &record)).collect();
        Ok((record, messages))
    }
}
