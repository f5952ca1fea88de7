//! Why a worker could not go on.

use crate::interruption::Interruption;
use juror_queue::QueueError;
use tokio::task::JoinError;

/// Why a worker could not go on. Jobs in hand were given back.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The ledger or the queue gave up.
    #[error(transparent)]
    Interrupted(#[from] Interruption),
    /// The queue gave up.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A job's task ended by a panic: a defect of this program.
    #[error("a job's task broke off, which is a defect of this program: {0}")]
    Task(#[from] JoinError),
}
