//! The trait by which a worker learns what the run of a job is, and what becomes of jobs that cannot
//! be judged now.

use crate::context::Context;
use async_trait::async_trait;
use juror_ledger::error::LedgerError;
use juror_types::{id::RunId, job::Job};
use std::sync::Arc;

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

    /// Whether jobs that cannot be judged now are held back, for later or for other workers. Where
    /// nobody else can go on, the worker ends with what is in their way.
    fn holds_jobs(&self) -> bool {
        true
    }
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
