//! Tables and sentences of `juror budget`.

use juror_analysis::format::{counted, dollars};
use juror_app::budgets::{BudgetHistory, BudgetState, PeriodSpending};
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
        let before_usd = before.and_then(cap_of);
        Self { budget: period.budget_key(), label, cap_usd: cap_of(cap), before_usd }
    }

    /// `each month of tag checkout may cost at most $60.00 from now on; before: no cap`
    pub fn sentence(&self) -> String {
        let Self { budget, label, cap_usd, before_usd } = self;
        let scope = label.as_ref().map(|label| format!(" of {}", phrase(label)));
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
    cap_of(budget).map_or_else(|| "\"unlimited\"".to_owned(), dollars)
}

/// The table of `juror budget show`.
pub fn states(states: &[BudgetState]) -> String {
    let row = |cells: [&str; 6]| {
        let [scope, cap, spent, held, left, renews] = cells;
        let line = format!("{scope:36} {cap:>12} {spent:>12} {held:>12} {left:>12}  {renews}");
        format!("{}\n", line.trim_end())
    };
    let mut text = row(["BUDGET", "CAP", "SPENT", "IN FLIGHT", "LEFT", "RENEWS"]);
    for state in states {
        text.push_str(&row([
            &state.scope.to_string(),
            &or_no_cap(state.cap_usd),
            &dollars(state.spent_usd),
            &dollars(state.held_usd),
            &or_no_cap(state.left_usd),
            &state.local_renewal().unwrap_or_else(|| "never".to_owned()),
        ]));
    }
    let zone = states.iter().find_map(|state| state.zone.as_deref()).unwrap_or("UTC");
    text.push_str(&format!("\nDays and months begin in the time zone {zone}.\n"));
    text
}

/// The tables of `juror budget history`.
pub fn history(history: &BudgetHistory, days: u32, months: u32) -> String {
    let mut text = String::new();
    for (title, unit, count, rows) in
        [("DAY", "day", days, &history.days), ("MONTH", "month", months, &history.months)]
    {
        if count > 0 {
            let last = format!("last {}", counted(u64::from(count), unit));
            text.push_str(&table(title, rows, &last));
            text.push('\n');
        }
    }
    let scope = history.label.as_ref().map(|label| format!("Runs of {} only. ", phrase(label)));
    text.push_str(&format!(
        "{}Days and months begin in the time zone {}; those without costs are left out.\n",
        scope.unwrap_or_default(),
        history.zone
    ));
    text
}

fn table(title: &str, rows: &[PeriodSpending], last: &str) -> String {
    let row = |name: &str, cells: [&str; 3]| {
        let [spent, presumed, held] = cells;
        format!("{name:24} {spent:>12} {presumed:>12} {held:>12}\n")
    };
    let mut text = row(title, ["SPENT", "PRESUMED", "IN FLIGHT"]);
    let shown = |amounts: [Money; 3]| amounts.map(dollars);
    for period in rows {
        let cells = shown([period.spent_usd, period.presumed_usd, period.held_usd]);
        text.push_str(&row(&period.period, cells.each_ref().map(String::as_str)));
    }
    let sum = |amount: fn(&PeriodSpending) -> Money| rows.iter().map(amount).sum();
    let total = [sum(|row| row.spent_usd), sum(|row| row.presumed_usd), sum(|row| row.held_usd)];
    text.push_str(&row(last, shown(total).each_ref().map(String::as_str)));
    text
}

fn phrase(label: &BudgetLabel) -> String {
    format!("{} {}", label.kind(), label.name())
}

fn cap_of(budget: Budget) -> Option<Money> {
    match budget {
        Budget::Cap(cap) => Some(cap),
        Budget::Unlimited => None,
    }
}

fn or_no_cap(amount: Option<Money>) -> String {
    amount.map_or_else(|| "no cap".to_owned(), dollars)
}
