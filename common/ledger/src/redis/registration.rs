//! Registration of a process with a Redis that does not know it: its identity and what it holds.

use super::LEASE_TTL;
use crate::{admission::Ask, batches::ROWS_OWNER};
use juror_types::{
    id::{LeaseId, OwnerId},
    usage::Money,
};
use std::collections::{BTreeMap, BTreeSet};

/// Owners of this process and the leases that they hold.
#[derive(Debug, Default)]
pub struct OwnerRegistration {
    owners: BTreeSet<OwnerId>,
    leases: BTreeMap<LeaseId, Held>,
}

#[derive(Debug)]
struct Held {
    owner: String,
    run: String,
    endpoint: String,
    tokens: u64,
    worst_cost: Money,
    /// The day of its admission; none while there is no answer yet.
    day: Option<String>,
    /// The labels of its run at its admission.
    labels: String,
    /// True if its caller has given up without an answer.
    doubtful: bool,
}

impl OwnerRegistration {
    /// A lease is asked for: from here on it may be held. That of a row is no process's own.
    pub fn asks(&mut self, ask: &Ask, tokens: u64) {
        if ask.owner.as_str() == ROWS_OWNER {
            return;
        }
        self.owners.insert(ask.owner.clone());
        let held = self.leases.entry(ask.lease.clone()).or_insert_with(|| Held {
            owner: ask.owner.to_string(),
            run: ask.run.to_string(),
            endpoint: ask.endpoint.clone(),
            tokens,
            worst_cost: ask.worst_cost.max(Money::ZERO),
            day: None,
            labels: String::new(),
            doubtful: false,
        });
        held.doubtful = false;
    }

    /// The caller has given up: if there was no answer, nobody knows whether the lease is held.
    pub fn gives_up(&mut self, lease: &LeaseId) {
        if let Some(held) = self.leases.get_mut(lease) {
            held.doubtful = held.day.is_none();
        }
    }

    /// Leases of which nobody knows whether they are held, and for which nobody asks.
    pub fn doubtful(&self) -> Vec<LeaseId> {
        let doubtful = self.leases.iter().filter(|(_, held)| held.doubtful);
        doubtful.map(|(lease, _)| lease.clone()).collect()
    }

    /// True if the lease is among the doubtful.
    pub fn doubts(&self, lease: &LeaseId) -> bool {
        self.leases.get(lease).is_some_and(|held| held.doubtful)
    }

    /// The lease is held since this day, under these labels.
    pub fn holds(&mut self, lease: &LeaseId, day: &str, labels: &str) {
        if let Some(held) = self.leases.get_mut(lease) {
            held.day = Some(day.to_owned());
            held.labels = labels.to_owned();
        }
    }

    /// The lease is not held, or no more.
    pub fn ends(&mut self, lease: &LeaseId) {
        self.leases.remove(lease);
    }

    /// The owners that this process beats for.
    pub fn owners(&self) -> impl Iterator<Item = &OwnerId> {
        self.owners.iter()
    }

    /// The arguments of the script that checks in.
    pub fn introduction(&self) -> Vec<String> {
        let mut arguments = vec![LEASE_TTL.as_millis().to_string(), self.owners.len().to_string()];
        arguments.extend(self.owners.iter().map(OwnerId::to_string));
        for (lease, held) in &self.leases {
            arguments.extend([
                lease.to_string(),
                held.owner.clone(),
                held.run.clone(),
                held.endpoint.clone(),
                held.tokens.to_string(),
                held.worst_cost.pico().to_string(),
                held.day.clone().unwrap_or_default(),
                held.labels.clone(),
            ]);
        }
        arguments
    }
}
