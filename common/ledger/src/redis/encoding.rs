//! Encoding of script arguments and replies.

use crate::admission::{
    AdmissionDecision, Ask, Budget, WaitReason,
    budgets::{Account, Headroom, headroom},
    scope::Scope,
};
use juror_types::usage::Money;
use std::time::Duration;

/// More than any limit or ask; keeps 60,000ths of it exact in a script's numbers.
pub const MAX_UNITS: u64 = 10_000_000_000;
/// The script's refusal to admit.
pub fn refusal(ask: &Ask, answer: &[&str]) -> Option<AdmissionDecision> {
    match *answer {
        ["ended"] => Some(AdmissionDecision::NoBudget {
            reason: format!("lease {} has ended: a new call needs a new one", ask.lease),
        }),
        ["wait", reason, delay, ..] => {
            let reason = match reason {
                "requests" => WaitReason::Requests,
                "tokens" => WaitReason::Tokens,
                "cooldown" => WaitReason::Cooldown,
                "budget" => WaitReason::Budget,
                _ => return None,
            };
            let delay = if delay.is_empty() { None } else { Some(delay.parse().ok()?) };
            Some(AdmissionDecision::Wait { retry_after: delay.map(Duration::from_millis), reason })
        }
        ["never", account, budget, ref figures @ ..] => {
            let scope = Scope::from_account_key(account)?;
            let (_carried, figures) = figures.split_last()?;
            let (budget, account) = (budget_of(budget)?, account_of(figures)?);
            let worst = ask.worst_cost.max(Money::ZERO);
            // The script has decided; the figures that it saw tell why.
            let Headroom::Exceeded(reason) = headroom(&scope, budget, &account, worst, Money::ZERO)
            else {
                return None;
            };
            Some(match budget {
                Some(_) => AdmissionDecision::NoBudget { reason },
                None => AdmissionDecision::NoRecord { reason: no_record(&reason) },
            })
        }
        _ => None,
    }
}

fn no_record(reason: &str) -> String {
    format!(
        "{reason}: it was never opened, or Redis was emptied or has lost the record; `juror retry` opens the run again"
    )
}

/// A budget as its record has it; none if that is not readable, no record if it is empty.
pub fn budget_of(text: &str) -> Option<Option<Budget>> {
    match text {
        "" => Some(None),
        "unlimited" => Some(Some(Budget::Unlimited)),
        cap => Some(Some(Budget::Cap(money(cap)?))),
    }
}

/// The first five figures of an account.
pub fn account_of(figures: &[&str]) -> Option<Account> {
    let [committed, presumed, outstanding, overrun, stopped] = *figures else { return None };
    Some(Account {
        committed: money(committed)?,
        presumed: money(presumed)?,
        outstanding: money(outstanding)?,
        overrun: money(overrun)?,
        stopped: stopped == "1",
    })
}

/// An amount as scripts take it: never below zero.
pub fn amount(money: Money) -> String {
    money.max(Money::ZERO).pico().to_string()
}

/// An amount as scripts answer it.
pub fn money(text: &str) -> Option<Money> {
    text.parse().ok().map(Money::from_pico)
}

/// A number of tokens, to be added up.
pub fn count(tokens: u64) -> String {
    i64::try_from(tokens).unwrap_or(i64::MAX).to_string()
}

/// A limit as scripts take it; none is nothing.
pub fn optional_units(limit: Option<u64>) -> String {
    limit.map(|limit| limit.min(MAX_UNITS).to_string()).unwrap_or_default()
}

/// A stretch of time as scripts take it.
pub fn milliseconds(duration: Duration) -> String {
    duration.as_millis().to_string()
}
