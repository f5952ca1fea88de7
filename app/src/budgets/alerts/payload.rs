//! Message of an alert.

use crate::budgets::BudgetState;
use jiff::Timestamp;
use juror_types::usage::Money;
use serde::Serialize;

/// Message of an alert, as the command reads it on standard input and the webhook gets it.
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
    /// The cap.
    pub cap_usd: Option<Money>,
    /// Amount that calls may still hold.
    pub left_usd: Option<Money>,
    /// The moment from which on nothing is spent of it again; none for a run.
    pub renews_at: Option<Timestamp>,
    /// Time zone in which its days or months begin; none for a run.
    pub zone: Option<String>,
    /// Time at which the alert was sent.
    pub sent_at: Timestamp,
}

impl AlertPayload {
    /// The message on a budget of which this share was reached.
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
