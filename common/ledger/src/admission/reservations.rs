//! Calls that wait for the rate limits of an endpoint.
//!
//! Reservations of waiting calls. The need of such a call is taken from the buckets when it first
//! asks, and with that the time at which it may go is fixed: later calls come after it without a
//! look at those that wait. So a decision costs the same however many wait. A call that asks again
//! before its time, as after a refund, may go sooner; never later, unless the provider has refused
//! meanwhile.

use super::{
    WaitReason,
    buckets::{CallNeed, EndpointState},
};
use juror_types::id::LeaseId;
use std::collections::BTreeMap;

/// Milliseconds for which a reservation is kept beyond its time.
const GRACE: i64 = 3_000;
/// Reservations from which on those are forgotten whose time is over.
const MAX_UNPRUNED: usize = 1_024;

/// The reservations of calls that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reservations(BTreeMap<LeaseId, Reservation>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Reservation {
    endpoint: String,
    need: CallNeed,
    /// Time at which it was made or renewed.
    since: i64,
    /// Time at which the call may go.
    start: i64,
}

impl Reservation {
    fn is_kept(&self, now: i64) -> bool {
        self.since <= now && now <= self.start.saturating_add(GRACE)
    }
}

impl Reservations {
    /// Takes what a call needs of its endpoint; how many milliseconds it has to wait, and for what,
    /// or none if it may go now. During a cooldown nothing is taken, and a reservation ends.
    pub fn admit(
        &mut self,
        lease: &LeaseId,
        (name, endpoint): (&str, &mut EndpointState),
        need: CallNeed,
        now: i64,
    ) -> Option<(i64, WaitReason)> {
        let held = self.0.remove(lease).filter(|held| held.is_kept(now));
        if let Some(left) = endpoint.cooldown(now) {
            return Some((left, WaitReason::Cooldown));
        }
        if let Some(held) = &held {
            endpoint.return_reservation(held.need, now);
        }
        let delay = endpoint.delay(need, now);
        endpoint.take(need);
        let (delay, reason) = delay?;
        let promised = held.map_or(i64::MAX, |held| held.start);
        let start = promised.min(now.saturating_add(delay));
        if start <= now {
            return None;
        }
        if self.0.len() >= MAX_UNPRUNED {
            self.0.retain(|_, reservation| reservation.is_kept(now));
        }
        let endpoint = name.to_owned();
        self.0.insert(lease.clone(), Reservation { endpoint, need, since: now, start });
        Some((start - now, reason))
    }

    /// Ends a reservation whose call gives up; returns what to give back, and to which endpoint.
    pub fn cancel(&mut self, lease: &LeaseId, now: i64) -> Option<(String, CallNeed)> {
        let held = self.0.remove(lease).filter(|held| held.is_kept(now))?;
        Some((held.endpoint, held.need))
    }
}
