//! Limit on calls in flight: a fixed number, or one that adapts to the provider's capacity.

mod controller;

use controller::{CallSample, Controller};
use parking_lot::Mutex;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

/// Permits for calls. Clones share them.
#[derive(Clone, Debug)]
pub struct Concurrency {
    shared: Arc<SharedLimit>,
}

/// Signal of the provider's state in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The provider replied, usably or not.
    Answered,
    /// The provider refused by rate and stated a wait or limits.
    Refused,
    /// The provider refused without a wait or limits, as with too many concurrent calls.
    Crowded,
    /// The provider was unable to reply.
    Unavailable,
}

/// A limit that was lowered because the provider refused this many concurrent calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// True if this is the first time.
    pub is_first: bool,
}

/// The right to have one call in flight, until it is dropped.
#[derive(Debug)]
pub struct Permit {
    shared: Arc<SharedLimit>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Concurrency {
    /// A fixed number of permits, at least one; lowered only if the provider refuses this many
    /// concurrent calls.
    pub fn fixed(limit: usize) -> Self {
        Self::new(Controller::fixed(limit.clamp(1, Semaphore::MAX_PERMITS)))
    }

    /// An adaptive number of permits: 16 at first, then between 1 and 512, depending on latency and
    /// refusals.
    pub fn adaptive() -> Self {
        Self::new(Controller::adaptive())
    }

    /// The maximum number of calls in flight now.
    pub fn limit(&self) -> usize {
        self.shared.size.lock().limit
    }

    /// Waits for a permit in first-come order. A dropped future leaves its turn to the next.
    pub async fn acquire(&self) -> Permit {
        // The semaphore is never closed, so acquiring always succeeds.
        let permit = Arc::clone(&self.shared.semaphore).acquire_owned().await.ok();
        Permit { shared: Arc::clone(&self.shared), permit }
    }

    fn new(controller: Controller) -> Self {
        let limit = controller.limit();
        let shared = SharedLimit {
            semaphore: Arc::new(Semaphore::new(limit)),
            origin: Instant::now(),
            size: Mutex::new(Size { total: limit, limit, controller, crowded: false }),
        };
        Self { shared: Arc::new(shared) }
    }
}

impl Permit {
    /// Reports a call that was made under this permit and has just ended, after `latency`. Returns
    /// whether this is the first time, if crowding lowered the limit.
    pub fn report(&self, signal: Signal, latency: Duration) -> Option<Lowered> {
        let ended = self.shared.origin.elapsed();
        self.shared.learn(CallSample { signal, begun: ended.saturating_sub(latency), ended })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(permit) = self.permit.take() else { return };
        let mut size = self.shared.size.lock();
        if size.total > size.limit {
            size.total -= 1;
            permit.forget();
        }
    }
}

#[derive(Debug)]
struct SharedLimit {
    semaphore: Arc<Semaphore>,
    origin: Instant,
    size: Mutex<Size>,
}

#[derive(Debug)]
struct Size {
    /// Number of existing permits, held or free.
    total: usize,
    /// Target number of permits. While there are more, returned ones are removed.
    limit: usize,
    controller: Controller,
    /// True if crowding has ever lowered the limit.
    crowded: bool,
}

impl SharedLimit {
    fn learn(&self, sample: CallSample) -> Option<Lowered> {
        let mut size = self.size.lock();
        let before = size.limit;
        size.controller.learn(sample);
        size.limit = size.controller.limit();
        let is_crowded = sample.signal == Signal::Crowded && size.limit < before;
        let lowered = is_crowded.then_some(Lowered { is_first: !size.crowded });
        size.crowded |= is_crowded;
        if size.limit > size.total {
            self.semaphore.add_permits(size.limit - size.total);
            size.total = size.limit;
        } else if size.limit < size.total {
            size.total -= self.semaphore.forget_permits(size.total - size.limit);
        }
        lowered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{FutureExt as _, future::join_all};

    async fn take(concurrency: &Concurrency, count: usize) -> Vec<Permit> {
        join_all((0..count).map(|_| concurrency.acquire())).await
    }

    fn is_free(concurrency: &Concurrency) -> bool {
        concurrency.acquire().now_or_never().is_some()
    }

    #[tokio::test]
    async fn fixed_limit_is_available_from_the_first_call() {
        let concurrency = Concurrency::fixed(40);
        let permits = take(&concurrency, 40).await;
        assert!(!is_free(&concurrency));
        for permit in &permits {
            permit.report(Signal::Refused, Duration::ZERO);
        }
        drop(permits);
        assert_eq!(take(&concurrency, 40).await.len(), 40);
        assert_eq!(Concurrency::fixed(0).limit(), 1);
        assert!(is_free(&Concurrency::fixed(usize::MAX)));
    }

    #[tokio::test(start_paused = true)]
    async fn crowding_lowers_a_fixed_limit_by_the_excess_calls() {
        let concurrency = Concurrency::fixed(16);
        let mut permits = take(&concurrency, 16).await;
        let refused: Vec<_> = permits.drain(4..).collect();
        let lowered =
            refused.iter().map(|permit| permit.report(Signal::Crowded, Duration::ZERO).unwrap());
        assert_eq!(lowered.filter(|lowered| lowered.is_first).count(), 1);
        assert_eq!(concurrency.limit(), 4);
        drop(refused);
        assert!(!is_free(&concurrency), "four are in flight");
        permits.pop();
        assert!(is_free(&concurrency));
        let last = Concurrency::fixed(1);
        let permit = last.acquire().await;
        assert_eq!(permit.report(Signal::Crowded, Duration::ZERO), None, "one is the least");
    }

    #[tokio::test(start_paused = true)]
    async fn permits_in_use_are_withdrawn_when_returned() {
        let concurrency = Concurrency::adaptive();
        let mut permits = take(&concurrency, 16).await;
        tokio::time::advance(Duration::from_secs(1)).await;
        permits[0].report(Signal::Refused, Duration::from_secs(1));
        assert_eq!(concurrency.limit(), 12);
        permits.truncate(12);
        assert!(!is_free(&concurrency), "four were taken away");
        permits.truncate(11);
        assert!(is_free(&concurrency), "twelve may be out");
        permits.clear();
        let permits = take(&concurrency, 12).await;
        assert!(!is_free(&concurrency));
        drop(permits);
    }

    #[tokio::test(start_paused = true)]
    async fn growth_admits_the_next_waiter() {
        let concurrency = Concurrency::adaptive();
        let permits = take(&concurrency, 16).await;
        let mut waiting = Box::pin(concurrency.acquire());
        assert!(waiting.as_mut().now_or_never().is_none());
        tokio::time::advance(Duration::from_secs(1)).await;
        for permit in &permits {
            permit.report(Signal::Answered, Duration::from_secs(1));
        }
        assert_eq!(concurrency.limit(), 24);
        let _one = waiting.await;
        let _seven = take(&concurrency, 7).await;
        assert!(!is_free(&concurrency));
    }

    #[tokio::test(start_paused = true)]
    async fn decrease_withdraws_free_permits_immediately() {
        let concurrency = Concurrency::adaptive();
        let permit = concurrency.acquire().await;
        tokio::time::advance(Duration::from_secs(1)).await;
        permit.report(Signal::Refused, Duration::from_secs(1));
        let _eleven = take(&concurrency, 11).await;
        assert!(!is_free(&concurrency));
    }
}
