//! Errors that end a worker.

use crate::interruption::Interruption;
use juror_ledger::error::LedgerError;
use juror_queue::QueueError;
use tokio::task::JoinError;

/// Error that ends a worker. Its jobs in progress were requeued.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The ledger or the queue gave up.
    #[error(transparent)]
    Interrupted(#[from] Interruption),
    /// The queue gave up.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A job's task ended by a panic: a defect of this program.
    #[error("a job's task panicked, which is a bug in juror: {0}")]
    Task(#[from] JoinError),
}

impl From<LedgerError> for WorkerError {
    fn from(error: LedgerError) -> Self {
        Self::Interrupted(error.into())
    }
}
