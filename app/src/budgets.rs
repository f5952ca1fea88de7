//! Budgets over time: what runs, days and months may cost, have cost, and cost before.

pub mod alerts;
mod history;
mod state;

pub use history::{BudgetHistory, PeriodSpending};
pub use state::BudgetState;
