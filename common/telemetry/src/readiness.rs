//! Readiness of a role: the services that it needs, and their state.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// Time between two looks while all is well, and while it is not.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// Time limit of a check; what does not answer within it is not there.
const MAX_LOOK: Duration = Duration::from_secs(5);

/// The named conditions under which a role is ready. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<BTreeMap<&'static str, watch::Receiver<bool>>>>);

/// One condition, in the hands of whoever knows. Dropped, it is unmet for good.
#[derive(Debug)]
pub struct Condition(watch::Sender<bool>);

impl Readiness {
    /// Ready, as long as nothing is required.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires something of this name, such as `broker` or `lock`; unmet until it is said to be
    /// met.
    pub fn require(&self, name: &'static str) -> Condition {
        let (sender, receiver) = watch::channel(false);
        self.conditions().insert(name, receiver);
        Condition(sender)
    }

    /// Missing conditions, in alphabetical order; nothing when the role is ready.
    pub fn unmet(&self) -> Vec<&'static str> {
        let conditions = self.conditions();
        let is_met = |told: &watch::Receiver<bool>| *told.borrow() && told.has_changed().is_ok();
        conditions.iter().filter(|(_, told)| !is_met(told)).map(|(name, _)| *name).collect()
    }

    fn conditions(&self) -> MutexGuard<'_, BTreeMap<&'static str, watch::Receiver<bool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Condition {
    /// Says whether it is met.
    pub fn set(&self, met: bool) {
        self.0.send_replace(met);
    }

    /// Looks every 10 s while it is met and every second while it is not, until the token is
    /// cancelled; `look` answers whether it is met. A look that takes longer than 5 s is given up,
    /// and the condition is unmet.
    pub async fn keep_looking(&self, cancelled: &CancellationToken, look: impl AsyncFn() -> bool) {
        let looking = async {
            loop {
                let met = timeout(MAX_LOOK, look()).await.unwrap_or(false);
                self.set(met);
                sleep(if met { CHECK_INTERVAL } else { LOOK_AGAIN }).await;
            }
        };
        cancelled.run_until_cancelled(looking).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn a_role_is_ready_when_everything_that_it_requires_is_there() {
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
    fn nobody_vouches_for_a_condition_whose_holder_is_gone() {
        let readiness = Readiness::new();
        let lock = readiness.require("lock");
        lock.set(true);
        drop(lock);
        assert_eq!(readiness.unmet(), ["lock"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_condition_follows_what_is_seen_and_what_hangs_is_unmet() {
        let readiness = Readiness::new();
        let condition = readiness.require("redis");
        let (cancelled, seen) = (CancellationToken::new(), RefCell::new(Vec::new()));
        let look = || async {
            seen.borrow_mut().push(readiness.unmet().is_empty());
            let looks = seen.borrow().len();
            match looks {
                2 => std::future::pending().await,
                4 => cancelled.cancel(),
                _ => {}
            }
            true
        };
        condition.keep_looking(&cancelled, look).await;
        assert_eq!(*seen.borrow(), [false, true, false, true]);
    }
}
