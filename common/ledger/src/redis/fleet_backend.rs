//! Operations of the aggregator on the fleet's backend.

use super::{
    JournalCost, JournalCosts, LEASE_TTL, LedgerState, Reconciliation, RedisLedger, RunProgress,
    RunStatus,
    encoding::{amount, milliseconds},
    failure::unexpected_reply,
    scripts,
};
use crate::{
    admission::{Admission, RunAccount},
    error::LedgerError,
    json::write_json,
};
use async_trait::async_trait;
use juror_types::{
    budget_label::BudgetLabel,
    id::{OwnerId, RunId},
    job::Job,
    outcome::JobResult,
};
use std::{fmt, sync::atomic::Ordering};

/// The fleet's backend for the aggregator: runs, their money, and the ledger's state.
#[async_trait]
pub trait FleetBackend: Send + Sync {
    /// The known runs.
    async fn announced(&self) -> Result<Vec<RunId>, LedgerError>;

    /// Status of a run; `None` if it was never announced, or has expired.
    async fn status(&self, run: &RunId) -> Result<Option<RunStatus>, LedgerError>;

    /// Records the progress of a run. Returns false if there is no such run.
    async fn record_progress(
        &self,
        run: &RunId,
        progress: &RunProgress,
    ) -> Result<bool, LedgerError>;

    /// Registers the directory for the fleet's results. Returns the registered one, which is
    /// another if one was registered before, unless this one is to replace it.
    async fn claim_runs_directory(
        &self,
        directory: &RunsDirectory,
        take_over: bool,
    ) -> Result<RunsDirectory, LedgerError>;

    /// True if a dead letter of this job may be published again: the job has neither a result nor
    /// an unfinished start in its round, so it cannot have killed a worker. Each job is allowed a
    /// few times.
    async fn allow_resend(&self, job: &Job) -> Result<bool, LedgerError>;

    /// Account of a run; `None` if there is no record.
    async fn run_account(&self, run: &RunId) -> Result<Option<RunAccount>, LedgerError>;

    /// Presumes spent the leases that a complete run still holds: each of its jobs has its result,
    /// so the replies of those calls are lost. A bill that arrives later replaces the presumed
    /// cost. Returns the number of leases.
    async fn close_leases(&self, run: &RunId) -> Result<usize, LedgerError>;

    /// Presumes spent the leases of processes that are gone.
    async fn sweep_leases(&self) -> Result<(), LedgerError>;

    /// State of the ledger on its server. `used_before` is true if the caller knows that the ledger
    /// was in use before, so that an empty server was emptied.
    async fn ledger_state(&self, used_before: bool) -> Result<LedgerState, LedgerError>;

    /// True if the ledger has an account of a run that was opened on this server or reconciled with
    /// its journal.
    async fn has_account(&self, run: &RunId) -> Result<bool, LedgerError>;

    /// Resumes admission after a restart, an emptying or a loss of the server, and on a new one.
    /// Takes the cost of the runs' results by their journals, and books the amounts that the ledger
    /// has lost, on the run and on the day and month of its last result. Each living process
    /// registers its leases by itself as soon as it reaches the new server.
    async fn reconcile(&self, journal: &JournalCosts) -> Result<Reconciliation, LedgerError>;

    /// Stores results that a journal has and the backend has lost, so that their jobs are not
    /// judged again.
    async fn restore_results(&self, run: &RunId, results: &[JobResult]) -> Result<(), LedgerError>;
}

/// A runs directory as its aggregator registered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsDirectory {
    /// Random, and stored in the directory itself, which may have another path on another machine.
    pub id: String,
    /// The machine that registered it last.
    pub host: String,
    /// Path on that machine.
    pub path: String,
}

impl RunsDirectory {
    /// A new random id.
    pub fn random_id() -> String {
        format!("{:032x}", rand::random::<u128>())
    }
}

impl fmt::Display for RunsDirectory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} on {}", self.path, self.host)
    }
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
    ) -> Result<bool, LedgerError> {
        self.set_field(run, "progress", write_json(progress)?).await
    }

    async fn claim_runs_directory(
        &self,
        directory: &RunsDirectory,
        take_over: bool,
    ) -> Result<RunsDirectory, LedgerError> {
        let RunsDirectory { id, host, path } = directory.clone();
        let arguments = [id, host, path, u8::from(take_over).to_string()];
        let answer = self.connection.perform(&scripts::CLAIM_RUNS_DIRECTORY, &arguments).await?;
        let Ok([id, host, path]) = <[String; 3]>::try_from(answer) else {
            return Err(unexpected_reply("register the runs directory"));
        };
        Ok(RunsDirectory { id, host, path })
    }

    async fn allow_resend(&self, job: &Job) -> Result<bool, LedgerError> {
        let arguments = [job.run_id.to_string(), job.job_id.to_string(), job.round.to_string()];
        self.connection.perform_check(&scripts::ALLOW_RESEND, &arguments).await
    }

    async fn run_account(&self, run: &RunId) -> Result<Option<RunAccount>, LedgerError> {
        Admission::ledger(self, run).await
    }

    async fn close_leases(&self, run: &RunId) -> Result<usize, LedgerError> {
        let arguments = [run.to_string(), milliseconds(LEASE_TTL)];
        let step = "close the leases of a run";
        let count = |count: &str| count.parse().ok();
        self.connection.perform_for(&scripts::CLOSE_LEASES, &arguments, step, count).await
    }

    async fn sweep_leases(&self) -> Result<(), LedgerError> {
        Admission::sweep(self).await
    }

    async fn ledger_state(&self, used_before: bool) -> Result<LedgerState, LedgerError> {
        if used_before {
            self.seen_in_use.store(true, Ordering::Relaxed);
        }
        Ok(match self.pause_and_use().await? {
            (false, true) => LedgerState::Reconciled,
            (true, true) => LedgerState::Restarted,
            (_, false) => LedgerState::Empty,
        })
    }

    async fn has_account(&self, run: &RunId) -> Result<bool, LedgerError> {
        let key = self.connection.key(&format!("account:run:{run}"));
        self.connection.command(redis::cmd("HEXISTS").arg(key).arg("stopped")).await
    }

    async fn reconcile(&self, journal: &JournalCosts) -> Result<Reconciliation, LedgerError> {
        let is_new = u8::from(journal.is_new).to_string();
        let mut arguments = vec![milliseconds(LEASE_TTL), is_new];
        for JournalCost { run, cost, last_result_at, labels } in &journal.runs {
            let written = last_result_at.map(|time| time.as_millisecond().to_string());
            arguments.extend([
                run.to_string(),
                cost.map(amount).unwrap_or_default(),
                written.unwrap_or_default(),
                BudgetLabel::join(labels),
            ]);
        }
        let answer = self.connection.perform(&scripts::RECONCILE, &arguments).await?;
        let reconciled = match answer.split_first() {
            Some((word, owners)) if word == "waiting" => {
                let owners = owners.iter().map(OwnerId::new).collect();
                Some(Reconciliation::Waiting { owners })
            }
            Some((_, rest)) => rest
                .first()
                .and_then(|number| number.parse().ok())
                .map(|presumed| Reconciliation::Done { presumed }),
            None => None,
        };
        reconciled.ok_or_else(|| unexpected_reply("reconcile the ledger"))
    }

    async fn restore_results(&self, run: &RunId, results: &[JobResult]) -> Result<(), LedgerError> {
        let mut arguments = vec![run.to_string()];
        for result in results {
            let text = write_json(result)?;
            arguments.extend([result.job_id.to_string(), result.round.to_string(), text]);
        }
        self.connection.perform(&scripts::RESTORE_RESULTS, &arguments).await.map(drop)
    }
}
