//! Budgets that the runs of a ledger share, over all calls or those of one label: caps, which stay
//! in force until they are replaced, and the spending of each day and month.
//!
//! Accounts are never deleted: a day or a month takes a row of about a hundred bytes, plus one for
//! each label with spending in it.

mod apply;
#[cfg(test)]
pub(crate) mod conformance;

pub use apply::{ZoneChange, open_run, zone_difference};

use crate::{
    admission::{Account, Budget, BudgetCalendar, Scope, SharedBudget},
    error::LedgerError,
};
use async_trait::async_trait;
use juror_types::{budget_label::BudgetLabel, id::RunId};

/// Caps and accounts of shared budgets, in the same backend as the ledger.
#[async_trait]
pub trait BudgetRecords: Send + Sync {
    /// Cap of a budget; `None` if there is no record.
    async fn cap(&self, budget: &SharedBudget) -> Result<Option<Budget>, LedgerError>;

    /// Sets the cap of a budget from now on, for each of its days or months. Returns the cap
    /// before.
    async fn set_cap(
        &self,
        budget: &SharedBudget,
        cap: Budget,
    ) -> Result<Option<Budget>, LedgerError>;

    /// Counts calls of a run that are admitted from now on under these labels too. Call it before
    /// the run is opened.
    async fn set_budget_labels(
        &self,
        run: &RunId,
        labels: &[BudgetLabel],
    ) -> Result<(), LedgerError>;

    /// Labels of all runs and caps, sorted.
    async fn labels(&self) -> Result<Vec<BudgetLabel>, LedgerError>;

    /// Time zone in which days and months begin: UTC until another one is set.
    async fn calendar(&self) -> Result<BudgetCalendar, LedgerError>;

    /// Sets the time zone in which days and months begin. Calls that were admitted before keep the
    /// day of their admission. Returns the previous zone.
    async fn set_calendar(&self, calendar: &BudgetCalendar) -> Result<BudgetCalendar, LedgerError>;

    /// Caps and accounts of these budgets, in the same order. An account without a record is empty.
    async fn spending(&self, scopes: &[Scope]) -> Result<Vec<Spending>, LedgerError>;

    /// Records that the alert at this share of a budget is sent. Returns true if it was not before.
    async fn record_alert(&self, scope: &Scope, share: &str) -> Result<bool, LedgerError>;
}

/// State of a budget: its cap, and the spent and reserved amounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spending {
    /// Budget and period.
    pub scope: Scope,
    /// The cap; `None` if there is no record of one.
    pub budget: Option<Budget>,
    /// Amounts spent and held.
    pub account: Account,
}
