//! Jobs of many runs: the trait by which a worker learns what the run of a job is, and what becomes
//! of jobs that cannot be judged now.

mod batch_keeper;
mod cancelled;
mod delivery;
mod in_progress;
mod warn_once;

pub use batch_keeper::{BatchKeeper, KeeperSettings};
pub(crate) use delivery::work;

use crate::{context::Context, interruption::Interruption, worker_error::WorkerError};
use async_trait::async_trait;
use in_progress::InHand;
use juror_ledger::{error::LedgerError, store::Store};
use juror_types::{
    event::Events,
    id::{OwnerId, RunId},
    job::Job,
    shutdown::Shutdown,
};
use std::sync::Arc;
use warn_once::WarnOnce;

/// A source of the runs' states, as far as this worker must know them.
#[async_trait]
pub trait RunStatusProvider: Send + Sync {
    /// State of the job's run now, or a moment ago.
    async fn run_state(&self, job: &Job) -> Result<WorkerRunState, LedgerError>;

    /// Context that the shards of a run are worked on with; none while the run is paused or unknown.
    /// Batches of a cancelled run are cancelled, and what they have done is collected.
    async fn shard_context(&self, run: &RunId) -> Result<Option<Arc<Context>>, LedgerError>;

    /// Notes for all workers that no call of this run can succeed until a person does something.
    async fn pause(&self, run: &RunId, reason: &str) -> Result<(), LedgerError>;
}

/// State of a run.
#[derive(Clone)]
pub enum WorkerRunState {
    /// Its jobs are judged, with this context. Its `shutdown.drain` is given as soon as the run
    /// stands otherwise.
    Open(Arc<Context>),
    /// Its jobs are kept, and nobody is called for them, for this reason.
    Paused(String),
    /// Its jobs end untried.
    Cancelled,
    /// Unknown, or not as its job does, for this reason. Its jobs are kept: what knew it may come
    /// back.
    Unknown(String),
}

/// Needs of a worker that takes jobs of any run, beside their contexts.
pub struct FleetWork {
    run_states: Arc<dyn RunStatusProvider>,
    store: Arc<dyn Store>,
    owner: OwnerId,
    in_progress: InHand,
    told: WarnOnce,
    batches: Option<Box<BatchKeeper>>,
    draws: bool,
}

impl FleetWork {
    /// Runs stand as `run_states` says; jobs of cancelled runs are ended in `store`, claimed by
    /// `owner`.
    pub fn new(
        run_states: Arc<dyn RunStatusProvider>,
        store: Arc<dyn Store>,
        owner: OwnerId,
    ) -> Self {
        let (in_progress, told) = Default::default();
        Self { run_states, store, owner, in_progress, told, batches: None, draws: true }
    }

    /// With batches, which are kept in this way.
    pub fn with_batches(self, keeper: BatchKeeper) -> Self {
        Self { batches: Some(Box::new(keeper)), ..self }
    }

    /// Without a renderer: jobs whose code has to be drawn are left to other workers.
    pub fn without_drawing(self) -> Self {
        Self { draws: false, ..self }
    }

    /// Whether this worker has no means for a job that other workers may have.
    fn leaves_to_others(&self, job: &Job, context: &Context) -> bool {
        // Past the deadline it is skipped, which needs no drawing.
        let is_over = job.judge.is_some() && context.deadline_passed();
        !self.draws && job.needs_drawing() && !is_over
    }

    /// Prepares the work on batches.
    pub(crate) async fn begin_batches(&self) -> Result<(), WorkerError> {
        match &self.batches {
            Some(batches) => Ok(batches.begin().await.map_err(Interruption::from)?),
            None => Ok(()),
        }
    }

    /// Works on batches until the worker stops.
    pub(crate) async fn keep_batches(
        &self,
        events: &Events,
        shutdown: &Shutdown,
    ) -> Result<(), WorkerError> {
        match &self.batches {
            Some(batches) => batches.run(&*self.run_states, events, shutdown).await,
            None => Ok(()),
        }
    }

    /// Leaves batches to other workers.
    pub(crate) async fn resign_batches(&self) {
        if let Some(batches) = &self.batches {
            batches.resign().await;
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
