//! The trait by which runs are started on request.

use crate::{
    error::AppError,
    request::{QueuedRun, RequestDefaults, RunEstimate, RunSpecification},
};
use async_trait::async_trait;
use juror_types::{id::RunId, usage::Money};

/// Estimates, begins, continues and cancels runs.
#[async_trait]
pub trait RunLauncher: Send + Sync {
    /// Estimate of such a run. Asks no judge and costs nothing.
    async fn estimate(&self, asked: &RunSpecification) -> Result<RunEstimate, AppError>;

    /// Begins a run, which goes on by itself; answers its name as soon as it has one and everything
    /// that can be checked without spending is checked.
    async fn start(&self, asked: &RunSpecification) -> Result<RunId, AppError>;

    /// Goes on with a run that has jobs left to score, in a new round; a budget takes the place of
    /// the one that it has.
    async fn resume(&self, run: &RunId, budget_usd: Option<Money>) -> Result<(), AppError>;

    /// Asks a run to stop and returns at once: calls in flight are finished, nothing new is begun.
    /// It can be resumed.
    async fn cancel(&self, run: &RunId) -> Result<(), AppError>;

    /// True if a running run was asked to stop here.
    fn is_cancelling(&self, run: &RunId) -> bool;

    /// Values that a request need not name.
    fn defaults(&self) -> RequestDefaults;

    /// A fleet's record of a run of which nothing is in the runs directory yet; none if it knows
    /// none, or cannot be asked now.
    async fn awaited(&self, run: &RunId) -> Option<QueuedRun>;

    /// Datasets that may be named, each as [`RunSpecification::dataset`] names it, in order; at
    /// most some hundred of them.
    fn datasets(&self) -> Vec<String>;
}
