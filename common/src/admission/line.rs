//! Who waits for what, in the order in which they came.
//!
//! Whoever waits ahead counts as served already, so that a large ask gets its turn. A caller that
//! no longer asks loses its place after a while, and so does one that releases its lease.

use super::{Ask, buckets::Need, budgets::Scope};
use crate::{id::LeaseId, usage::Money};

/// How long a place is kept beyond the time at which its holder was told to ask again.
const GRACE: i64 = 3_000;

/// What a caller waits for; one thing at a time, the first that stood in its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Money of a scope.
    Money(Scope),
    /// The rate limits of an endpoint.
    Rates(String),
}

/// The callers that were told to wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    waiting: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    lease: LeaseId,
    awaited: Awaited,
    need: Need,
    worst: Money,
    seen: i64,
    kept_until: i64,
}

impl Line {
    /// Forgets those who no longer ask. A clock that was set back ends every place.
    pub fn prune(&mut self, now: i64) {
        self.waiting.retain(|place| place.seen <= now && now <= place.kept_until);
    }

    /// The money of a scope that callers ahead of this one wait for.
    pub fn money_ahead(&self, lease: &LeaseId, scope: &Scope) -> Money {
        self.ahead(lease)
            .filter(|place| matches!(&place.awaited, Awaited::Money(of) if of == scope))
            .map(|place| place.worst)
            .sum()
    }

    /// What callers ahead of this one wait for at an endpoint.
    pub fn needs_ahead(&self, lease: &LeaseId, endpoint: &str) -> Vec<Need> {
        self.ahead(lease)
            .filter(|place| matches!(&place.awaited, Awaited::Rates(of) if of == endpoint))
            .map(|place| place.need)
            .collect()
    }

    fn ahead(&self, lease: &LeaseId) -> impl Iterator<Item = &Place> {
        self.waiting.iter().take_while(move |place| place.lease != *lease)
    }

    /// Keeps or gives a place to a caller that is told to ask again after `delay` milliseconds.
    pub fn wait(&mut self, ask: &Ask, awaited: Awaited, need: Need, delay: i64, now: i64) {
        let place = Place {
            lease: ask.lease.clone(),
            awaited,
            need,
            worst: ask.worst_cost,
            seen: now,
            kept_until: now.saturating_add(delay).saturating_add(GRACE),
        };
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
