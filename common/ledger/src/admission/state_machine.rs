//! State machine of admission, without clock and storage. Every operation takes the time in
//! milliseconds since 1970 and the [`LedgerRecords`] of its backend.

mod budget_operations;
mod presume_spent;
mod rate_limiter_state;

pub use budget_operations::{book_journal, ledger, open_run, set_budget_labels, set_cap};
pub use presume_spent::{OWNER_TIMEOUT, adopt, presume_spent, sweep};
pub use rate_limiter_state::RateLimiterState;

use super::{
    AdmissionDecision, AdmissionRequest, Budget, Settlement,
    headroom::{Headroom, headroom},
    records::{Lease, LeaseState, LedgerRecords},
    scope::Scope,
};
use juror_types::{
    id::LeaseId,
    usage::{Money, Usage},
};

/// Effect of booking a bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booked {
    /// True if it was booked by this call, not before.
    pub first: bool,
    /// Amount by which it exceeded its reservation.
    pub overrun: Money,
}

/// One decision over all budgets and rate limits.
pub fn admit<B: LedgerRecords>(
    records: &mut B,
    limiter: &mut RateLimiterState,
    request: &AdmissionRequest,
    now: i64,
) -> Result<AdmissionDecision, B::Error> {
    limiter.queue.prune(now);
    if let Some(lease) = records.lease(&request.lease)? {
        return Ok(match lease.lease_state {
            LeaseState::Outstanding => AdmissionDecision::Admitted,
            LeaseState::Settled(_) | LeaseState::Presumed => AdmissionDecision::NoBudget {
                reason: format!("lease {} has ended: a new call needs a new one", request.lease),
            },
        });
    }
    let worst = request.worst_cost.max(Money::ZERO);
    let mut accounts = Vec::new();
    let mut held = None;
    let day = records.calendar()?.day_of(now);
    let labels = records.labels(&request.run)?;
    for scope in Scope::all_of(&request.run, &labels, day) {
        let budget = records.budget(&scope.budget_key())?;
        let account = records.account(&scope)?;
        let ahead = limiter.queue.money_ahead(&request.lease, &scope);
        match headroom(&scope, budget, &account, worst, ahead) {
            Headroom::Available => {}
            Headroom::Reserved => held = held.or(Some(scope.clone())),
            Headroom::Exceeded(reason) => {
                limiter.stop_waiting(&request.lease, now);
                return Ok(AdmissionDecision::NoBudget { reason });
            }
        }
        accounts.push((scope, account));
    }
    if let Some(decision) = limiter.wait(request, held, now) {
        return Ok(decision);
    }
    for (scope, mut account) in accounts {
        account.outstanding += worst;
        records.set_account(&scope, &account)?;
    }
    records.set_lease(&request.lease, &Lease::new(request, labels, now, day))?;
    Ok(AdmissionDecision::Admitted)
}

/// Books the cost of a call, even above its reservation and even if its lease is unknown or was
/// presumed spent. Booking twice books once. Unless a result will include it (`in_result`), the
/// cost counts as presumed.
pub fn settle<B: LedgerRecords>(
    records: &mut B,
    limiter: &mut RateLimiterState,
    bill: &Settlement,
    in_result: bool,
    now: i64,
) -> Result<Booked, B::Error> {
    limiter.queue.remove(&bill.lease);
    let cost = bill.cost.max(Money::ZERO);
    let known = records.lease(&bill.lease)?;
    let mut lease = match &known {
        Some(lease) => lease.clone(),
        None => {
            let run = &bill.claim.run;
            let (labels, day) = (records.labels(run)?, records.calendar()?.day_of(now));
            Lease::for_unknown_lease(run, labels, now, day)
        }
    };
    if let LeaseState::Settled(booked) = lease.lease_state {
        return Ok(Booked { first: false, overrun: excess(booked, lease.worst_cost) });
    }
    let overrun = excess(cost, lease.worst_cost);
    let mut capped = false;
    for scope in lease.scopes() {
        records.change_account(&scope, |account| {
            match known.as_ref().map(|lease| lease.lease_state) {
                Some(LeaseState::Outstanding) => account.outstanding -= lease.worst_cost,
                Some(LeaseState::Presumed) => {
                    account.committed -= lease.worst_cost;
                    account.presumed -= lease.worst_cost;
                }
                Some(LeaseState::Settled(_)) | None => {}
            }
            account.committed += cost;
            account.overrun += overrun;
            if !in_result {
                account.presumed += cost;
            }
        })?;
        capped |= matches!(records.budget(&scope.budget_key())?, Some(Budget::Cap(_)));
    }
    if overrun > Money::ZERO && capped {
        let scope = Scope::Run(lease.run.clone());
        records.change_account(&scope, |account| account.stopped = true)?;
    }
    limiter.refund(&lease, bill.usage, now);
    lease.lease_state = LeaseState::Settled(cost);
    records.set_lease(&bill.lease, &lease)?;
    Ok(Booked { first: true, overrun })
}

/// Releases a lease whose call was not charged, and any place in the queue.
pub fn release<B: LedgerRecords>(
    records: &mut B,
    limiter: &mut RateLimiterState,
    id: &LeaseId,
    now: i64,
) -> Result<(), B::Error> {
    limiter.stop_waiting(id, now);
    let Some(lease) = records.outstanding_lease(id)? else { return Ok(()) };
    for scope in lease.scopes() {
        records.change_account(&scope, |account| account.outstanding -= lease.worst_cost)?;
    }
    limiter.refund(&lease, Usage::default(), now);
    records.remove_lease(id)
}

fn excess(cost: Money, reserved: Money) -> Money {
    (cost - reserved).max(Money::ZERO)
}

#[cfg(test)]
mod tests;
