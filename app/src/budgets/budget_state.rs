//! State of the budgets of runs, days, months and labels.

use jiff::Timestamp;
use juror_ledger::{
    admission::{Account, Budget, BudgetCalendar, Period, Scope, SharedBudget},
    budgets::{BudgetRecords, Spending},
    error::LedgerError,
};
use juror_types::{id::RunId, usage::Money};
use serde::{Serialize, Serializer};

/// A budget with its spending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetState {
    /// The budget; JSON has it as in `run:nightly`, `day:2026-11-21`, `month:2026-11` or
    /// `month:2026-11:tag:checkout`.
    #[serde(serialize_with = "as_key")]
    pub scope: Scope,
    /// The cap; `None` if there is none.
    pub cap_usd: Option<Money>,
    /// Billed and presumed spent.
    pub spent_usd: Money,
    /// Held by calls in flight.
    pub held_usd: Money,
    /// Amount that calls may still hold; `None` without a cap.
    pub left_usd: Option<Money>,
    /// Time of the renewal, after which nothing is spent of it; `None` for a run.
    pub renews_at: Option<Timestamp>,
    /// Time zone in which its days or months begin; `None` for a run.
    pub zone: Option<String>,
}

impl BudgetState {
    /// The budgets of these runs, of today and of this month, and then those of labels, without
    /// runs that are not in the ledger and labels that have neither a cap nor spending in the
    /// period.
    ///
    /// # Errors
    /// An unavailable ledger.
    pub async fn current(
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
        let states = spending.into_iter().filter(is_listed).map(|spending| {
            let period = spending.scope.period();
            let renews_at = period.and_then(|of| calendar.renewal(of, now));
            let zone = period.map(|_| calendar.zone().to_owned());
            Self { renews_at, zone, ..Self::new(spending) }
        });
        Ok(states.collect())
    }

    /// True if nothing remains.
    pub fn is_used_up(&self) -> bool {
        self.left_usd == Some(Money::ZERO)
    }

    /// Time of the renewal in the budget's zone, with its offset from UTC; `None` for a run.
    pub fn local_renewal(&self) -> Option<String> {
        let calendar = BudgetCalendar::new(self.zone.as_deref()?).ok()?;
        let local = calendar.local_time(self.renews_at?);
        Some(local.strftime("%Y-%m-%d %H:%M %:z").to_string())
    }

    /// Replaces the cap.
    pub fn with_cap(self, budget: Budget) -> Self {
        let cap_usd = budget.cap();
        Self { cap_usd, left_usd: left(cap_usd, self.spent_usd + self.held_usd), ..self }
    }

    fn new(spending: Spending) -> Self {
        let Account { committed, outstanding, .. } = spending.account;
        let cap_usd = spending.budget.and_then(Budget::cap);
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

fn left(cap: Option<Money>, used: Money) -> Option<Money> {
    cap.map(|cap| (cap - used).max(Money::ZERO))
}

/// True if a budget is listed: days and months always, others if they have a cap or spending.
fn is_listed(spending: &Spending) -> bool {
    let has_money = spending.account != Account::default();
    match &spending.scope {
        Scope::Run(_) => spending.budget.is_some() || has_money,
        Scope::Shared { budget: SharedBudget { label: None, .. }, .. } => true,
        Scope::Shared { .. } => matches!(spending.budget, Some(Budget::Cap(_))) || has_money,
    }
}
