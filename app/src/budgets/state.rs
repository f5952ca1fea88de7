//! Remainder of the budgets of runs, the day and the month, and of labels in those.

use crate::error::AppError;
use jiff::Timestamp;
use juror_ledger::{
    admission::{Account, Budget, BudgetCalendar, Period, Scope, SharedBudget},
    budgets::{BudgetRecords, Spending},
    error::LedgerError,
};
use juror_types::{id::RunId, usage::Money};
use serde::{Serialize, Serializer};

/// One budget and its use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetState {
    /// The budget; JSON has it as in `run:nightly`, `day:2026-11-21`, `month:2026-11` or
    /// `month:2026-11:tag:checkout`.
    #[serde(serialize_with = "as_key")]
    pub scope: Scope,
    /// The cap; none if there is none.
    pub cap_usd: Option<Money>,
    /// Billed and presumed spent.
    pub spent_usd: Money,
    /// Held by calls in flight.
    pub held_usd: Money,
    /// Amount that calls may still hold; none without a cap.
    pub left_usd: Option<Money>,
    /// The moment from which on nothing is spent of it again, in UTC; none for a run.
    pub renews_at: Option<Timestamp>,
    /// Time zone in which its days or months begin; none for a run.
    pub zone: Option<String>,
}

impl BudgetState {
    /// The budgets of these runs, of today and of this month, and then those of labels. A run that
    /// the ledger does not know is left out, and so is a label that has neither a cap nor money in
    /// the period.
    ///
    /// # Errors
    /// A ledger that does not answer.
    pub async fn current(
        records: &dyn BudgetRecords,
        runs: &[RunId],
    ) -> Result<Vec<Self>, AppError> {
        Self::of_ledger(records, runs).await.map_err(AppError::from)
    }

    pub(super) async fn of_ledger(
        records: &dyn BudgetRecords,
        runs: &[RunId],
    ) -> Result<Vec<Self>, LedgerError> {
        let now = Timestamp::now();
        let calendar = records.calendar().await?;
        let mut scopes: Vec<Scope> = runs.iter().cloned().map(Scope::Run).collect();
        let labels = records.labels().await?;
        for label in [None].into_iter().chain(labels.into_iter().map(Some)) {
            for period in Period::ALL {
                let budget = SharedBudget { period, label: label.clone() };
                scopes.push(calendar.scope(&budget, now));
            }
        }
        let spending = records.spending(&scopes).await?;
        let states = spending.into_iter().filter(is_known).map(|spending| {
            let period = spending.scope.period();
            let renews_at = period.and_then(|of| calendar.renewal(of, now));
            let zone = period.map(|_| calendar.zone().to_owned());
            Self { renews_at, zone, ..Self::new(spending) }
        });
        Ok(states.collect())
    }

    /// True if no call fits any more.
    pub fn is_used_up(&self) -> bool {
        self.left_usd == Some(Money::ZERO)
    }

    /// Time of the renewal in the budget's zone, with its offset from UTC; none for a run.
    pub fn local_renewal(&self) -> Option<String> {
        let calendar = BudgetCalendar::new(self.zone.as_deref()?).ok()?;
        let local = calendar.local_time(self.renews_at?);
        Some(local.strftime("%Y-%m-%d %H:%M %:z").to_string())
    }

    /// The same budget under a cap that a run would set; none lifts it.
    pub fn with_cap(self, budget: Budget) -> Self {
        let cap_usd = cap_of(Some(budget));
        Self { cap_usd, left_usd: left(cap_usd, self.spent_usd + self.held_usd), ..self }
    }

    fn new(spending: Spending) -> Self {
        let Account { committed, outstanding, .. } = spending.account;
        let cap_usd = cap_of(spending.budget);
        Self {
            scope: spending.scope,
            cap_usd,
            spent_usd: committed,
            held_usd: outstanding,
            left_usd: left(cap_usd, committed + outstanding),
            renews_at: None,
            zone: None,
        }
    }
}

fn as_key<S: Serializer>(scope: &Scope, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&scope.account_key())
}

fn cap_of(budget: Option<Budget>) -> Option<Money> {
    match budget {
        Some(Budget::Cap(cap)) => Some(cap),
        Some(Budget::Unlimited) | None => None,
    }
}

fn left(cap: Option<Money>, used: Money) -> Option<Money> {
    cap.map(|cap| (cap - used).max(Money::ZERO))
}

/// Days and months are known without a record: nothing has been spent in them yet.
fn is_known(spending: &Spending) -> bool {
    let has_money = spending.account != Account::default();
    match spending.scope {
        Scope::Run(_) => spending.budget.is_some() || has_money,
        Scope::Day(_) | Scope::Month(_) => true,
        Scope::LabelDay(..) | Scope::LabelMonth(..) => {
            matches!(spending.budget, Some(Budget::Cap(_))) || has_money
        }
    }
}
