//! Contexts of a fleet's runs, from their records and the worker's settings.

use crate::{
    batch_resources::BatchResources, environment::Environment, error::AppError, judge, rubrics,
    settings::Settings, worker_resources::WorkerResources,
};
use juror_image::PreparationPool;
use juror_ledger::{admission::Admission as _, error::LedgerError, redis::RedisLedger};
use juror_types::{
    id::RunId,
    rubric::{Rubric, Success},
    run::{RunRecord, SettingDifference, StageCommands, StageTerms},
    shutdown::Shutdown,
};
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
    /// A factory that takes endpoint, key, prices, stage commands and bounds from these settings.
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
    ///
    /// # Errors
    /// A run that began with other stage commands than this worker's, or whose rubric or judge it
    /// cannot use.
    pub async fn make(&self, record: &RunRecord) -> Result<RunContext, ContextError> {
        self.check_commands(record).await?;
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
        let context = RunContext {
            run_deadline: RunDeadline::in_record(record),
            batches: lane.map(Arc::new),
            ..context
        };
        Ok(match &record.stages {
            Some(terms) => with_thresholds(context, terms),
            None => context,
        })
    }

    /// The context for collecting the batches of a cancelled run.
    pub async fn make_for_cancelled(&self, record: &RunRecord) -> Result<RunContext, ContextError> {
        let context = self.make(record).await?;
        let batches = context.batches.as_deref().map(BatchLane::for_cancelled).map(Arc::new);
        Ok(RunContext { batches, ..context })
    }

    /// Refuses a run that began with other commands than this worker's: the same item could have
    /// another outcome. The first worker of a run records its own.
    async fn check_commands(&self, record: &RunRecord) -> Result<(), ContextError> {
        let Some(terms) = &record.stages else { return Ok(()) };
        let own = StageCommands { render_command: None, ..self.settings.stages.commands() };
        let recorded = match terms.commands.pending {
            true => self.first_commands(&record.run_id, &own).await?,
            false => Some(terms.commands.clone()),
        };
        let difference = recorded.and_then(|recorded| recorded.differences(&own).next());
        match difference {
            None => Ok(()),
            Some(SettingDifference { setting, known, requested }) => {
                Err(ContextError::Unjudgeable(AppError::conflict(format!(
                    "{setting} is {requested} on this worker, but {known} in the run: start all \
                     workers with the same [stages], or begin a new run"
                ))))
            }
        }
    }

    /// Commands of the worker that judges a run first: this one's, unless another was faster.
    async fn first_commands(
        &self,
        run: &RunId,
        own: &StageCommands,
    ) -> Result<Option<StageCommands>, LedgerError> {
        let (retrying, redis) = (self.backend(), self.backend().backend());
        retrying.query(&|| Box::pin(redis.record_stage_commands(run, own))).await?;
        let status = retrying.query(&|| Box::pin(redis.run_status(run))).await?;
        Ok(status.and_then(|status| status.record.stages).map(|terms| terms.commands))
    }

    fn rubric_and_judge(
        &self,
        record: &RunRecord,
    ) -> Result<(Rubric, Option<Arc<JudgeSetup>>), AppError> {
        let (rubric, _) = rubrics::recorded(record)?;
        let Some(priced_judge) = judge::recorded(&self.settings, record)? else {
            return Ok((rubric, None));
        };
        let Self { settings, environment, .. } = self;
        let setup = JudgeSetup {
            image_preparation: self.image_preparation.clone(),
            ceiling: Arc::clone(&self.ceiling),
            // The key is read for each context, so that a corrected one is found.
            ..judge::setup_with_key(settings, environment, &rubric, &priced_judge)?
        };
        Ok((rubric, Some(Arc::new(setup))))
    }
}

/// The context with the thresholds of its run.
fn with_thresholds(context: RunContext, terms: &StageTerms) -> RunContext {
    let success = terms.correctness.map_or(context.rubric.success, Success::Above);
    RunContext { token_accuracy: terms.token_accuracy, success, ..context }
}
