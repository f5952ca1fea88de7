//! Money by day and by month, as the ledger has booked it.

use crate::error::AppError;
use jiff::Timestamp;
use juror_ledger::{
    admission::{Account, BudgetCalendar, Period, SharedBudget},
    budgets::BudgetRecords,
};
use juror_types::{budget_label::BudgetLabel, usage::Money};
use serde::Serialize;

/// Money of the latest days and months, newest first. Those in which nothing was spent or held are
/// left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetHistory {
    /// The label whose calls they are of, as in `tag:checkout`; none for all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<BudgetLabel>,
    /// Time zone in which they begin.
    pub zone: String,
    /// Days that cost something.
    pub days: Vec<PeriodSpending>,
    /// Months that cost something.
    pub months: Vec<PeriodSpending>,
}

/// Money of a day or a month, over all runs of the ledger or those of a label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PeriodSpending {
    /// The day or the month, as in `2026-11-21` or `2026-11`.
    pub period: String,
    /// Billed and presumed spent, by the day of the call's admission.
    pub spent_usd: Money,
    /// The part of it that no bill tells: calls that died with their process, at worst case.
    pub presumed_usd: Money,
    /// Held by calls in flight.
    pub held_usd: Money,
}

impl BudgetHistory {
    /// Reads the last so many days and months, the current ones included: of one label, or of all
    /// runs.
    ///
    /// # Errors
    /// A ledger that does not answer.
    pub async fn read(
        records: &dyn BudgetRecords,
        label: Option<BudgetLabel>,
        days: u32,
        months: u32,
    ) -> Result<Self, AppError> {
        let calendar = records.calendar().await.map_err(AppError::from)?;
        let of = |period| SharedBudget { period, label: label.clone() };
        Ok(Self {
            zone: calendar.zone().to_owned(),
            days: latest(records, &calendar, &of(Period::Day), days).await?,
            months: latest(records, &calendar, &of(Period::Month), months).await?,
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
    let spending = records.spending(&scopes).await.map_err(AppError::from)?;
    let with_money = spending.into_iter().filter(|of| of.account != Account::default());
    let told = with_money.map(|spending| PeriodSpending {
        period: spending.scope.name().to_owned(),
        spent_usd: spending.account.committed,
        presumed_usd: spending.account.presumed,
        held_usd: spending.account.outstanding,
    });
    Ok(told.collect())
}
