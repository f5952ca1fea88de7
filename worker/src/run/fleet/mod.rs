//! Jobs of many runs: the trait by which a worker learns what the run of a job is, and what becomes
//! of jobs that cannot be judged now.

mod cancelled;
mod delivery;
mod in_progress;
mod warn_once;

pub(crate) use delivery::work;

use crate::context::Context;
use async_trait::async_trait;
use in_progress::InHand;
use juror_ledger::{error::LedgerError, store::Store};
use juror_types::{
    id::{OwnerId, RunId},
    job::Job,
};
use std::sync::Arc;
use warn_once::WarnOnce;

/// A source of the runs' states, as far as this worker must know them.
#[async_trait]
pub trait RunStatusProvider: Send + Sync {
    /// State of the job's run now, or a moment ago.
    async fn run_state(&self, job: &Job) -> Result<WorkerRunState, LedgerError>;

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
}

impl FleetWork {
    /// Runs stand as `run_states` says; jobs of cancelled runs are ended in `store`, claimed by
    /// `owner`.
    pub fn new(
        run_states: Arc<dyn RunStatusProvider>,
        store: Arc<dyn Store>,
        owner: OwnerId,
    ) -> Self {
        Self { run_states, store, owner, in_progress: InHand::default(), told: WarnOnce::default() }
    }
}

#[cfg(test)]
pub(crate) mod tests;
