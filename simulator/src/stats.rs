//! Statistics and bill of a simulator.

use crate::{deviation_share::Named as _, fault::Fault, quirk::Imitation};
use juror_types::usage::{Money, Usage};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::BTreeMap;
use tokio::sync::Notify;

/// Counters of a simulator, as in `GET /stats`; `GET /stats?billed_calls=3` responds once that
/// number is reached (or `requests`, `answers`, `in_flight`, `batches`, `batch_polls`,
/// `batch_cancels`).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Requests to judge something.
    pub requests: u64,
    /// Sent responses with status 200, valid or corrupt.
    pub answers: u64,
    /// Requests that were turned away by the simulator's own rules, by the error's code.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Faults that were played, by name.
    pub faults: BTreeMap<&'static str, u64>,
    /// Responses affected by a quirk, by its name.
    pub quirks: BTreeMap<&'static str, u64>,
    /// Calls that a provider would have billed.
    pub billed_calls: u64,
    /// Bill of every such call together.
    pub billed_usd: Money,
    /// The tokens of those calls.
    pub usage: Usage,
    /// Batches that were created.
    pub batches: u64,
    /// Looks at a batch.
    pub batch_polls: u64,
    /// Requests to cancel a batch.
    pub batch_cancels: u64,
    /// Tokens that counted against a limit per minute, by the rule of the simulator.
    pub counted_tokens: u64,
    /// Requests in flight.
    pub in_flight: u64,
    /// Maximum number of concurrent requests so far.
    pub max_in_flight: u64,
}

impl Stats {
    fn number(&self, name: &str) -> Option<u64> {
        Some(match name {
            "requests" => self.requests,
            "answers" => self.answers,
            "billed_calls" => self.billed_calls,
            "batches" => self.batches,
            "batch_polls" => self.batch_polls,
            "batch_cancels" => self.batch_cancels,
            "in_flight" => self.in_flight,
            _ => return None,
        })
    }
}

/// A count that connections share.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    stats: Mutex<Stats>,
    changed: Notify,
}

impl Counter {
    pub(crate) fn stats(&self) -> Stats {
        self.stats.lock().clone()
    }

    /// The count as soon as this number of it is at least `least`. A name that is no number of it
    /// is not waited for.
    pub(crate) async fn reached(&self, name: &str, least: u64) -> Stats {
        loop {
            // Created before looking, so that a change after it wakes us.
            let changed = self.changed.notified();
            let stats = self.stats();
            if stats.number(name).is_none_or(|number| number >= least) {
                return stats;
            }
            changed.await;
        }
    }

    /// Counts a request in flight until the guard is dropped.
    pub(crate) fn begin_request(&self) -> InFlight<'_> {
        self.change(|stats| {
            stats.requests += 1;
            stats.in_flight += 1;
            stats.max_in_flight = stats.max_in_flight.max(stats.in_flight);
        });
        InFlight(self)
    }

    pub(crate) fn refuse(&self, code: &'static str) {
        self.change(|stats| *stats.refusals.entry(code).or_default() += 1);
    }

    pub(crate) fn count_fault(&self, fault: Fault) {
        self.change(|stats| *stats.faults.entry(fault.name()).or_default() += 1);
    }

    pub(crate) fn imitate(&self, imitation: &Imitation) {
        for quirk in imitation.quirks() {
            self.change(|stats| *stats.quirks.entry(quirk.name()).or_default() += 1);
        }
    }

    pub(crate) fn bill(&self, cost: Money, usage: Usage) {
        self.change(|stats| {
            stats.billed_calls += 1;
            stats.billed_usd += cost;
            stats.usage += usage;
        });
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Stats)) {
        change(&mut self.stats.lock());
        self.changed.notify_waiters();
    }
}

/// Request in flight.
pub(crate) struct InFlight<'a>(&'a Counter);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.change(|stats| stats.in_flight -= 1);
    }
}
