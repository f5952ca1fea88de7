//! Retries of fetching a file.

use std::time::Duration;

/// Number of attempts to fetch one file after which its job fails.
const MAX_FETCH_ATTEMPTS: u32 = 3;
/// Longest wait between two attempts to fetch a file.
const MAX_FETCH_PAUSE: Duration = Duration::from_secs(10);

/// Pause after this many attempts to fetch a file; none after the last one. `requested` is the
/// pause requested by the file's server, if any.
pub fn fetch_pause(
    attempts: u32,
    requested: Option<Duration>,
    delay: impl FnOnce(u32) -> Duration,
) -> Option<Duration> {
    let requested = requested.unwrap_or_default().min(MAX_FETCH_PAUSE);
    (attempts < MAX_FETCH_ATTEMPTS).then(|| delay(attempts.saturating_sub(1)).max(requested))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fetch_is_tried_three_times_and_respects_retry_after() {
        let seconds = Duration::from_secs;
        let pause = |attempts, requested| {
            fetch_pause(attempts, requested, |repetition| seconds(1 << repetition))
        };
        assert_eq!((pause(1, None), pause(2, None)), (Some(seconds(1)), Some(seconds(2))));
        assert_eq!(pause(1, Some(seconds(5))), Some(seconds(5)));
        assert_eq!(pause(1, Some(seconds(3_600))), Some(seconds(10)));
        assert_eq!(pause(3, Some(seconds(5))), None);
    }
}
