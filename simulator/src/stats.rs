//! What a simulator has seen and billed.

use crate::fault::Fault;
use juror_common::usage::{Money, Usage};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The count of a simulator, as `GET /stats` tells it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Requests to judge something.
    pub requests: u64,
    /// Answers with status 200 that were sent, good or spoiled.
    pub answers: u64,
    /// Requests that were turned away by the simulator's own rules, by the error's code.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Faults that were played, by name.
    pub faults: BTreeMap<&'static str, u64>,
    /// Calls that a provider would have billed.
    pub billed_calls: u64,
    /// What it would have billed: the sum of every such call's cost.
    pub billed_usd: Money,
    /// The tokens of those calls.
    pub usage: Usage,
    /// Requests that are being answered now.
    pub in_flight: u64,
    /// The most that were ever answered at once.
    pub max_in_flight: u64,
}

/// A count that connections share.
#[derive(Debug, Default)]
pub(crate) struct Counter(Mutex<Stats>);

impl Counter {
    pub(crate) fn stats(&self) -> Stats {
        self.lock().clone()
    }

    /// Counts a request in flight until the guard is dropped, however its answer ends.
    pub(crate) fn arrive(&self) -> InFlight<'_> {
        let mut stats = self.lock();
        stats.requests += 1;
        stats.in_flight += 1;
        stats.max_in_flight = stats.max_in_flight.max(stats.in_flight);
        InFlight(self)
    }

    pub(crate) fn refuse(&self, code: &'static str) {
        *self.lock().refusals.entry(code).or_default() += 1;
    }

    pub(crate) fn spoil(&self, fault: Fault) {
        *self.lock().faults.entry(fault.name()).or_default() += 1;
    }

    pub(crate) fn bill(&self, cost: Money, usage: Usage) {
        let mut stats = self.lock();
        stats.billed_calls += 1;
        stats.billed_usd += cost;
        stats.usage += usage;
    }

    pub(crate) fn answer(&self) {
        self.lock().answers += 1;
    }

    /// Whoever panicked while counting left a count behind; it is still the best there is.
    fn lock(&self) -> MutexGuard<'_, Stats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One request that is being answered.
pub(crate) struct InFlight<'a>(&'a Counter);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.lock().in_flight -= 1;
    }
}
