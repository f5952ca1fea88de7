//! Spending of budgets.

use super::{Account, Budget};

/// The state of one budget: its cap, and what is spent and held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spending {
    /// Name of the budget, as in `run:nightly`, `day:2026-11-21` or `month:2026-11` (UTC).
    pub scope: String,
    /// The cap; none if there is no record of one.
    pub budget: Option<Budget>,
    /// Amounts spent and held.
    pub account: Account,
}
