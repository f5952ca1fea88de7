//! Budgets that all runs of a ledger share: caps that stand until others are given, and what each
//! day and each month has cost.
//!
//! Accounts are never forgotten: a day or a month takes a row of some hundred bytes.

mod apply;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

pub use apply::{ZoneChange, apply, zone_difference};

use crate::{
    admission::{Account, Budget, BudgetCalendar, Period, Scope},
    error::LedgerError,
};
use async_trait::async_trait;

/// Caps and accounts of shared budgets, in the same backend as the ledger.
#[async_trait]
pub trait BudgetRecords: Send + Sync {
    /// Cap of each day or each month; none if there is no record.
    async fn cap(&self, period: Period) -> Result<Option<Budget>, LedgerError>;

    /// Sets the cap of each day or each month from now on, over all runs. Returns the cap before.
    async fn set_cap(&self, period: Period, cap: Budget) -> Result<Option<Budget>, LedgerError>;

    /// Time zone in which days and months begin: UTC until another one is set.
    async fn calendar(&self) -> Result<BudgetCalendar, LedgerError>;

    /// Lets days and months begin in this zone from now on. What was admitted before counts in the
    /// day that it was admitted in. Returns the zone before.
    async fn set_calendar(&self, calendar: &BudgetCalendar) -> Result<BudgetCalendar, LedgerError>;

    /// Caps and accounts of these budgets, in their order. An account without a record is empty.
    async fn spending(&self, scopes: &[Scope]) -> Result<Vec<Spending>, LedgerError>;

    /// Records that the alert at this share of a budget is sent. Returns whether it was not before.
    async fn record_alert(&self, scope: &Scope, share: &str) -> Result<bool, LedgerError>;
}

/// The state of one budget: its cap, and what is spent and held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spending {
    /// The budget.
    pub scope: Scope,
    /// The cap; none if there is no record of one.
    pub budget: Option<Budget>,
    /// Amounts spent and held.
    pub account: Account,
}
