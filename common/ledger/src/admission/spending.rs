//! What has been spent of a budget.

use super::{Account, Budget};

/// What has been spent of one budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spending {
    /// Which budget, as in `run:nightly`, `day:2026-11-21` or `month:2026-11` (UTC).
    pub scope: String,
    /// The cap; none if there is no record of one.
    pub budget: Option<Budget>,
    /// What was spent and is held.
    pub account: Account,
}
