//! State machine of admission, without clock and storage. Every operation takes the time in
//! milliseconds since 1970 and the [`LedgerRecords`] of its backend.

mod budget_operations;

pub use budget_operations::{book_journal, label_run, ledger, open_run, set_cap};

use super::{
    AdmissionDecision, AdmissionRequest, Budget, Limits, Observation, WaitReason,
    budget_decision::{Account, Headroom, headroom},
    endpoint_limits::EndpointState,
    rate_limit_reservations::Reservations,
    scope::Scope,
};
use crate::admission::{
    budget_queue::WaitQueue,
    records::{Lease, LeaseState, LedgerRecords},
};
use jiff::civil::Date;
use juror_types::{
    budget_label::BudgetLabel,
    id::{LeaseId, OwnerId, RunId},
    usage::{Money, Usage},
};
use std::{collections::BTreeMap, time::Duration};

/// Time without a heartbeat after which an owner counts as gone, in milliseconds: four heartbeats
/// of 15 s.
pub const OWNER_TIMEOUT: i64 = 60_000;

/// The volatile part of admission: rate limits and waiting calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimiterState {
    endpoints: BTreeMap<String, EndpointState>,
    reservations: Reservations,
    queue: WaitQueue,
}

/// A finished call to be booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bill {
    /// The call's lease.
    pub lease: LeaseId,
    /// The run that pays, in case the lease is unknown.
    pub run: RunId,
    /// Cost of the call by its bill.
    pub cost: Money,
    /// Usage of the call by its bill.
    pub usage: Usage,
    /// True if a result will include this cost. Otherwise it counts as presumed.
    pub in_result: bool,
}

/// Effect of booking a bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booked {
    /// True if it was booked by this call, not before.
    pub first: bool,
    /// Amount by which it exceeded its reservation.
    pub overrun: Money,
}

impl RateLimiterState {
    /// Sets the user's limits of an endpoint.
    pub fn set_limits(&mut self, endpoint: &str, limits: Limits, now: i64) {
        self.endpoint(endpoint, now).set_limits(limits, now);
    }

    /// Updates limits by a provider's reply; returns true if anything changed.
    pub fn observe(&mut self, observation: &Observation, now: i64) -> bool {
        self.endpoint(&observation.endpoint, now).observe(observation, now)
    }

    /// Queues the request if it waits for money; otherwise reserves its demand on its endpoint,
    /// from now on or from the time at which it is available.
    fn wait(
        &mut self,
        request: &AdmissionRequest,
        held: Option<Scope>,
        now: i64,
    ) -> Option<AdmissionDecision> {
        let tokens = request.input_tokens.saturating_add(request.max_output_tokens);
        if let Some(scope) = held {
            self.queue.wait(request, scope, now);
            return Some(AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget });
        }
        self.queue.remove(&request.lease);
        let Self { endpoints, reservations, .. } = self;
        let endpoint =
            endpoints.entry(request.endpoint.clone()).or_insert_with(|| EndpointState::new(now));
        let (delay, reason) =
            reservations.admit(&request.lease, (&request.endpoint, endpoint), tokens, now)?;
        let retry_after = Some(Duration::from_millis(delay.unsigned_abs()));
        Some(AdmissionDecision::Wait { retry_after, reason })
    }

    /// Stops waiting.
    fn stop_waiting(&mut self, lease: &LeaseId, now: i64) {
        self.queue.remove(lease);
        if let Some((name, tokens)) = self.reservations.cancel(lease, now)
            && let Some(endpoint) = self.endpoints.get_mut(&name)
        {
            endpoint.return_reservation(tokens, now);
        }
    }

    fn refund(&mut self, lease: &Lease, used: Usage, now: i64) {
        if let Some(endpoint) = self.endpoints.get_mut(&lease.endpoint) {
            endpoint.refund(lease.tokens, used, now);
        }
    }

    fn endpoint(&mut self, name: &str, now: i64) -> &mut EndpointState {
        self.endpoints.entry(name.to_owned()).or_insert_with(|| EndpointState::new(now))
    }
}

impl Lease {
    fn new(request: &AdmissionRequest, labels: Vec<BudgetLabel>, now: i64, day: Date) -> Self {
        Self {
            owner: request.owner.clone(),
            run: request.run.clone(),
            labels,
            endpoint: request.endpoint.clone(),
            tokens: request.input_tokens.saturating_add(request.max_output_tokens),
            worst_cost: request.worst_cost.max(Money::ZERO),
            admitted: now,
            day,
            lease_state: LeaseState::Outstanding,
        }
    }

    /// Substitute for an unknown lease: its whole bill is above its reservation.
    fn for_unknown_lease(run: &RunId, labels: Vec<BudgetLabel>, now: i64, day: Date) -> Self {
        Self {
            owner: OwnerId::new(""),
            run: run.clone(),
            labels,
            endpoint: String::new(),
            tokens: 0,
            worst_cost: Money::ZERO,
            admitted: now,
            day,
            lease_state: LeaseState::Outstanding,
        }
    }
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
/// presumed spent. Booking twice books once.
pub fn settle<B: LedgerRecords>(
    records: &mut B,
    limiter: &mut RateLimiterState,
    bill: &Bill,
    now: i64,
) -> Result<Booked, B::Error> {
    limiter.queue.remove(&bill.lease);
    let cost = bill.cost.max(Money::ZERO);
    let known = records.lease(&bill.lease)?;
    let mut lease = match &known {
        Some(lease) => lease.clone(),
        None => {
            let (labels, day) = (records.labels(&bill.run)?, records.calendar()?.day_of(now));
            Lease::for_unknown_lease(&bill.run, labels, now, day)
        }
    };
    if let LeaseState::Settled(booked) = lease.lease_state {
        return Ok(Booked { first: false, overrun: excess(booked, lease.worst_cost) });
    }
    let overrun = excess(cost, lease.worst_cost);
    let mut capped = false;
    for scope in Scope::all_of(&lease.run, &lease.labels, lease.day) {
        let mut account = records.account(&scope)?;
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
        if !bill.in_result {
            account.presumed += cost;
        }
        records.set_account(&scope, &account)?;
        capped |= matches!(records.budget(&scope.budget_key())?, Some(Budget::Cap(_)));
    }
    if overrun > Money::ZERO && capped {
        stop(records, &lease.run)?;
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
    let Some(lease) = outstanding(records, id)? else { return Ok(()) };
    for scope in Scope::all_of(&lease.run, &lease.labels, lease.day) {
        let mut account = records.account(&scope)?;
        account.outstanding -= lease.worst_cost;
        records.set_account(&scope, &account)?;
    }
    limiter.refund(&lease, Usage::default(), now);
    records.remove_lease(id)
}

/// Counts a lease as spent at its worst case.
pub fn presume_spent<B: LedgerRecords>(records: &mut B, id: &LeaseId) -> Result<(), B::Error> {
    let Some(mut lease) = outstanding(records, id)? else { return Ok(()) };
    for scope in Scope::all_of(&lease.run, &lease.labels, lease.day) {
        let mut account = records.account(&scope)?;
        account.outstanding -= lease.worst_cost;
        account.committed += lease.worst_cost;
        account.presumed += lease.worst_cost;
        records.set_account(&scope, &account)?;
    }
    lease.lease_state = LeaseState::Presumed;
    records.set_lease(id, &lease)
}

/// Presumes spent the leases of owners that are gone; returns their number.
pub fn sweep<B: LedgerRecords>(records: &mut B, now: i64) -> Result<usize, B::Error> {
    let orphans = records.leases_of_silent_owners(now.saturating_sub(OWNER_TIMEOUT))?;
    presume_all(records, &orphans)
}

/// Presumes spent the leases of earlier owners of a run; returns their number. Only for a caller
/// with proof that they are dead.
pub fn adopt<B: LedgerRecords>(
    records: &mut B,
    run: &RunId,
    owner: &OwnerId,
) -> Result<usize, B::Error> {
    let orphans = records.leases_of_others(run, owner)?;
    presume_all(records, &orphans)
}

fn excess(cost: Money, reserved: Money) -> Money {
    (cost - reserved).max(Money::ZERO)
}

fn outstanding<B: LedgerRecords>(records: &B, id: &LeaseId) -> Result<Option<Lease>, B::Error> {
    Ok(records.lease(id)?.filter(|lease| lease.lease_state == LeaseState::Outstanding))
}

fn presume_all<B: LedgerRecords>(records: &mut B, leases: &[LeaseId]) -> Result<usize, B::Error> {
    for lease in leases {
        presume_spent(records, lease)?;
    }
    Ok(leases.len())
}

fn stop<B: LedgerRecords>(records: &mut B, run: &RunId) -> Result<(), B::Error> {
    let scope = Scope::Run(run.clone());
    let account = Account { stopped: true, ..records.account(&scope)? };
    records.set_account(&scope, &account)
}

#[cfg(test)]
mod tests;
