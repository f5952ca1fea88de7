//! Random delays between attempts: at calls, at the fetch of files, and at commands of the ledger.

use backoff::{ExponentialBackoff, backoff::Backoff as _};
use std::time::Duration;

/// A pause before the n-th repetition, counted from 0: uniformly distributed from 0 to 1 s, 2 s, 4
/// s and so on, up to 30 s, so that many callers do not repeat at the same time.
/// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>, "full jitter".
pub fn full_jitter(repetition: u32) -> Duration {
    const FIRST_CEILING: Duration = Duration::from_secs(1);
    const LAST_CEILING: Duration = Duration::from_secs(30);
    let ceiling = FIRST_CEILING.saturating_mul(2_u32.saturating_pow(repetition)).min(LAST_CEILING);
    // A mean of half the ceiling ± 100 % is uniform from 0 to the ceiling (full jitter).
    let mut delays = ExponentialBackoff {
        current_interval: ceiling / 2,
        randomization_factor: 1.0,
        max_elapsed_time: None,
        ..ExponentialBackoff::default()
    };
    delays.next_backoff().unwrap_or(ceiling).min(ceiling)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_below_its_maximum_and_varies() {
        for (repetition, ceiling) in [(0, 1), (1, 2), (4, 16), (5, 30), (40, 30), (u32::MAX, 30)] {
            let delays: Vec<Duration> = (0..64).map(|_| full_jitter(repetition)).collect();
            let ceiling = Duration::from_secs(ceiling);
            assert!(delays.iter().all(|delay| *delay <= ceiling), "{repetition}: {delays:?}");
            assert!(delays.iter().any(|delay| *delay < ceiling / 2), "{repetition}: {delays:?}");
            assert!(delays.iter().any(|delay| *delay > ceiling / 2), "{repetition}: {delays:?}");
        }
    }
}
