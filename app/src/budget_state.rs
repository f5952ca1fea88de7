//! Remainder of the budgets of a run, the day and the month.

use crate::error::AppError;
use jiff::Timestamp;
use juror_ledger::{
    admission::{Account, Budget, Period, Spending},
    redis::RedisLedger,
    sqlite::SqliteLedger,
};
use juror_types::{id::RunId, usage::Money};
use serde::Serialize;

/// One budget and its use.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetState {
    /// The budget, as in `run:nightly`, `day:2026-11-21` or `month:2026-11` (UTC).
    pub scope: String,
    /// The cap; none if there is none.
    pub cap_usd: Option<Money>,
    /// Billed and presumed spent.
    pub spent_usd: Money,
    /// Held by calls in flight.
    pub held_usd: Money,
    /// Amount that calls may still hold; none without a cap.
    pub left_usd: Option<Money>,
}

impl BudgetState {
    fn new(spending: Spending) -> Self {
        let Spending { scope, budget, account } = spending;
        let cap_usd = match budget {
            Some(Budget::Cap(cap)) => Some(cap),
            Some(Budget::Unlimited) | None => None,
        };
        let used = account.committed + account.outstanding;
        Self {
            scope,
            cap_usd,
            spent_usd: account.committed,
            held_usd: account.outstanding,
            left_usd: cap_usd.map(|cap| (cap - used).max(Money::ZERO)),
        }
    }

    /// Whether no call fits any more.
    pub fn is_used_up(&self) -> bool {
        self.left_usd == Some(Money::ZERO)
    }

    /// The same budget under a cap that a run would set; none lifts it.
    pub fn with_cap(self, budget: Budget) -> Self {
        let account =
            Account { committed: self.spent_usd, outstanding: self.held_usd, ..Account::default() };
        Self::new(Spending { scope: self.scope, budget: Some(budget), account })
    }
}

/// The budgets of this machine's runs: of these runs, of today and of this month.
pub async fn of_this_machine(
    backend: &SqliteLedger,
    runs: &[RunId],
) -> Result<Vec<BudgetState>, AppError> {
    let spending = backend.spending().await.map_err(AppError::internal)?;
    let mut states = Vec::new();
    for scope in runs.iter().map(|run| format!("run:{run}")) {
        let known = spending.iter().find(|spending| spending.scope == scope).cloned();
        states.extend(known.map(BudgetState::new));
    }
    for (period, scope) in current_periods() {
        let known = spending.iter().find(|spending| spending.scope == scope);
        let account = known.map(|known| known.account).unwrap_or_default();
        let budget = backend.period_budget(period).await.map_err(AppError::internal)?;
        states.push(BudgetState::new(Spending { scope, budget, account }));
    }
    Ok(states)
}

/// The budgets of a fleet: of these runs, of today and of this month.
pub async fn of_fleet(backend: &RedisLedger, runs: &[RunId]) -> Result<Vec<BudgetState>, AppError> {
    let spending = backend.current_spending(runs).await.map_err(AppError::internal)?;
    Ok(spending.into_iter().map(BudgetState::new).collect())
}

fn current_periods() -> [(Period, String); 2] {
    let now = Timestamp::now();
    [
        (Period::Day, format!("day:{}", now.strftime("%Y-%m-%d"))),
        (Period::Month, format!("month:{}", now.strftime("%Y-%m"))),
    ]
}
