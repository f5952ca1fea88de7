//! Replacement of a cap by `juror budget set`, in words and as JSON.

use juror_analysis::format::dollars;
use juror_ledger::admission::{Budget, SharedBudget};
use juror_types::{budget_label::BudgetLabel, usage::Money};
use serde::Serialize;

/// A cap that was replaced, as `juror budget set --json` prints it.
#[derive(Debug, Serialize)]
pub struct CapChange {
    budget: &'static str,
    /// Label of the runs; none for all runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<BudgetLabel>,
    /// New cap; none if unlimited.
    cap_usd: Option<Money>,
    /// Previous cap; none if unlimited.
    before_usd: Option<Money>,
}

impl CapChange {
    pub fn new(budget: &SharedBudget, cap: Budget, before: Option<Budget>) -> Self {
        let SharedBudget { period, label } = budget.clone();
        let before_usd = before.and_then(Budget::cap);
        Self { budget: period.budget_key(), label, cap_usd: cap.cap(), before_usd }
    }

    /// `each month of tag checkout may cost at most $60.00 from now on; before: no cap`
    pub fn sentence(&self) -> String {
        let Self { budget, label, cap_usd, before_usd } = self;
        let scope = label.as_ref().map(|label| format!(" of {} {}", label.kind(), label.name()));
        let now = match cap_usd {
            Some(cap) => format!("may cost at most {}", dollars(*cap)),
            None => "has no cap".to_owned(),
        };
        format!(
            "each {budget}{} {now} from now on; before: {}",
            scope.unwrap_or_default(),
            or_no_cap(*before_usd)
        )
    }
}

/// Formats a cap for a message.
pub fn amount(budget: Budget) -> String {
    budget.cap().map_or_else(|| "\"unlimited\"".to_owned(), dollars)
}

fn or_no_cap(amount: Option<Money>) -> String {
    amount.map_or_else(|| "no cap".to_owned(), dollars)
}
