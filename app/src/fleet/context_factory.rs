//! Makes the context of a fleet's run: of its record, and of the worker's own settings.

use crate::{
    batch_lane::BatchResources,
    environment::Environment,
    error::AppError,
    judge, rubrics,
    settings::Settings,
    worker_resources::{WorkerResources, run_deadline},
};
use juror_ledger::{admission::Admission as _, error::LedgerError, redis::RedisLedger};
use juror_types::{rubric::Rubric, run::RunRecord, shutdown::Shutdown};
use juror_worker::{
    batch_lane::BatchLane,
    ceiling::Ceiling,
    context::{Context, JudgeSetup},
    image::Preparer,
    retrying_ledger::RetryingLedger,
};
use std::sync::Arc;

/// An error of making a context.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    /// This worker cannot judge the run.
    #[error("a worker cannot judge it: {0}")]
    Unjudgeable(AppError),
    /// The fleet's ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Everything of a context that is the worker's.
pub struct ContextFactory {
    settings: Settings,
    environment: Environment,
    resources: WorkerResources<RetryingLedger<RedisLedger>>,
    batches: BatchResources,
    /// Asks all of the worker's runs to stop.
    shutdown: Shutdown,
    preparer: Preparer,
    ceiling: Arc<Ceiling>,
}

impl ContextFactory {
    /// Endpoint, key, prices, stage commands, thresholds and bounds come from these settings.
    pub fn new(
        settings: Settings,
        environment: Environment,
        resources: WorkerResources<RetryingLedger<RedisLedger>>,
        batches: BatchResources,
        shutdown: Shutdown,
    ) -> Result<Self, AppError> {
        let ceiling = Arc::new(judge::ceiling(&settings)?);
        Ok(Self {
            settings,
            environment,
            resources,
            batches,
            shutdown,
            preparer: judge::preparer(),
            ceiling,
        })
    }

    /// The fleet's backend.
    pub fn backend(&self) -> &RetryingLedger<RedisLedger> {
        &self.resources.backend
    }

    /// True if the worker itself stops.
    pub fn is_stopping(&self) -> bool {
        self.shutdown.drain.is_cancelled()
    }

    /// The context of a run.
    pub async fn make(&self, record: &RunRecord) -> Result<Context, ContextError> {
        let (rubric, judge) = self.rubric_and_judge(record).map_err(ContextError::Unjudgeable)?;
        if let Some(judge) = &judge {
            let limits = judge::limits(&self.settings, Some(&judge.terms.facts));
            self.backend().set_limits(&judge.endpoint, limits).await?;
            let counting = self.backend().token_counting(&judge.endpoint).await?;
            if let Some(rule) = counting.rule {
                tracing::info!(?rule, "tokens are counted as another process has learned");
            }
            judge.adopt(counting);
        }
        let Shutdown { drain, now } = &self.shutdown;
        let shutdown = Shutdown { drain: drain.child_token(), now: now.clone() };
        let lane = self.batches.lane(&self.settings, record, judge.as_deref()).await?;
        let context = self.resources.context(&self.settings, rubric, judge, shutdown);
        let batches = lane.map(Arc::new);
        Ok(Context { run_deadline: run_deadline(record), batches, ..context })
    }

    /// The context that the batches of a cancelled run are collected with.
    pub async fn make_for_cancelled(&self, record: &RunRecord) -> Result<Context, ContextError> {
        let context = self.make(record).await?;
        let batches = context.batches.as_deref().map(BatchLane::for_cancelled).map(Arc::new);
        Ok(Context { batches, ..context })
    }

    fn rubric_and_judge(
        &self,
        record: &RunRecord,
    ) -> Result<(Rubric, Option<Arc<JudgeSetup>>), AppError> {
        let (rubric, _) = rubrics::recorded(record)?;
        let Some(candidate) = judge::recorded(&self.settings, record)? else {
            return Ok((rubric, None));
        };
        // Read anew for each context: a key that was mended is found.
        let key = judge::key(&self.settings, &self.environment)?;
        judge::require_key(&self.settings, key.as_ref())?;
        let setup = JudgeSetup {
            preparer: self.preparer.clone(),
            ceiling: Arc::clone(&self.ceiling),
            ..judge::setup(&self.settings, &self.environment, &rubric, &candidate, key)?
        };
        Ok((rubric, Some(Arc::new(setup))))
    }
}
