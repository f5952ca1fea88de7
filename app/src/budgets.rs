//! Budgets of runs, days and months: state, history and alerts.

pub(crate) mod alerts;
mod budget_state;
mod history;
pub mod topics;

pub use budget_state::BudgetState;
pub use history::{BudgetHistory, PeriodSpending};
