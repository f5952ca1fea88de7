//! Plan of another round of a fleet's run: jobs to publish again, and their budget.

use super::{
    run_changes::{continued_cap, describe_record_changes},
    run_to_publish::{Opening, RunToPublish},
};
use crate::{
    error::AppError,
    run::{resume_input_changes::refuse_changed_inputs, run_setup_request::RunSetupRequest},
};
use futures_util::future::BoxFuture;
use juror_analysis::fold::{Fold, Rounds};
use juror_journal::journal::RunFiles;
use juror_ledger::redis::RedisLedger;
use juror_types::{id::RunId, run::RunRecord, usage::Money};
use std::sync::Arc;

/// Plan of a retry.
pub struct RetryPlan {
    /// The run, ready to publish its jobs again.
    pub run: RunToPublish,
    /// Progress of each job.
    pub rounds: Arc<Rounds>,
}

impl RetryPlan {
    /// The plan for a run, by its record in Redis, else `local_record`, the record of its directory.
    /// `setup_request` may change its budget.
    pub fn for_run<'a>(
        backend: &'a RedisLedger,
        setup_request: &'a RunSetupRequest<'_>,
        run: &'a RunId,
        local_record: Option<RunRecord>,
    ) -> BoxFuture<'a, Result<Self, AppError>> {
        Box::pin(async move {
            let status = backend.run_status(run).await?;
            let progress = status.as_ref().and_then(|status| status.progress.as_ref());
            let reported_scores = progress.map_or(0, |progress| progress.counts.scored);
            let has_directory = local_record.is_some();
            let Some(known) = status.map(|status| status.record).or(local_record) else {
                let settings = setup_request.settings()?;
                return Err(AppError::not_found(format!(
                    "run {run} is unknown in {} and in fleet {}",
                    settings.run.runs_dir.display(),
                    settings.fleet.namespace
                )));
            };
            let setup = setup_request.setup(run, Some(&known))?;
            let given = setup_request.budget_usd;
            let (budget_usd, change) = continued_cap(backend, run, given, known.budget_usd).await?;
            let fold = match has_directory {
                true => {
                    let files = RunFiles::open(&setup.settings.run.runs_dir, run)?;
                    refuse_changed_inputs(&files, &setup)?;
                    Some(Fold::from_journal(&files)?)
                }
                false => None,
            };
            let mut rounds = job_rounds(backend, run, fold.as_ref()).await?;
            // It is unknown which results the aggregator lacks, so all are published again if it
            // reports fewer than are stored.
            if !has_directory && reported_scores >= rounds.scored() {
                rounds.trust_journal();
            }
            let rounds = Arc::new(rounds);
            // An emptied Redis must not open the run with its whole budget.
            let spent = fold.map_or(Money::ZERO, |fold| fold.spent().cost);
            let opening = Opening::Retried { rounds: Arc::clone(&rounds), spent };
            // Jobs that a cancellation left unpublished are published now.
            let RunRecord { deadline, lane, .. } = setup.record(run.clone());
            let record = RunRecord { budget_usd, published: None, deadline, lane, ..known.clone() };
            let changes =
                change.into_iter().chain(describe_record_changes(&known, &record)).collect();
            Ok(Self { run: RunToPublish { setup, record, opening, changes }, rounds })
        })
    }

    /// True if every job is scored, and its result is in the journal.
    pub fn is_complete(&self) -> bool {
        self.rounds.missing() == 0 && self.rounds.scored() >= self.run.setup.plan.jobs
    }
}

/// Progress of each job, from the journal if it is on this machine and from Redis: the journal may
/// lag behind or have lost results, and results in Redis expire.
pub async fn job_rounds(
    backend: &RedisLedger,
    run: &RunId,
    journal: Option<&Fold>,
) -> Result<Rounds, AppError> {
    let mut rounds = journal.map(Fold::rounds).unwrap_or_default();
    let record = |job, round, outcome| rounds.note(&job, round, outcome);
    backend.for_each_outcome(run, record).await?;
    Ok(rounds)
}
