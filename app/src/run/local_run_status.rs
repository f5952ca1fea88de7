//! Status of a local run.

use async_trait::async_trait;
use juror_ledger::error::LedgerError;
use juror_types::{id::RunId, job::Job};
use juror_worker::{
    run_context::RunContext,
    worker_role::{RunStatusProvider, WorkerRunState},
};
use std::sync::{Arc, OnceLock};

/// A run that is open until it is paused. A pause ends its worker, which is the only one.
pub struct LocalRunStatus {
    context: Arc<RunContext>,
    pause_reason: OnceLock<String>,
}

impl LocalRunStatus {
    /// A state of the run whose jobs are judged with this context.
    pub fn new(context: Arc<RunContext>) -> Self {
        Self { context, pause_reason: OnceLock::new() }
    }

    /// Reason of its pause, if it is paused.
    pub fn pause_reason(&self) -> Option<String> {
        self.pause_reason.get().cloned()
    }
}

#[async_trait]
impl RunStatusProvider for LocalRunStatus {
    async fn run_state(&self, _: &Job) -> Result<WorkerRunState, LedgerError> {
        Ok(WorkerRunState::Open(Arc::clone(&self.context)))
    }

    async fn shard_context(&self, _: &RunId) -> Result<Option<Arc<RunContext>>, LedgerError> {
        Ok(Some(Arc::clone(&self.context)))
    }

    async fn pause(&self, _: &RunId, reason: &str) -> Result<(), LedgerError> {
        self.pause_reason.get_or_init(|| reason.to_owned());
        self.context.shutdown.drain.cancel();
        Ok(())
    }

    fn holds_jobs(&self) -> bool {
        false
    }
}
