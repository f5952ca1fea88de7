//! Rate limits of endpoints and the queue of calls that wait for money. A restart loses them.

use crate::admission::{
    AdmissionDecision, AdmissionRequest, Limits, Observation, WaitReason,
    budget_queue::BudgetQueue, endpoint_limits::EndpointState,
    rate_limit_reservations::Reservations, records::Lease, scope::Scope,
};
use juror_types::{id::LeaseId, usage::Usage};
use std::{collections::BTreeMap, time::Duration};

/// The volatile part of admission: rate limits and waiting calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RateLimiterState {
    endpoints: BTreeMap<String, EndpointState>,
    reservations: Reservations,
    pub(super) queue: BudgetQueue,
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
    pub(super) fn wait(
        &mut self,
        request: &AdmissionRequest,
        held: Option<Scope>,
        now: i64,
    ) -> Option<AdmissionDecision> {
        if let Some(scope) = held {
            self.queue.wait(request, scope, now);
            return Some(AdmissionDecision::Wait { retry_after: None, reason: WaitReason::Budget });
        }
        self.queue.remove(&request.lease);
        let Self { endpoints, reservations, .. } = self;
        let endpoint =
            endpoints.entry(request.endpoint.clone()).or_insert_with(|| EndpointState::new(now));
        let (delay, reason) = reservations.admit(request, endpoint, now)?;
        let retry_after = Some(Duration::from_millis(delay.unsigned_abs()));
        Some(AdmissionDecision::Wait { retry_after, reason })
    }

    /// Stops waiting.
    pub(super) fn stop_waiting(&mut self, lease: &LeaseId, now: i64) {
        self.queue.remove(lease);
        if let Some((name, tokens)) = self.reservations.cancel(lease, now)
            && let Some(endpoint) = self.endpoints.get_mut(&name)
        {
            endpoint.return_reservation(tokens, now);
        }
    }

    pub(super) fn refund(&mut self, lease: &Lease, used: Usage, now: i64) {
        if let Some(endpoint) = self.endpoints.get_mut(&lease.endpoint) {
            endpoint.refund(lease.tokens, used, now);
        }
    }

    fn endpoint(&mut self, name: &str, now: i64) -> &mut EndpointState {
        self.endpoints.entry(name.to_owned()).or_insert_with(|| EndpointState::new(now))
    }
}
