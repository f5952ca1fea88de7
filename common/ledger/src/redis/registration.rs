//! Registration of a process with a Redis server that does not know it: its owner ids and leases.

use super::{
    LEASE_TTL,
    encoding::{lease_arguments, milliseconds},
};
use crate::{admission::AdmissionRequest, batches::ROWS_OWNER};
use juror_types::id::{LeaseId, OwnerId};
use std::collections::{BTreeMap, BTreeSet};

/// Owners of this process and the leases that they hold.
#[derive(Debug, Default)]
pub struct OwnerRegistration {
    owners: BTreeSet<OwnerId>,
    leases: BTreeMap<LeaseId, Held>,
}

impl OwnerRegistration {
    /// Records that a lease is requested: from now on it may be held. Leases of batch rows belong
    /// to no process and are not recorded.
    pub fn record_request(&mut self, request: &AdmissionRequest) {
        if request.owner.as_str() == ROWS_OWNER {
            return;
        }
        self.owners.insert(request.owner.clone());
        let held = self.leases.entry(request.lease.clone()).or_insert_with(|| Held {
            request: request.clone(),
            day: None,
            labels: String::new(),
            is_unknown: false,
        });
        held.is_unknown = false;
    }

    /// Records that the caller stopped waiting. Without a reply, it is unknown whether the lease is
    /// held.
    pub fn record_unknown(&mut self, lease: &LeaseId) {
        if let Some(held) = self.leases.get_mut(lease) {
            held.is_unknown = held.day.is_none();
        }
    }

    /// Leases of unknown state without a pending request.
    pub fn unknown_leases(&self) -> Vec<LeaseId> {
        let unknown = self.leases.iter().filter(|(_, held)| held.is_unknown);
        unknown.map(|(lease, _)| lease.clone()).collect()
    }

    /// True if the state of the lease is unknown and no request for it is pending.
    pub fn is_unknown(&self, lease: &LeaseId) -> bool {
        self.leases.get(lease).is_some_and(|held| held.is_unknown)
    }

    /// Records that the lease is held since this day, under these labels.
    pub fn record_held(&mut self, lease: &LeaseId, day: &str, labels: &str) {
        if let Some(held) = self.leases.get_mut(lease) {
            held.day = Some(day.to_owned());
            held.labels = labels.to_owned();
        }
    }

    /// Records that the lease is not held, or no longer.
    pub fn remove(&mut self, lease: &LeaseId) {
        self.leases.remove(lease);
    }

    /// Owners whose heartbeat this process sends.
    pub fn owners(&self) -> impl Iterator<Item = &OwnerId> {
        self.owners.iter()
    }

    /// Arguments of the script that registers the process.
    pub fn script_arguments(&self) -> Vec<String> {
        let mut arguments = vec![milliseconds(LEASE_TTL), self.owners.len().to_string()];
        arguments.extend(self.owners.iter().map(OwnerId::to_string));
        for Held { request, day, labels, .. } in self.leases.values() {
            arguments.extend(lease_arguments(request));
            arguments.extend([day.clone().unwrap_or_default(), labels.clone()]);
        }
        arguments
    }
}

#[derive(Debug)]
struct Held {
    request: AdmissionRequest,
    /// The day of its admission; `None` until the reply.
    day: Option<String>,
    /// The labels of its run at its admission.
    labels: String,
    /// True if its caller stopped waiting before the reply.
    is_unknown: bool,
}
