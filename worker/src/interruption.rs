//! Reasons for which a job ends without a result, and errors that end a worker.

use juror_ledger::error::LedgerError;
use juror_queue::QueueError;
use tokio::task::JoinError;

/// Reason that a job has no result yet. The job is requeued, and paid results are kept.
#[derive(Debug, thiserror::Error)]
pub enum Interruption {
    #[error("the worker is stopping")]
    Stopping,
    /// Calls of this run cannot succeed until a person acts.
    #[error("{0}")]
    Paused(String),
    /// A call of this run was refused, and its pause is about to be recorded.
    #[error("the judge refuses calls of the run")]
    Pausing,
    /// The job cannot be judged here, or the ledger has no record of its run's budget.
    #[error("{0}")]
    UnknownRun(String),
    #[error("the job waited for the maximum time of a delivery")]
    WaitTimeout,
    #[error("the job is claimed by another worker")]
    ClaimedElsewhere,
    #[error("another worker has taken over the job")]
    ClaimLost,
    /// The ledger was unavailable while the job waited for its call, and may know the job's result
    /// now.
    #[error("the ledger was unavailable while the job waited for its call")]
    LedgerOutage,
    /// A file of the job is not available here, but another worker may have it.
    #[error("{0}")]
    FileNotHere(String),
    #[error("its code must be rendered by a worker with a browser")]
    RenderingUnsupported,
    /// The ledger cannot be used, so nothing may be spent or published.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

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
