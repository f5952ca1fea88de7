//! Exponential backoff with jitter, so that processes do not retry at the same time.

use std::time::Duration;

/// Pauses between attempts.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    first: Duration,
    longest: Duration,
    failures: u32,
}

impl Backoff {
    /// Backoff of connection attempts.
    pub(super) fn for_connections() -> Self {
        Self::new(Duration::from_millis(100), Duration::from_secs(15))
    }

    /// Backoff of publishes to a full queue.
    pub(super) fn for_full_queue() -> Self {
        Self::new(Duration::from_millis(50), Duration::from_secs(5))
    }

    fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, failures: 0 }
    }

    /// True after a failure.
    pub(super) fn is_used(&self) -> bool {
        self.failures > 0
    }

    /// The pause after one more failure: between half and all of a time that doubles.
    pub(super) fn next(&mut self) -> Duration {
        let doubled = self.first.saturating_mul(1 << self.failures.min(20));
        self.failures = self.failures.saturating_add(1);
        let whole = doubled.min(self.longest);
        whole.mul_f64(rand::random_range(0.5..=1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_up_to_the_maximum() {
        let mut backoff = Backoff::for_connections();
        assert!(!backoff.is_used());
        for (least, most) in [(50, 100), (100, 200), (200, 400)] {
            let pause = backoff.next().as_millis();
            assert!((least..=most).contains(&pause), "{pause}");
        }
        let last = std::iter::repeat_with(|| backoff.next()).take(100).last().unwrap();
        assert!(last >= Duration::from_millis(7_500) && last <= Duration::from_secs(15));
    }
}
