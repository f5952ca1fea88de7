//! Readiness of a role: the services that it requires, and their state.

use parking_lot::Mutex;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// Interval of checks while the condition is met; below, while it is not.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// Timeout of a check, after which the condition counts as unmet.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Named conditions of a role's readiness. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<BTreeMap<&'static str, watch::Receiver<bool>>>>);

/// The setter of one condition. Dropped, the condition is unmet for good.
#[derive(Debug)]
pub struct Condition(watch::Sender<bool>);

impl Readiness {
    /// Ready until a condition is required.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a condition of this name, such as `broker` or `lock`; unmet until it is set.
    pub fn require(&self, name: &'static str) -> Condition {
        let (sender, receiver) = watch::channel(false);
        self.0.lock().insert(name, receiver);
        Condition(sender)
    }

    /// Unmet conditions in alphabetical order; empty when the role is ready.
    pub fn unmet(&self) -> Vec<&'static str> {
        let conditions = self.0.lock();
        let is_met =
            |reported: &watch::Receiver<bool>| *reported.borrow() && reported.has_changed().is_ok();
        conditions.iter().filter(|(_, reported)| !is_met(reported)).map(|(name, _)| *name).collect()
    }
}

impl Condition {
    /// Sets whether the condition is met.
    pub fn set(&self, met: bool) {
        self.0.send_replace(met);
    }

    /// Checks every 10 s while the condition is met and every second while it is not, until the
    /// token is cancelled; `check` returns true if it is met. After 5 s without a result it counts
    /// as unmet.
    pub async fn keep_looking(&self, cancelled: &CancellationToken, check: impl AsyncFn() -> bool) {
        let checking = async {
            loop {
                let met = timeout(CHECK_TIMEOUT, check()).await.unwrap_or(false);
                self.set(met);
                sleep(if met { CHECK_INTERVAL } else { RETRY_INTERVAL }).await;
            }
        };
        cancelled.run_until_cancelled(checking).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn role_is_ready_when_all_conditions_are_met() {
        let readiness = Readiness::new();
        assert!(readiness.unmet().is_empty());
        let (redis, broker) = (readiness.require("redis"), readiness.require("broker"));
        assert_eq!(readiness.unmet(), ["broker", "redis"]);
        broker.set(true);
        redis.set(true);
        assert!(readiness.unmet().is_empty());
        redis.set(false);
        assert_eq!(readiness.unmet(), ["redis"]);
    }

    #[test]
    fn condition_with_a_dropped_holder_is_unmet() {
        let readiness = Readiness::new();
        let lock = readiness.require("lock");
        lock.set(true);
        drop(lock);
        assert_eq!(readiness.unmet(), ["lock"]);
    }

    #[tokio::test(start_paused = true)]
    async fn condition_follows_its_probe_and_a_hanging_probe_is_unmet() {
        let readiness = Readiness::new();
        let condition = readiness.require("redis");
        let (cancelled, seen) = (CancellationToken::new(), RefCell::new(Vec::new()));
        let check = || async {
            seen.borrow_mut().push(readiness.unmet().is_empty());
            let checks = seen.borrow().len();
            match checks {
                2 => std::future::pending().await,
                4 => cancelled.cancel(),
                _ => {}
            }
            true
        };
        condition.keep_looking(&cancelled, check).await;
        assert_eq!(*seen.borrow(), [false, true, false, true]);
    }
}
