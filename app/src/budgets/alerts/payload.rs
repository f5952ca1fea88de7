//! Message of an alert.

use crate::budgets::BudgetState;
use jiff::Timestamp;
use juror_types::usage::Money;
use serde::Serialize;

/// Message of an alert, for a command's standard input or a webhook's body.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlertPayload {
    /// Version of the message.
    pub schema: u32,
    /// `budget_alert`.
    pub event: &'static str,
    /// The budget, as in `run:nightly`, `day:2026-11-21` or `month:2026-11`.
    pub budget: String,
    /// The share that was reached.
    pub at: f64,
    /// Billed and presumed spent.
    pub spent_usd: Money,
    /// Held by calls in flight.
    pub held_usd: Money,
    pub cap_usd: Option<Money>,
    /// Remainder that calls may still hold.
    pub left_usd: Option<Money>,
    /// Time of the renewal, after which nothing is spent of it; none for a run.
    pub renews_at: Option<Timestamp>,
    /// Time zone in which its days or months begin; none for a run.
    pub zone: Option<String>,
    /// Time at which the alert was sent.
    pub sent_at: Timestamp,
}

impl AlertPayload {
    /// The message for a budget that has reached this share.
    pub fn new(at: f64, state: BudgetState, sent_at: Timestamp) -> Self {
        let BudgetState { scope, cap_usd, spent_usd, held_usd, left_usd, renews_at, zone } = state;
        Self {
            schema: 1,
            event: "budget_alert",
            budget: scope.account_key(),
            at,
            spent_usd,
            held_usd,
            cap_usd,
            left_usd,
            renews_at,
            zone,
            sent_at,
        }
    }
}
