//! Traffic between one process and all of its servers: counted, and held at chosen moments.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc::Sender},
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// Kind of exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BrokerExchange {
    Jobs,
    Results,
    /// Hold queues and dead letters.
    Aside,
}

/// Redis script of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScriptStep {
    Claim,
    Admit,
    Settle,
}

/// Event in the traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// RabbitMQ has accepted the connection.
    Connection,
    /// A proxy has refused a connection.
    Refusal,
    /// RabbitMQ delivers a message of this exchange.
    Delivery(BrokerExchange),
    /// The process publishes to this exchange.
    Publish(BrokerExchange),
    /// RabbitMQ confirms a message published to this exchange.
    Confirm(BrokerExchange),
    /// The process acknowledges deliveries.
    Acknowledgement,
    /// The process sends this script to Redis.
    Request(ScriptStep),
    /// Redis replies to it.
    Reply(ScriptStep),
    /// The process calls the judge.
    Call,
    /// The judge responds.
    Response,
}

/// Traffic of all connections of one process.
#[derive(Default)]
pub struct Wire {
    seen: Mutex<Seen>,
    changed: Condvar,
    listeners: Mutex<Vec<Sender<()>>>,
    /// Incremented to release held traffic.
    releases: watch::Sender<u64>,
}

#[derive(Default)]
struct Seen {
    passed: BTreeMap<Moment, u64>,
    trap: Option<Trap>,
    /// Owner that claims jobs there.
    owner: Option<String>,
}

struct Trap {
    moment: Moment,
    /// Number of further occurrences that may pass.
    spare: u64,
    holds: bool,
}

/// Numbers of the moments that have passed.
impl fmt::Debug for Wire {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(&self.lock().passed).finish()
    }
}

impl Wire {
    /// Holds the nth next occurrence of this moment, counted from 1. Traffic held before is
    /// released.
    pub fn hold(&self, moment: Moment, nth: u64) {
        self.release();
        self.lock().trap = Some(Trap { moment, spare: nth.saturating_sub(1), holds: false });
    }

    /// Waits until the moment is held; false after the time limit.
    pub fn is_held(&self, within: Duration) -> bool {
        self.wait(within, |seen| seen.trap.as_ref().is_some_and(|trap| trap.holds))
    }

    /// Releases held traffic and holds no more.
    pub fn release(&self) {
        self.lock().trap = None;
        self.releases.send_modify(|count| *count += 1);
    }

    /// Number of these moments that have passed.
    pub fn count(&self, moment: Moment) -> u64 {
        self.lock().passed.get(&moment).copied().unwrap_or(0)
    }

    /// Waits until this many of these moments have passed; false after the time limit.
    pub fn passes(&self, moment: Moment, count: u64, within: Duration) -> bool {
        self.wait(within, |seen| seen.passed.get(&moment).is_some_and(|passed| *passed >= count))
    }

    /// Owner id under which the process claims jobs; `None` before its first claim.
    pub fn owner(&self) -> Option<String> {
        self.lock().owner.clone()
    }

    /// Sends every further event to this listener.
    pub fn notify(&self, listener: Sender<()>) {
        self.listeners.lock().unwrap().push(listener);
    }

    /// Clears all records of an earlier process.
    pub fn reset(&self) {
        self.release();
        *self.lock() = Seen::default();
    }

    /// Returns when a moment that arrived may pass, with whether it was held.
    pub(super) async fn arrives(&self, moment: Moment) -> bool {
        let mut releases = self.releases.subscribe();
        let held = self.triggers(moment);
        if held {
            // The channel ends only with this wire.
            let _ = releases.changed().await;
        }
        held
    }

    pub(super) fn record_passed(&self, moment: Moment) {
        *self.lock().passed.entry(moment).or_default() += 1;
        self.announce_change();
    }

    pub(super) fn record_owner(&self, owner: &str) {
        let mut seen = self.lock();
        if seen.owner.as_deref() != Some(owner) {
            seen.owner = Some(owner.to_owned());
        }
    }

    fn triggers(&self, moment: Moment) -> bool {
        let mut seen = self.lock();
        let Some(trap) = seen.trap.as_mut().filter(|trap| trap.moment == moment && !trap.holds)
        else {
            return false;
        };
        match trap.spare.checked_sub(1) {
            Some(spare) => trap.spare = spare,
            None => trap.holds = true,
        }
        let holds = trap.holds;
        drop(seen);
        self.announce_change();
        holds
    }

    fn announce_change(&self) {
        self.changed.notify_all();
        self.listeners.lock().unwrap().retain(|listener| listener.send(()).is_ok());
    }

    fn wait(&self, within: Duration, condition: impl Fn(&Seen) -> bool) -> bool {
        let deadline = Instant::now() + within;
        let mut seen = self.lock();
        while !condition(&seen) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            seen = match self.changed.wait_timeout(seen, left) {
                Ok((seen, _)) => seen,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
