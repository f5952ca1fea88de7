//! The state machine of admission: no clock and no storage of its own. Every operation takes the
//! time in milliseconds since 1970 and the [`LedgerRecords`] of the backend that it runs in.

use super::{
    AdmissionDecision, Ask, Budget, Ledger, Limits, MonthLedger, Observation, WaitReason,
    buckets::{CallNeed, EndpointState},
    budgets::{Account, Headroom, headroom},
    reservations::Reservations,
    scope::{Period, Scope, SharedBudget},
};
use crate::admission::{
    records::{Lease, LeaseState, LedgerRecords},
    wait_queue::Line,
};
use jiff::civil::Date;
use juror_types::{
    budget_label::BudgetLabel,
    id::{LeaseId, OwnerId, RunId},
    usage::{Money, Usage},
};
use std::{collections::BTreeMap, time::Duration};

/// An owner that has not been heard of for so many milliseconds is gone: four heartbeats of 15 s.
pub const OWNER_GONE_AFTER: i64 = 60_000;

/// The part of admission that a restart may forget: rate limits and who waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimiterState {
    endpoints: BTreeMap<String, EndpointState>,
    reservations: Reservations,
    line: Line,
}

/// An answered call, to be booked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bill {
    /// The call's lease.
    pub lease: LeaseId,
    /// The run that pays, should the lease be unknown.
    pub run: RunId,
    /// Cost of the call by its bill.
    pub cost: Money,
    /// Usage of the call by its bill.
    pub usage: Usage,
    /// True if some result will tell this cost. Otherwise it counts among what is presumed.
    pub told: bool,
}

/// Effect of booking a bill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Booked {
    /// True if it was booked now, and not before.
    pub first: bool,
    /// By how much it exceeded its reservation.
    pub overrun: Money,
}

/// Writes down what a run may cost. Ends a stop after an overrun: somebody decided to go on.
pub fn open_run<B: LedgerRecords>(
    books: &mut B,
    run: &RunId,
    budget: Budget,
) -> Result<(), B::Error> {
    let scope = Scope::Run(run.clone());
    books.set_budget(&scope.budget_key(), budget)?;
    let account = Account { stopped: false, ..books.account(&scope)? };
    books.set_account(&scope, &account)
}

/// Books what the results of a run cost by its journal, as far as its account lacks it, also on the
/// current day and month and on those of its labels. `carried` is what the account has of calls
/// whose jobs are unfinished, which no result tells.
pub fn book_journal<B: LedgerRecords>(
    books: &mut B,
    run: &RunId,
    (spent, unattributed_cost): (Money, Money),
    now: i64,
) -> Result<(), B::Error> {
    let account = books.account(&Scope::Run(run.clone()))?;
    let missing = spent - (account.committed - account.presumed - unattributed_cost);
    if missing <= Money::ZERO {
        return Ok(());
    }
    let day = books.calendar()?.day_of(now);
    for scope in Scope::all_of(run, &books.labels(run)?, day) {
        let account = books.account(&scope)?;
        books
            .set_account(&scope, &Account { committed: account.committed + missing, ..account })?;
    }
    Ok(())
}

/// Books the calls of a run under these labels too, from now on. A label without a cap on record
/// gets an unlimited one.
pub fn label_run<B: LedgerRecords>(
    books: &mut B,
    run: &RunId,
    labels: &[BudgetLabel],
) -> Result<(), B::Error> {
    for label in labels {
        open_label(books, label)?;
    }
    books.set_labels(run, labels)
}

/// Sets the cap of a budget that runs share; returns the one before. A label has a cap for days and
/// one for months from then on.
pub fn set_cap<B: LedgerRecords>(
    books: &mut B,
    budget: &SharedBudget,
    cap: Budget,
) -> Result<Option<Budget>, B::Error> {
    if let Some(label) = &budget.label {
        open_label(books, label)?;
    }
    let before = books.budget(&budget.key())?;
    books.set_budget(&budget.key(), cap)?;
    Ok(before)
}

fn open_label<B: LedgerRecords>(books: &mut B, label: &BudgetLabel) -> Result<(), B::Error> {
    for period in Period::ALL {
        let key = SharedBudget { period, label: Some(label.clone()) }.key();
        if books.budget(&key)?.is_none() {
            books.set_budget(&key, Budget::Unlimited)?;
        }
    }
    Ok(())
}

/// One decision over all budgets and rate limits.
pub fn admit<B: LedgerRecords>(
    books: &mut B,
    limiter: &mut RateLimiterState,
    ask: &Ask,
    now: i64,
) -> Result<AdmissionDecision, B::Error> {
    limiter.line.prune(now);
    if let Some(lease) = books.lease(&ask.lease)? {
        return Ok(match lease.lease_state {
            LeaseState::Outstanding => AdmissionDecision::Admitted,
            LeaseState::Settled(_) | LeaseState::Presumed => AdmissionDecision::NoBudget {
                reason: format!("lease {} has ended: a new call needs a new one", ask.lease),
            },
        });
    }
    let worst = ask.worst_cost.max(Money::ZERO);
    let mut accounts = Vec::new();
    let mut held = None;
    let day = books.calendar()?.day_of(now);
    let labels = books.labels(&ask.run)?;
    for scope in Scope::all_of(&ask.run, &labels, day) {
        let budget = books.budget(&scope.budget_key())?;
        let account = books.account(&scope)?;
        let ahead = limiter.line.money_ahead(&ask.lease, &scope);
        match headroom(&scope, budget, &account, worst, ahead) {
            Headroom::Available => {}
            Headroom::Reserved => held = held.or(Some(scope.clone())),
            Headroom::Exceeded(reason) => {
                limiter.leave(&ask.lease, now);
                return Ok(AdmissionDecision::NoBudget { reason });
            }
        }
        accounts.push((scope, account));
    }
    if let Some(decision) = limiter.wait(ask, held, now) {
        return Ok(decision);
    }
    for (scope, mut account) in accounts {
        account.outstanding += worst;
        books.set_account(&scope, &account)?;
    }
    books.set_lease(&ask.lease, &Lease::of(ask, labels, now, day))?;
    Ok(AdmissionDecision::Admitted)
}

/// Books what a call cost, even above its reservation and even if its lease is unknown or was
/// presumed spent. Booking twice books once.
pub fn settle<B: LedgerRecords>(
    books: &mut B,
    limiter: &mut RateLimiterState,
    bill: &Bill,
    now: i64,
) -> Result<Booked, B::Error> {
    limiter.line.leave(&bill.lease);
    let cost = bill.cost.max(Money::ZERO);
    let known = books.lease(&bill.lease)?;
    let mut lease = match &known {
        Some(lease) => lease.clone(),
        None => {
            let (labels, day) = (books.labels(&bill.run)?, books.calendar()?.day_of(now));
            Lease::unasked(&bill.run, labels, now, day)
        }
    };
    if let LeaseState::Settled(booked) = lease.lease_state {
        return Ok(Booked { first: false, overrun: excess(booked, lease.worst_cost) });
    }
    let overrun = excess(cost, lease.worst_cost);
    let mut capped = false;
    for scope in Scope::all_of(&lease.run, &lease.labels, lease.day) {
        let mut account = books.account(&scope)?;
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
        if !bill.told {
            account.presumed += cost;
        }
        books.set_account(&scope, &account)?;
        capped |= matches!(books.budget(&scope.budget_key())?, Some(Budget::Cap(_)));
    }
    if overrun > Money::ZERO && capped {
        stop(books, &lease.run)?;
    }
    limiter.refund(&lease, bill.usage, now);
    lease.lease_state = LeaseState::Settled(cost);
    books.set_lease(&bill.lease, &lease)?;
    Ok(Booked { first: true, overrun })
}

/// Gives back a lease whose call was not charged, and any place in the line.
pub fn release<B: LedgerRecords>(
    books: &mut B,
    limiter: &mut RateLimiterState,
    id: &LeaseId,
    now: i64,
) -> Result<(), B::Error> {
    limiter.leave(id, now);
    let Some(lease) = outstanding(books, id)? else { return Ok(()) };
    for scope in Scope::all_of(&lease.run, &lease.labels, lease.day) {
        let mut account = books.account(&scope)?;
        account.outstanding -= lease.worst_cost;
        books.set_account(&scope, &account)?;
    }
    limiter.refund(&lease, Usage::default(), now);
    books.remove_lease(id)
}

/// Counts a lease as spent at its worst case.
pub fn presume_spent<B: LedgerRecords>(books: &mut B, id: &LeaseId) -> Result<(), B::Error> {
    let Some(mut lease) = outstanding(books, id)? else { return Ok(()) };
    for scope in Scope::all_of(&lease.run, &lease.labels, lease.day) {
        let mut account = books.account(&scope)?;
        account.outstanding -= lease.worst_cost;
        account.committed += lease.worst_cost;
        account.presumed += lease.worst_cost;
        books.set_account(&scope, &account)?;
    }
    lease.lease_state = LeaseState::Presumed;
    books.set_lease(id, &lease)
}

/// Presumes spent the leases of owners that are gone; answers how many.
pub fn sweep<B: LedgerRecords>(books: &mut B, now: i64) -> Result<usize, B::Error> {
    let orphans = books.leases_of_silent_owners(now.saturating_sub(OWNER_GONE_AFTER))?;
    presume_all(books, &orphans)
}

/// Presumes spent the leases that earlier owners of a run held; answers how many. Only for who
/// has proof that they are dead.
pub fn adopt<B: LedgerRecords>(
    books: &mut B,
    run: &RunId,
    owner: &OwnerId,
) -> Result<usize, B::Error> {
    let orphans = books.leases_of_others(run, owner)?;
    presume_all(books, &orphans)
}

/// A run's money as the books have it; none if the run has no budget on record.
pub fn ledger<B: LedgerRecords>(
    books: &B,
    run: &RunId,
    now: i64,
) -> Result<Option<Ledger>, B::Error> {
    let scope = Scope::Run(run.clone());
    let Some(budget) = books.budget(&scope.budget_key())? else { return Ok(None) };
    let Account { committed, presumed, outstanding, overrun, .. } = books.account(&scope)?;
    // Claims are the store's: a backend adds what they carry.
    let unattributed_cost = Money::ZERO;
    let month = Some(month_ledger(books, now)?);
    Ok(Some(Ledger { budget, committed, presumed, unattributed_cost, outstanding, overrun, month }))
}

fn month_ledger<B: LedgerRecords>(books: &B, now: i64) -> Result<MonthLedger, B::Error> {
    let day = books.calendar()?.day_of(now);
    let scope = Scope::of_month(day);
    let budget = books.budget(&scope.budget_key())?;
    Ok(MonthLedger { day, budget, committed: books.account(&scope)?.committed })
}

impl RateLimiterState {
    /// Takes the user's limits for an endpoint.
    pub fn set_limits(&mut self, endpoint: &str, limits: Limits, now: i64) {
        self.endpoint(endpoint, now).set_limits(limits, now);
    }

    /// Learns from what a provider said; answers whether any of it was news.
    pub fn observe(&mut self, observation: &Observation, now: i64) -> bool {
        self.endpoint(&observation.endpoint, now).observe(observation, now)
    }

    /// Gives the ask its place in the line if it waits for money; otherwise takes what it needs of
    /// its endpoint, from now on or from the time on at which that is there.
    fn wait(&mut self, ask: &Ask, held: Option<Scope>, now: i64) -> Option<AdmissionDecision> {
        let need = CallNeed { tokens: ask.input_tokens.saturating_add(ask.max_output_tokens) };
        if let Some(scope) = held {
            self.line.wait(ask, scope, now);
            return Some(AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget });
        }
        self.line.leave(&ask.lease);
        let Self { endpoints, reservations, .. } = self;
        let endpoint =
            endpoints.entry(ask.endpoint.clone()).or_insert_with(|| EndpointState::new(now));
        let (delay, reason) =
            reservations.admit(&ask.lease, (&ask.endpoint, endpoint), need, now)?;
        let retry_after = Some(Duration::from_millis(delay.unsigned_abs()));
        Some(AdmissionDecision::Wait { retry_after, reason })
    }

    /// Gives up waiting.
    fn leave(&mut self, lease: &LeaseId, now: i64) {
        self.line.leave(lease);
        if let Some((name, need)) = self.reservations.cancel(lease, now)
            && let Some(endpoint) = self.endpoints.get_mut(&name)
        {
            endpoint.return_reservation(need, now);
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
    fn of(ask: &Ask, labels: Vec<BudgetLabel>, now: i64, day: Date) -> Self {
        Self {
            owner: ask.owner.clone(),
            run: ask.run.clone(),
            labels,
            endpoint: ask.endpoint.clone(),
            tokens: ask.input_tokens.saturating_add(ask.max_output_tokens),
            worst_cost: ask.worst_cost.max(Money::ZERO),
            admitted: now,
            day,
            lease_state: LeaseState::Outstanding,
        }
    }

    /// Stands in for a lease that nobody remembers: the whole bill is above its reservation.
    fn unasked(run: &RunId, labels: Vec<BudgetLabel>, now: i64, day: Date) -> Self {
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

fn excess(cost: Money, reserved: Money) -> Money {
    (cost - reserved).max(Money::ZERO)
}

fn outstanding<B: LedgerRecords>(books: &B, id: &LeaseId) -> Result<Option<Lease>, B::Error> {
    Ok(books.lease(id)?.filter(|lease| lease.lease_state == LeaseState::Outstanding))
}

fn presume_all<B: LedgerRecords>(books: &mut B, leases: &[LeaseId]) -> Result<usize, B::Error> {
    for lease in leases {
        presume_spent(books, lease)?;
    }
    Ok(leases.len())
}

fn stop<B: LedgerRecords>(books: &mut B, run: &RunId) -> Result<(), B::Error> {
    let scope = Scope::Run(run.clone());
    let account = Account { stopped: true, ..books.account(&scope)? };
    books.set_account(&scope, &account)
}

#[cfg(test)]
mod tests;
