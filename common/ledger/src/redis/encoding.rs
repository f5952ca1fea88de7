//! Encoding of script arguments and replies.

use crate::admission::{
    AdmissionDecision, AdmissionRequest, Budget, WaitReason,
    headroom::{Account, Headroom, headroom},
    scope::Scope,
};
use juror_types::usage::Money;
use std::time::Duration;

/// Upper bound of any limit or request; a 60,000th of it is exact in a script's numbers.
pub const MAX_UNITS: u64 = 10_000_000_000;

/// The script's refusal to admit.
pub fn refusal(request: &AdmissionRequest, answer: &[&str]) -> Option<AdmissionDecision> {
    match *answer {
        ["ended"] => Some(AdmissionDecision::NoBudget {
            reason: format!("lease {} has ended: a new call needs a new one", request.lease),
        }),
        ["wait", reason, delay, ..] => {
            let reason = WaitReason::ALL.into_iter().find(|known| known.name() == reason)?;
            let delay = if delay.is_empty() { None } else { Some(delay.parse().ok()?) };
            Some(AdmissionDecision::Wait { retry_after: delay.map(Duration::from_millis), reason })
        }
        ["never", account, budget, ref figures @ ..] => {
            let scope = Scope::from_account_key(account)?;
            let (_carried, figures) = figures.split_last()?;
            let (budget, account) = (budget_of(budget)?, account_of(figures)?);
            let worst = request.worst_cost.max(Money::ZERO);
            // The script has decided; its figures are for the message.
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

/// A budget from its record; `None` if that is malformed, `Some(None)` if it is empty.
pub fn budget_of(text: &str) -> Option<Option<Budget>> {
    match text {
        "" => Some(None),
        Budget::UNLIMITED => Some(Some(Budget::Unlimited)),
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

/// Script arguments of a lease: its id, owner, run, endpoint, tokens and worst cost.
pub fn lease_arguments(request: &AdmissionRequest) -> [String; 6] {
    [
        request.lease.to_string(),
        request.owner.to_string(),
        request.run.to_string(),
        request.endpoint.clone(),
        request.tokens().min(MAX_UNITS).to_string(),
        amount(request.worst_cost),
    ]
}

/// An amount as a script argument: never below zero.
pub fn amount(money: Money) -> String {
    money.max(Money::ZERO).pico().to_string()
}

/// An amount of a script's reply.
pub fn money(text: &str) -> Option<Money> {
    text.parse().ok().map(Money::from_pico)
}

/// A number of tokens as a script argument.
pub fn count(tokens: u64) -> String {
    i64::try_from(tokens).unwrap_or(i64::MAX).to_string()
}

/// A limit as a script argument; empty for none.
pub fn optional_units(limit: Option<u64>) -> String {
    limit.map(|limit| limit.min(MAX_UNITS).to_string()).unwrap_or_default()
}

/// A duration as a script argument, in milliseconds.
pub fn milliseconds(duration: Duration) -> String {
    duration.as_millis().to_string()
}

fn no_record(reason: &str) -> String {
    format!(
        "{reason}: it was never opened, or Redis has lost the record; `juror retry` opens the run again"
    )
}
