//! Reasons for which a job ends without a result.

use juror_ledger::error::LedgerError;

/// Reason that a job has no result yet. The job is requeued, and paid results are kept.
#[derive(Debug, thiserror::Error)]
pub enum Interruption {
    /// The worker is stopping.
    #[error("the worker is stopping")]
    Stopping,
    /// No call of this run can succeed until a person acts.
    #[error("{0}")]
    Paused(String),
    /// It cannot be judged here, or the ledger has no record of its run's budget.
    #[error("{0}")]
    UnknownRun(String),
    /// The job waited for as long as a delivery may be held.
    #[error("the job has waited for as long as it may at one go")]
    WaitTimeout,
    /// Another worker has claimed the job.
    #[error("another worker has the job in hand")]
    ClaimedElsewhere,
    /// Another worker took the job over.
    #[error("another worker has taken the job over")]
    ClaimLost,
    /// The ledger was unavailable while the job waited for its call, and may know the job's result
    /// now.
    #[error("the ledger was away while the job waited for its call")]
    LedgerOutage,
    /// A file of the job is not available here, but another worker may have it.
    #[error("{0}")]
    FileNotHere(String),
    /// Its code has to be rendered, and this worker has no renderer.
    #[error("its code is drawn by workers that have a browser")]
    NotDrawnHere,
    /// The ledger cannot be used, so nothing may be spent or published.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}
