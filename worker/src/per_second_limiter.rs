//! Client-side limit of this process's calls per second, independent of the provider's limits.

use governor::{
    Quota, RateLimiter,
    clock::Clock,
    middleware::NoOpMiddleware,
    state::{InMemoryState, NotKeyed},
};
use std::{num::NonZeroU32, time::Duration};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep},
};

/// A limiter that admits calls at a steady rate, in the order in which they came.
pub struct PerSecondLimiter(Option<Mutex<Limiter>>);

/// A rate that is not a positive number.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} calls per second is not a valid limit: use a number above 0 and at most 1000000")]
pub struct InvalidRate(f64);

impl PerSecondLimiter {
    /// Limiter without a limit.
    pub fn none() -> Self {
        Self(None)
    }

    /// A limit of this many calls per second. Bursts of `rate / 20` calls (at least one) are allowed,
    /// since timers are too coarse for high rates.
    pub fn per_second(rate: f64) -> Result<Self, InvalidRate> {
        if !(rate > 0.0 && rate <= 1e6) {
            return Err(InvalidRate(rate));
        }
        let interval = Duration::try_from_secs_f64(1.0 / rate).map_err(|_| InvalidRate(rate))?;
        let burst = NonZeroU32::new((rate / 20.0) as u32).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::with_period(interval).ok_or(InvalidRate(rate))?.allow_burst(burst);
        let limiter = RateLimiter::direct_with_clock(quota, TokioClock(Instant::now()));
        Ok(Self(Some(Mutex::new(limiter))))
    }

    /// Waits until one more call may start. Cancel safe: a dropped future uses up no call.
    pub async fn wait(&self) {
        let Some(limiter) = &self.0 else { return };
        // The mutex is fair: only the first waiter polls the limiter.
        let limiter = limiter.lock().await;
        while let Err(refusal) = limiter.check() {
            sleep(refusal.wait_time_from(limiter.clock().now())).await;
        }
    }
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>;

/// Tokio's clock for the limiter, so that `sleep` and limiter agree and tests can pause both.
#[derive(Clone, Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tokio::task::JoinSet;

    #[tokio::test(start_paused = true)]
    async fn calls_start_in_order_within_the_rate() {
        let ceiling = PerSecondLimiter::per_second(10.0).unwrap();
        let begun = Instant::now();
        for _ in 0..21 {
            ceiling.wait().await;
        }
        // The first is free, each further one takes a tenth of this clock's seconds.
        let elapsed = begun.elapsed();
        assert!(elapsed >= Duration::from_secs(2) && elapsed < Duration::from_millis(2_100));
    }

    #[tokio::test(start_paused = true)]
    async fn high_rate_is_sustained() {
        let ceiling = Arc::new(PerSecondLimiter::per_second(1_000.0).unwrap());
        let begun = Instant::now();
        let mut calls = JoinSet::new();
        for _ in 0..2_000 {
            let ceiling = Arc::clone(&ceiling);
            calls.spawn(async move { ceiling.wait().await });
        }
        calls.join_all().await;
        let elapsed = begun.elapsed();
        assert!(elapsed > Duration::from_millis(1_900) && elapsed < Duration::from_millis(2_100));
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_waiter_delays_no_other() {
        let ceiling = PerSecondLimiter::per_second(1.0).unwrap();
        ceiling.wait().await;
        let timed_out = tokio::time::timeout(Duration::from_millis(1), ceiling.wait()).await;
        assert!(timed_out.is_err());
        ceiling.wait().await;
        PerSecondLimiter::none().wait().await;
    }

    #[test]
    fn invalid_rate_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert!(PerSecondLimiter::per_second(rate).is_err(), "{rate}");
        }
        assert!(PerSecondLimiter::per_second(0.01).is_ok());
    }
}
