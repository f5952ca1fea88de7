//! Interface that gives a worker the state of a job's run, and the fate of jobs that cannot be
//! judged now. The fleet's implementation is `app/src/fleet/run_state_cache.rs`, that of one machine
//! `app/src/run/local_worker.rs`.

use crate::run_context::RunContext;
use async_trait::async_trait;
use juror_ledger::error::LedgerError;
use juror_types::{id::RunId, job::Job};
use std::sync::Arc;

/// A source of the states of runs, as far as a worker needs them.
#[async_trait]
pub trait RunStateProvider: Send + Sync {
    /// State of the job's run, possibly a moment old.
    async fn run_state(&self, job: &Job) -> Result<WorkerRunState, LedgerError>;

    /// Context for the shards of a run; `None` while the run is paused or unknown. For a cancelled
    /// run, its batches are cancelled and their finished rows collected.
    async fn shard_context(&self, run: &RunId) -> Result<Option<Arc<RunContext>>, LedgerError>;

    /// Pauses the run for all workers: no call of it can succeed until a person acts.
    async fn pause(&self, run: &RunId, reason: &str) -> Result<(), LedgerError>;

    /// True if jobs that cannot be judged now are held, for later or for other workers. Otherwise
    /// the worker ends with the reason.
    fn holds_jobs(&self) -> bool {
        true
    }
}

/// State of a run.
#[derive(Clone)]
pub enum WorkerRunState {
    /// Jobs are judged with this context. Its `shutdown.drain` is triggered once this state ends.
    Open(Arc<RunContext>),
    /// Jobs are held without calls: a call of the run was refused, and the pause is not recorded
    /// yet.
    Pausing,
    /// Jobs are held without calls, for this reason.
    Paused(String),
    /// Jobs end without an attempt.
    Cancelled,
    /// Unknown, or not the run that its job names, for this reason. Its jobs are held: the record
    /// may come back.
    Unknown(String),
}
