//! Another round of a fleet's run, about to be published: which of its jobs are sent again, and
//! what they may cost.

use super::{budget_cap::Cap, job_rounds::job_rounds, publish::Opening};
use crate::{
    error::AppError,
    run::{run_request::RunInvocation, session::Session},
};
use futures_util::future::BoxFuture;
use juror_analysis::fold::{Fold, Rounds};
use juror_journal::journal::RunFiles;
use juror_ledger::redis::RedisLedger;
use juror_types::{id::RunId, run::RunRecord, usage::Money};
use std::sync::Arc;

/// Jobs to publish again, and the terms.
pub struct RetryPlan {
    /// The run.
    pub session: Session,
    /// The run, as it is to be known.
    pub record: RunRecord,
    /// Progress of each of its jobs.
    pub rounds: Arc<Rounds>,
    /// Its budget.
    pub cap: Cap,
    /// Cost of the results in its journal.
    spent: Money,
}

impl RetryPlan {
    /// Takes the record of the run's directory, if there is one, unless Redis has one. `asked` says
    /// what the run may cost from now on, if that changes.
    pub fn of<'a>(
        backend: &'a RedisLedger,
        asked: &'a RunInvocation<'_>,
        run: &'a RunId,
        here: Option<RunRecord>,
    ) -> BoxFuture<'a, Result<Self, AppError>> {
        Box::pin(async move {
            let status = backend.run_status(run).await.map_err(AppError::from)?;
            let told = status.as_ref().and_then(|status| status.progress.as_ref());
            let told_scored = told.map_or(0, |told| told.scored);
            let is_here = here.is_some();
            let Some(known) = status.map(|status| status.record).or(here) else {
                let settings = asked.settings()?;
                return Err(AppError::not_found(format!(
                    "there is no run {run} in {}, and the fleet {} knows none either",
                    settings.run.runs_dir.display(),
                    settings.fleet.namespace
                )));
            };
            let mut session = asked.session(run, Some(&known))?;
            let cap = Cap::of(backend, run, asked.budget_usd, known.budget_usd).await?;
            session.settings.budget.run_usd = cap.now;
            let fold = match is_here {
                true => {
                    Some(Fold::of_journal(&RunFiles::open(&session.settings.run.runs_dir, run)?)?)
                }
                false => None,
            };
            let mut rounds = job_rounds(backend, run, fold.as_ref()).await?;
            // It is not known which the aggregator has, so if more are stored, all of them are sent
            // for.
            if !is_here && told_scored >= rounds.scored() {
                rounds.trust_journal();
            }
            // Lest an emptied Redis open the run with its whole budget.
            let spent = fold.map_or(Money::ZERO, |fold| fold.spent().cost);
            // What a cancellation left out is published now.
            let RunRecord { deadline, lane, .. } = session.record(run.clone());
            let record =
                RunRecord { budget_usd: cap.now, published: None, deadline, lane, ..known };
            Ok(Self { session, record, rounds: Arc::new(rounds), cap, spent })
        })
    }

    /// State in which its jobs are published.
    pub fn opening(&self) -> Opening {
        Opening::Again { rounds: Arc::clone(&self.rounds), spent: self.spent }
    }
}
