//! Spending by day and by month.

use crate::error::AppError;
use jiff::Timestamp;
use juror_ledger::{
    admission::{Account, BudgetCalendar, Period, SharedBudget},
    budgets::BudgetRecords,
};
use juror_types::{budget_label::BudgetLabel, usage::Money};
use serde::Serialize;

/// Spending of the latest days and months, newest first, without periods in which nothing was
/// spent or held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetHistory {
    /// Label of the runs, as in `tag:checkout`; `None` for all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<BudgetLabel>,
    /// Time zone in which days and months begin.
    pub zone: String,
    /// Days that cost something.
    pub days: Vec<PeriodSpending>,
    /// Months that cost something.
    pub months: Vec<PeriodSpending>,
}

/// Spending of a day or a month, over all runs of the ledger or those of a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeriodSpending {
    /// The day or the month, as in `2026-11-21` or `2026-11`.
    pub period: String,
    /// Billed and presumed spent, by the day of the call's admission.
    pub spent_usd: Money,
    /// The part of it that is presumed: calls that died with their process, at worst case.
    pub presumed_usd: Money,
    /// Held by calls in flight.
    pub held_usd: Money,
}

impl BudgetHistory {
    /// Reads the last days and months, the current ones included, of one label or of all runs.
    ///
    /// # Errors
    /// An unavailable ledger.
    pub async fn read(
        records: &dyn BudgetRecords,
        label: Option<BudgetLabel>,
        days: u32,
        months: u32,
    ) -> Result<Self, AppError> {
        let calendar = records.calendar().await?;
        let budget = |period| SharedBudget { period, label: label.clone() };
        Ok(Self {
            zone: calendar.zone().to_owned(),
            days: latest(records, &calendar, &budget(Period::Day), days).await?,
            months: latest(records, &calendar, &budget(Period::Month), months).await?,
            label,
        })
    }
}

async fn latest(
    records: &dyn BudgetRecords,
    calendar: &BudgetCalendar,
    budget: &SharedBudget,
    count: u32,
) -> Result<Vec<PeriodSpending>, AppError> {
    let scopes = calendar.latest(budget, count, Timestamp::now());
    let spending = records.spending(&scopes).await?;
    let with_money = spending.into_iter().filter(|period| period.account != Account::default());
    let periods = with_money.map(|spending| PeriodSpending {
        period: spending.scope.name().to_owned(),
        spent_usd: spending.account.committed,
        presumed_usd: spending.account.presumed,
        held_usd: spending.account.outstanding,
    });
    Ok(periods.collect())
}
