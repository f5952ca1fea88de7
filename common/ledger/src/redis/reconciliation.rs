//! Ledger of a fleet beyond admission: budgets, and reconciliation with journals.

use super::{
    RedisLedger,
    encoding::{account_of, amount, budget_of, money},
    failure::unexpected_reply,
    scripts,
};
use crate::{
    admission::{Budget, headroom::Account, scope::Scope},
    error::LedgerError,
};
use jiff::Timestamp;
use juror_types::{
    budget_label::BudgetLabel,
    id::{OwnerId, RunId},
    usage::Money,
};
use std::sync::atomic::Ordering;

/// Number of fields of a scope in the script's reply: budget, and six amounts.
const FIELDS_PER_SCOPE: usize = 7;

/// Outcome of a reconciliation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reconciliation {
    /// Admission is resumed.
    Done {
        /// Leases of gone owners that were presumed spent.
        presumed: u64,
    },
    /// These owners may be alive and have not registered their leases yet: reconcile again in a
    /// second. After four heartbeats (60 s) they count as gone.
    Waiting {
        /// Owners that have not registered yet.
        owners: Vec<OwnerId>,
    },
}

/// Costs that journals report to the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalCosts {
    /// Cost of each run.
    pub runs: Vec<JournalCost>,
    /// True if the fleet is new, so that no process holds a lease unknown to the ledger.
    pub is_new: bool,
}

/// Cost of a run by its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalCost {
    /// Id of the run.
    pub run: RunId,
    /// Cost of its results; `None` if its journal is damaged. If the account of such a run is lost,
    /// none of its calls is admitted before it is opened again.
    pub cost: Option<Money>,
    /// Time of the last result: missing costs are booked on its day and month. `None` for now.
    pub last_result_at: Option<Timestamp>,
    /// Labels under which the cost counts too; if empty, those that the ledger has of the run.
    pub labels: Vec<BudgetLabel>,
}

impl JournalCost {
    /// A cost that counts now, under the labels that the ledger has of the run.
    pub fn current(run: RunId, cost: Money) -> Self {
        Self { run, cost: Some(cost), last_result_at: None, labels: Vec::new() }
    }
}

/// State of a ledger on its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerState {
    /// Reconciled with the server: calls are admitted.
    Reconciled,
    /// The server was restarted and kept its data.
    Restarted,
    /// The server has no ledger: it is new, or was emptied.
    Empty,
}

impl RedisLedger {
    /// True if admission is suspended: Redis was restarted or emptied since the ledger was last
    /// reconciled, or has lost the account of an open run. It is not on a server on which no run was opened yet.
    pub async fn is_admission_suspended(&self) -> Result<bool, LedgerError> {
        self.pause_and_use().await.map(|(paused, _)| paused)
    }

    /// True if admission is suspended, and if the ledger is in use.
    pub(super) async fn pause_and_use(&self) -> Result<(bool, bool), LedgerError> {
        let answer = self
            .connection
            .perform(&scripts::IS_ADMISSION_SUSPENDED, &[self.seen_in_use()])
            .await?;
        let [paused, in_use] = answer.as_slice() else {
            return Err(unexpected_reply("read whether admission is suspended"));
        };
        if in_use == "1" {
            self.seen_in_use.store(true, Ordering::Relaxed);
        }
        Ok((paused == "1", in_use == "1"))
    }

    /// Record of a scope's spending, with the cost of settled calls of its unfinished jobs.
    pub(crate) async fn spent(
        &self,
        scope: &Scope,
    ) -> Result<(Option<Budget>, Account, Money), LedgerError> {
        let accounts = self.accounts(std::slice::from_ref(scope)).await?;
        accounts.into_iter().next().ok_or_else(|| unexpected_reply("read the spending"))
    }

    /// [`RedisLedger::spent`] of each of these scopes, in one step.
    pub(super) async fn accounts(
        &self,
        scopes: &[Scope],
    ) -> Result<Vec<(Option<Budget>, Account, Money)>, LedgerError> {
        let keys = scopes.iter().flat_map(|scope| [scope.budget_key(), scope.account_key()]);
        let arguments: Vec<String> = keys.collect();
        let answer = self.connection.perform(&scripts::READ_ACCOUNTS, &arguments).await?;
        let answer: Vec<&str> = answer.iter().map(String::as_str).collect();
        let read = |record: &[&str]| {
            let (budget, figures) = record.split_first()?;
            let (unattributed_cost, figures) = figures.split_last()?;
            Some((budget_of(budget)?, account_of(figures)?, money(unattributed_cost)?))
        };
        let records: Option<Vec<_>> = answer.chunks(FIELDS_PER_SCOPE).map(read).collect();
        let complete = records.filter(|records| records.len() == scopes.len());
        complete.ok_or_else(|| unexpected_reply("read the spending"))
    }

    /// Writes a budget, which may be a label's; returns the previous one.
    pub(super) async fn set_budget(
        &self,
        key: String,
        budget: Budget,
        spent: Money,
        label: Option<&BudgetLabel>,
    ) -> Result<Option<Budget>, LedgerError> {
        let budget = match budget {
            Budget::Unlimited => Budget::UNLIMITED.to_owned(),
            Budget::Cap(cap) => {
                if !self.settings.allow_volatile {
                    self.require_durable().await?;
                }
                amount(cap)
            }
        };
        let label = label.map(BudgetLabel::to_string).unwrap_or_default();
        let arguments = [key, budget, amount(spent), label];
        let step = "set a budget";
        self.connection.perform_for(&scripts::SET_BUDGET, &arguments, step, budget_of).await
    }
}

#[cfg(test)]
mod tests;
