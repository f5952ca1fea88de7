//! Budgets of runs, days and months: state, history and alerts.

pub mod alerts;
mod history;
mod state;
pub mod topics;

pub use history::{BudgetHistory, PeriodSpending};
pub use state::BudgetState;
