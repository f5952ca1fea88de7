//! Calls that wait for money, in the order in which they asked.
//!
//! A call that waits ahead counts as served already, so that a large one gets its turn. A caller
//! that no longer asks loses its place after a while, and so does one that releases its lease.

use super::{Ask, scope::Scope};
use juror_types::{id::LeaseId, usage::Money};

/// Milliseconds for which a place is kept after its caller has asked.
const GRACE: i64 = 3_000;

/// The calls that were told to wait for money.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    waiting: Vec<WaitPlace>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct WaitPlace {
    lease: LeaseId,
    /// The first scope that stood in the way.
    scope: Scope,
    worst: Money,
    seen: i64,
}

impl Line {
    /// Forgets those who no longer ask. A clock that was set back ends every place.
    pub fn prune(&mut self, now: i64) {
        self.waiting.retain(|place| place.seen <= now && now <= place.seen + GRACE);
    }

    /// The money of a scope that callers ahead of this one wait for.
    pub fn money_ahead(&self, lease: &LeaseId, scope: &Scope) -> Money {
        let ahead = self.waiting.iter().take_while(|place| place.lease != *lease);
        ahead.filter(|place| place.scope == *scope).map(|place| place.worst).sum()
    }

    /// Keeps or gives a place to a caller that is told to wait for money of this scope.
    pub fn wait(&mut self, ask: &Ask, scope: Scope, now: i64) {
        let lease = ask.lease.clone();
        let place = WaitPlace { lease, scope, worst: ask.worst_cost, seen: now };
        match self.waiting.iter_mut().find(|waiting| waiting.lease == place.lease) {
            Some(held) => *held = place,
            None => self.waiting.push(place),
        }
    }

    /// Gives up a place.
    pub fn leave(&mut self, lease: &LeaseId) {
        self.waiting.retain(|place| place.lease != *lease);
    }
}
