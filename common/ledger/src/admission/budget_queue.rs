//! Queue of calls that wait for money, in the order of their first requests.
//!
//! A call ahead in the queue counts as served, so that a large one is not starved. A caller that
//! stops its requests loses its place after a while; releasing its lease ends it immediately.

use super::{AdmissionRequest, scope::Scope};
use juror_types::{id::LeaseId, usage::Money};

/// Milliseconds for which a place is kept after its last request.
const GRACE_MS: i64 = 3_000;

/// Calls that wait for money.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetQueue {
    waiting: Vec<WaitPlace>,
}

impl BudgetQueue {
    /// Removes callers without recent requests. A clock that was set back ends every place.
    pub fn prune(&mut self, now: i64) {
        self.waiting.retain(|place| place.seen <= now && now <= place.seen + GRACE_MS);
    }

    /// Money of a scope that callers ahead of this one wait for.
    pub fn money_ahead(&self, lease: &LeaseId, scope: &Scope) -> Money {
        let ahead = self.waiting.iter().take_while(|place| place.lease != *lease);
        ahead.filter(|place| place.scope == *scope).map(|place| place.worst).sum()
    }

    /// Queues a caller for money of this scope, or renews its place.
    pub fn wait(&mut self, request: &AdmissionRequest, scope: Scope, now: i64) {
        let lease = request.lease.clone();
        let place = WaitPlace { lease, scope, worst: request.worst_cost, seen: now };
        match self.waiting.iter_mut().find(|waiting| waiting.lease == place.lease) {
            Some(held) => *held = place,
            None => self.waiting.push(place),
        }
    }

    /// Removes a place.
    pub fn remove(&mut self, lease: &LeaseId) {
        self.waiting.retain(|place| place.lease != *lease);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct WaitPlace {
    lease: LeaseId,
    /// The first scope without headroom.
    scope: Scope,
    worst: Money,
    seen: i64,
}
