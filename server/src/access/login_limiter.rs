//! Limits on log-in attempts, in bounded memory.

use parking_lot::Mutex;
use std::{collections::HashMap, net::IpAddr, time::Duration};
use tokio::time::Instant;

/// Length of a window in which attempts are counted.
const ATTEMPT_WINDOW: Duration = Duration::from_secs(60);
/// Maximum number of attempts of an address in a window.
const MAX_PER_ADDRESS: u32 = 10;
/// Maximum number of attempts of all addresses in a window.
const MAX_TOTAL: u32 = 100;
/// Maximum number of counted addresses; only [`MAX_TOTAL`] applies to others.
const MAX_ADDRESSES: usize = 1_024;

/// The attempts of the last minute.
#[derive(Debug, Default)]
pub struct LoginLimiter(Mutex<AttemptCounts>);

impl LoginLimiter {
    /// Counts an attempt.
    ///
    /// # Errors
    /// The time to wait if there were too many.
    pub fn begin(&self, address: IpAddr) -> Result<(), Duration> {
        let (now, address) = (Instant::now(), network(address));
        let mut counts = self.0.lock();
        if counts.by_address.len() >= MAX_ADDRESSES {
            counts.by_address.retain(|_, window| window.left(now).is_some());
        }
        counts.total.check(now, MAX_TOTAL)?;
        let is_counted =
            counts.by_address.len() < MAX_ADDRESSES || counts.by_address.contains_key(&address);
        if is_counted {
            let window = counts.by_address.entry(address).or_default();
            window.check(now, MAX_PER_ADDRESS)?;
            window.attempts += 1;
        }
        counts.total.attempts += 1;
        Ok(())
    }

    /// Resets the count of an address after a successful attempt.
    pub fn succeeded(&self, address: IpAddr) {
        let mut counts = self.0.lock();
        if let Some(window) = counts.by_address.remove(&network(address)) {
            counts.total.attempts = counts.total.attempts.saturating_sub(window.attempts);
        }
    }
}

#[derive(Debug, Default)]
struct AttemptCounts {
    total: Window,
    by_address: HashMap<IpAddr, Window>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    since: Option<Instant>,
    attempts: u32,
}

impl Window {
    /// Remaining time of the window; `None` if it is over or has not begun.
    fn left(&self, now: Instant) -> Option<Duration> {
        let left = ATTEMPT_WINDOW.checked_sub(now.duration_since(self.since?))?;
        (!left.is_zero()).then_some(left)
    }

    fn check(&mut self, now: Instant, most: u32) -> Result<(), Duration> {
        match self.left(now) {
            Some(left) if self.attempts >= most => Err(left),
            Some(_) => Ok(()),
            None => {
                *self = Self { since: Some(now), attempts: 0 };
                Ok(())
            }
        }
    }
}

/// Network of an address: an owner of an IPv6 address usually has its whole /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((u128::from(address) >> 64 << 64).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(attempts: &LoginLimiter, address: &str, times: u32) {
        for _ in 0..times {
            attempts.begin(address.parse().unwrap()).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_waits_after_its_last_attempt_and_no_other_does() {
        let attempts = LoginLimiter::default();
        tries(&attempts, "10.0.0.1", MAX_PER_ADDRESS);
        tokio::time::advance(Duration::from_secs(20)).await;
        let wait = attempts.begin("10.0.0.1".parse().unwrap()).unwrap_err();
        assert_eq!(wait, Duration::from_secs(40));
        tries(&attempts, "10.0.0.2", 1);
        tokio::time::advance(wait).await;
        tries(&attempts, "10.0.0.1", 1);
    }

    #[tokio::test(start_paused = true)]
    async fn an_ipv6_network_counts_as_one_address() {
        let attempts = LoginLimiter::default();
        tries(&attempts, "2001:db8::1", MAX_PER_ADDRESS);
        attempts.begin("2001:db8::2".parse().unwrap()).unwrap_err();
        tries(&attempts, "2001:db8:0:1::1", 1);
        tries(&attempts, "10.0.0.1", MAX_PER_ADDRESS);
        attempts.begin("::ffff:10.0.0.1".parse().unwrap()).unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_and_memory_are_bounded_overall() {
        let attempts = LoginLimiter::default();
        for number in 0..MAX_TOTAL {
            attempts.begin(IpAddr::V4(number.into())).unwrap();
        }
        attempts.begin(IpAddr::V4(9_999.into())).unwrap_err();
        for minute in 0..30 {
            tokio::time::advance(ATTEMPT_WINDOW).await;
            for number in 0..MAX_TOTAL {
                attempts.begin(IpAddr::V4((minute * 1_000 + number).into())).unwrap();
            }
        }
        assert!(attempts.0.lock().by_address.len() <= MAX_ADDRESSES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_resets_the_count() {
        let attempts = LoginLimiter::default();
        for _ in 0..MAX_TOTAL {
            tries(&attempts, "10.0.0.1", MAX_PER_ADDRESS);
            attempts.succeeded("10.0.0.1".parse().unwrap());
        }
    }
}
