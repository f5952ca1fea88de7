//! The trait for starting runs on request.

use crate::{
    error::AppError,
    run_request::{QueuedRun, RequestDefaults, RunEstimate, RunRequest},
};
use async_trait::async_trait;
use juror_types::{id::RunId, usage::Money};

/// Launcher that estimates, starts, resumes and cancels runs.
#[async_trait]
pub trait RunLauncher: Send + Sync {
    /// Estimates a run. Makes no call and costs nothing.
    async fn estimate(&self, request: &RunRequest) -> Result<RunEstimate, AppError>;

    /// Starts a run in the background. Returns its id once everything that costs nothing is
    /// checked.
    async fn start(&self, request: &RunRequest) -> Result<RunId, AppError>;

    /// Resumes a run with unscored jobs, in a new round; a budget replaces the run's.
    async fn resume(&self, run: &RunId, budget_usd: Option<Money>) -> Result<(), AppError>;

    /// Requests a run to stop and returns immediately: calls in flight are finished, and no more
    /// are started. The run can be resumed.
    async fn cancel(&self, run: &RunId) -> Result<(), AppError>;

    /// True if an active run was requested to stop by this process.
    fn is_cancelling(&self, run: &RunId) -> bool;

    /// Values for omitted fields of a request.
    fn defaults(&self) -> RequestDefaults;

    /// A fleet's record of a run without a run directory yet; `None` if it is unknown or the fleet
    /// is unavailable.
    async fn queued_run(&self, run: &RunId) -> Option<QueuedRun>;

    /// Names of datasets for [`RunRequest::dataset`], in order, at most a few hundred.
    fn datasets(&self) -> Vec<String>;
}
