//! The trait by which the aggregator reads and writes the fleet's backend.

use async_trait::async_trait;
use juror_ledger::{
    admission::{Admission, RunAccount},
    error::LedgerError,
    redis::{
        JournalCosts, LedgerState, Reconciliation, RedisLedger, RunProgress, RunStatus,
        RunsDirectory,
    },
};
use juror_types::{id::RunId, job::Job, outcome::JobResult};

/// The fleet's backend for the aggregator: runs, their money, and the ledger's state.
#[async_trait]
pub trait FleetBackend: Send + Sync {
    /// The known runs.
    async fn announced(&self) -> Result<Vec<RunId>, LedgerError>;

    /// Status of a run; none if it was never announced, or has expired.
    async fn status(&self, run: &RunId) -> Result<Option<RunStatus>, LedgerError>;

    /// Records the progress of a run.
    async fn record_progress(&self, run: &RunId, progress: &RunProgress)
    -> Result<(), LedgerError>;

    /// Registers the directory for the fleet's results. Returns the registered one, which is
    /// another if one was registered before, unless this one is to replace it.
    async fn claim_runs_directory(
        &self,
        directory: &RunsDirectory,
        take_over: bool,
    ) -> Result<RunsDirectory, LedgerError>;

    /// True if a dead job may be resent: it never started in its round. Each job is allowed a few
    /// times.
    async fn allow_resend(&self, job: &Job) -> Result<bool, LedgerError>;

    /// The ledger of a run; none if there is no record.
    async fn ledger(&self, run: &RunId) -> Result<Option<RunAccount>, LedgerError>;

    /// Presumes spent the leases that a complete run still holds.
    async fn close_leases(&self, run: &RunId) -> Result<(), LedgerError>;

    /// Presumes spent the leases of processes that are gone.
    async fn sweep(&self) -> Result<(), LedgerError>;

    /// State of the ledger on its server. `used_before` is true if it is known to have been in use.
    async fn ledger_state(&self, used_before: bool) -> Result<LedgerState, LedgerError>;

    /// True if the ledger has an account of a run.
    async fn has_account(&self, run: &RunId) -> Result<bool, LedgerError>;

    /// Books the part of these costs that the ledger has lost, and resumes admission if possible.
    async fn reconcile(&self, journal: &JournalCosts) -> Result<Reconciliation, LedgerError>;

    /// Restores lost results, so that their jobs are not judged again.
    async fn restore_results(&self, run: &RunId, results: &[JobResult]) -> Result<(), LedgerError>;
}

#[async_trait]
impl FleetBackend for RedisLedger {
    async fn announced(&self) -> Result<Vec<RunId>, LedgerError> {
        self.announced_runs().await
    }

    async fn status(&self, run: &RunId) -> Result<Option<RunStatus>, LedgerError> {
        self.run_status(run).await
    }

    async fn record_progress(
        &self,
        run: &RunId,
        progress: &RunProgress,
    ) -> Result<(), LedgerError> {
        Self::record_progress(self, run, progress).await.map(drop)
    }

    async fn claim_runs_directory(
        &self,
        directory: &RunsDirectory,
        take_over: bool,
    ) -> Result<RunsDirectory, LedgerError> {
        Self::claim_runs_directory(self, directory, take_over).await
    }

    async fn allow_resend(&self, job: &Job) -> Result<bool, LedgerError> {
        Self::allow_resend(self, &job.run_id, &job.job_id, job.round).await
    }

    async fn ledger(&self, run: &RunId) -> Result<Option<RunAccount>, LedgerError> {
        Admission::ledger(self, run).await
    }

    async fn close_leases(&self, run: &RunId) -> Result<(), LedgerError> {
        Self::close_leases(self, run).await.map(drop)
    }

    async fn sweep(&self) -> Result<(), LedgerError> {
        Admission::sweep(self).await
    }

    async fn ledger_state(&self, used_before: bool) -> Result<LedgerState, LedgerError> {
        Self::ledger_state(self, used_before).await
    }

    async fn has_account(&self, run: &RunId) -> Result<bool, LedgerError> {
        Self::has_account(self, run).await
    }

    async fn reconcile(&self, journal: &JournalCosts) -> Result<Reconciliation, LedgerError> {
        Self::reconcile(self, journal).await
    }

    async fn restore_results(&self, run: &RunId, results: &[JobResult]) -> Result<(), LedgerError> {
        Self::restore_results(self, run, results).await
    }
}
