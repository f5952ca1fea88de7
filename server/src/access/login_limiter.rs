//! Limit on log-in attempts, in bounded memory.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// Attempts are counted over so long.
const WINDOW: Duration = Duration::from_secs(60);
/// Attempts of one address in a window.
const MAX_OF_ADDRESS: u32 = 10;
/// Attempts of all addresses together in a window.
const MAX_IN_ALL: u32 = 100;
/// So many addresses are told apart; [`MAX_IN_ALL`] holds for the rest.
const MAX_ADDRESSES: usize = 1_024;

/// The attempts of the last minute.
#[derive(Debug, Default)]
pub struct Attempts {
    counts: Mutex<AttemptCounts>,
}

#[derive(Debug, Default)]
struct AttemptCounts {
    in_all: Window,
    by_address: HashMap<IpAddr, Window>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    since: Option<Instant>,
    attempts: u32,
}

impl Attempts {
    /// Counts an attempt, or says how long to wait before the next one.
    pub fn begin(&self, address: IpAddr) -> Result<(), Duration> {
        let (now, address) = (Instant::now(), network(address));
        let mut counts = self.counts();
        if counts.by_address.len() >= MAX_ADDRESSES {
            counts.by_address.retain(|_, window| window.left(now).is_some());
        }
        counts.in_all.check(now, MAX_IN_ALL)?;
        let is_told_apart =
            counts.by_address.len() < MAX_ADDRESSES || counts.by_address.contains_key(&address);
        if is_told_apart {
            let window = counts.by_address.entry(address).or_default();
            window.check(now, MAX_OF_ADDRESS)?;
            window.attempts += 1;
        }
        counts.in_all.attempts += 1;
        Ok(())
    }

    /// An attempt was good: it and those before it of this address count no more.
    pub fn succeeded(&self, address: IpAddr) {
        let mut counts = self.counts();
        if let Some(window) = counts.by_address.remove(&network(address)) {
            counts.in_all.attempts = counts.in_all.attempts.saturating_sub(window.attempts);
        }
    }

    fn counts(&self) -> MutexGuard<'_, AttemptCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Window {
    /// The rest of it; none if it is over or has not begun.
    fn left(&self, now: Instant) -> Option<Duration> {
        let left = WINDOW.checked_sub(now.duration_since(self.since?))?;
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

/// Network of an address: a holder of one IPv6 address mostly has all of its /64.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(network.into())
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(attempts: &Attempts, address: &str, times: u32) {
        for _ in 0..times {
            attempts.begin(address.parse().unwrap()).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_waits_after_its_last_attempt_and_no_other_does() {
        let attempts = Attempts::default();
        tries(&attempts, "10.0.0.1", MAX_OF_ADDRESS);
        tokio::time::advance(Duration::from_secs(20)).await;
        let wait = attempts.begin("10.0.0.1".parse().unwrap()).unwrap_err();
        assert_eq!(wait, Duration::from_secs(40));
        tries(&attempts, "10.0.0.2", 1);
        tokio::time::advance(wait).await;
        tries(&attempts, "10.0.0.1", 1);
    }

    #[tokio::test(start_paused = true)]
    async fn one_network_of_the_new_kind_is_one_address() {
        let attempts = Attempts::default();
        tries(&attempts, "2001:db8::1", MAX_OF_ADDRESS);
        attempts.begin("2001:db8::2".parse().unwrap()).unwrap_err();
        tries(&attempts, "2001:db8:0:1::1", 1);
        tries(&attempts, "10.0.0.1", MAX_OF_ADDRESS);
        attempts.begin("::ffff:10.0.0.1".parse().unwrap()).unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn all_together_are_bounded_and_so_is_the_memory() {
        let attempts = Attempts::default();
        for number in 0..MAX_IN_ALL {
            attempts.begin(IpAddr::V4(number.into())).unwrap();
        }
        attempts.begin(IpAddr::V4(9_999.into())).unwrap_err();
        for minute in 0..30 {
            tokio::time::advance(WINDOW).await;
            for number in 0..MAX_IN_ALL {
                attempts.begin(IpAddr::V4((minute * 1_000 + number).into())).unwrap();
            }
        }
        assert!(attempts.counts().by_address.len() <= MAX_ADDRESSES);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_succeeds_begins_anew() {
        let attempts = Attempts::default();
        for _ in 0..MAX_IN_ALL {
            tries(&attempts, "10.0.0.1", MAX_OF_ADDRESS);
            attempts.succeeded("10.0.0.1".parse().unwrap());
        }
    }
}
