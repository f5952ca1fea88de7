//! Reservations of calls that wait for the rate limits of an endpoint.
//!
//! The demand of such a call is taken from the buckets at its first request, which fixes its start
//! time: later calls come after it without a search through the waiting ones, so the cost of a
//! decision is independent of their number. A call that repeats its request early, as after a
//! refund, may start sooner; it starts later only if the provider has refused a call meanwhile.

use super::{AdmissionRequest, WaitReason, endpoint_limits::EndpointState};
use juror_types::id::LeaseId;
use std::collections::BTreeMap;

/// Milliseconds for which a reservation is kept beyond its start time.
const GRACE_MS: i64 = 3_000;
/// Number of reservations from which on expired ones are removed.
const MAX_UNPRUNED: usize = 1_024;

/// Reservations of waiting calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reservations(BTreeMap<LeaseId, Reservation>);

impl Reservations {
    /// Reserves a call's demand on its endpoint; returns how many milliseconds it has to wait and
    /// for what, or none if it may start now. During a cooldown nothing is taken, and a reservation
    /// ends.
    pub fn admit(
        &mut self,
        request: &AdmissionRequest,
        endpoint: &mut EndpointState,
        now: i64,
    ) -> Option<(i64, WaitReason)> {
        let tokens = request.tokens();
        let held = self.0.remove(&request.lease).filter(|held| held.is_kept(now));
        if let Some(left) = endpoint.cooldown(now) {
            return Some((left, WaitReason::Cooldown));
        }
        if let Some(held) = &held {
            endpoint.return_reservation(held.tokens, now);
        }
        let delay = endpoint.delay(tokens, now);
        endpoint.take(tokens);
        let (delay, reason) = delay?;
        let promised = held.map_or(i64::MAX, |held| held.start);
        let start = promised.min(now.saturating_add(delay));
        if start <= now {
            return None;
        }
        if self.0.len() >= MAX_UNPRUNED {
            self.0.retain(|_, reservation| reservation.is_kept(now));
        }
        let endpoint = request.endpoint.clone();
        self.0.insert(request.lease.clone(), Reservation { endpoint, tokens, since: now, start });
        Some((start - now, reason))
    }

    /// Ends the reservation of a call that stops waiting; returns the demand to refund, and its
    /// endpoint.
    pub fn cancel(&mut self, lease: &LeaseId, now: i64) -> Option<(String, u64)> {
        let held = self.0.remove(lease).filter(|held| held.is_kept(now))?;
        Some((held.endpoint, held.tokens))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Reservation {
    endpoint: String,
    tokens: u64,
    /// Time at which it was made or renewed.
    since: i64,
    /// Time at which the call may start.
    start: i64,
}

impl Reservation {
    fn is_kept(&self, now: i64) -> bool {
        self.since <= now && now <= self.start.saturating_add(GRACE_MS)
    }
}
