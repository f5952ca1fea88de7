//! Contexts of a fleet's runs, from their records and the worker's settings.

use crate::{
    batch_resources::BatchResources, environment::Environment, error::AppError, judge, rubrics,
    settings::Settings, worker_resources::WorkerResources,
};
use juror_image::PreparationPool;
use juror_ledger::{admission::Admission as _, error::LedgerError, redis::RedisLedger};
use juror_types::{rubric::Rubric, run::RunRecord, shutdown::Shutdown};
use juror_worker::{
    batch_lane::BatchLane,
    per_second_limiter::PerSecondLimiter,
    retrying_ledger::RetryingLedger,
    run_context::{JudgeSetup, RunContext},
    run_deadline::RunDeadline,
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

/// Factory of contexts, with the worker's part of them.
pub struct ContextFactory {
    settings: Settings,
    environment: Environment,
    resources: WorkerResources<RetryingLedger<RedisLedger>>,
    batches: BatchResources,
    /// Shutdown of all of the worker's runs.
    shutdown: Shutdown,
    image_preparation: PreparationPool,
    ceiling: Arc<PerSecondLimiter>,
}

impl ContextFactory {
    /// A factory that takes endpoint, key, prices, stage commands, thresholds and bounds from these
    /// settings.
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
            image_preparation: judge::image_preparation(),
            ceiling,
        })
    }

    /// Redis ledger of the fleet.
    pub fn backend(&self) -> &RetryingLedger<RedisLedger> {
        &self.resources.backend
    }

    pub fn is_stopping(&self) -> bool {
        self.shutdown.drain.is_cancelled()
    }

    /// The context of a run.
    pub async fn make(&self, record: &RunRecord) -> Result<RunContext, ContextError> {
        let (rubric, judge) = self.rubric_and_judge(record).map_err(ContextError::Unjudgeable)?;
        if let Some(judge) = &judge {
            let limits = judge::limits(&self.settings, Some(&judge.terms.facts));
            self.backend().set_limits(&judge.endpoint, limits).await?;
            let counting = self.backend().token_counting(&judge.endpoint).await?;
            if let Some(rule) = counting.rule {
                tracing::info!(
                    ?rule,
                    "tokens are counted by the rule that another process has learned"
                );
            }
            judge.apply_shared(counting);
        }
        let lane = self.batches.lane(&self.settings, record, judge.as_deref()).await?;
        let context = self.resources.context(&self.settings, rubric, judge, self.shutdown.child());
        let batches = lane.map(Arc::new);
        Ok(RunContext { run_deadline: RunDeadline::in_record(record), batches, ..context })
    }

    /// The context for collecting the batches of a cancelled run.
    pub async fn make_for_cancelled(&self, record: &RunRecord) -> Result<RunContext, ContextError> {
        let context = self.make(record).await?;
        let batches = context.batches.as_deref().map(BatchLane::for_cancelled).map(Arc::new);
        Ok(RunContext { batches, ..context })
    }

    fn rubric_and_judge(
        &self,
        record: &RunRecord,
    ) -> Result<(Rubric, Option<Arc<JudgeSetup>>), AppError> {
        let (rubric, _) = rubrics::recorded(record)?;
        let Some(candidate) = judge::recorded(&self.settings, record)? else {
            return Ok((rubric, None));
        };
        // Read for each context, so that a corrected key is found.
        let key = judge::key(&self.settings, &self.environment)?;
        judge::require_key(&self.settings, key.as_ref())?;
        let setup = JudgeSetup {
            image_preparation: self.image_preparation.clone(),
            ceiling: Arc::clone(&self.ceiling),
            ..judge::setup(&self.settings, &self.environment, &rubric, &candidate, key)?
        };
        Ok((rubric, Some(Arc::new(setup))))
    }
}
