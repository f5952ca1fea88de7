//! Budgets over time: what runs, days and months may cost, have cost, and cost before.

pub mod alerts;
mod history;
mod selected_ledger;
mod state;

pub use history::{BudgetHistory, PeriodSpending};
pub use selected_ledger::SelectedLedger;
pub use state::BudgetState;
