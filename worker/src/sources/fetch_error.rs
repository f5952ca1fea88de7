//! Errors of an attempt to fetch a file, and the pause before the next one.

use std::time::Duration;

/// Number of attempts to fetch one file after which its job fails.
const MAX_FETCH_ATTEMPTS: u32 = 3;
/// Longest wait between two attempts to fetch a file.
const MAX_FETCH_PAUSE: Duration = Duration::from_secs(10);

/// Reason why an attempt to fetch a file failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FetchError {
    /// A retry would change nothing.
    Final(String),
    /// The file is larger than this number of bytes.
    TooLarge(u64),
    /// A retry may help.
    Passing {
        /// Message for people.
        problem: String,
        /// Wait requested by the server.
        wait: Option<Duration>,
    },
}

impl FetchError {
    /// A passing failure without a wait from the server.
    pub(super) fn passing(problem: impl Into<String>) -> Self {
        Self::Passing { problem: problem.into(), wait: None }
    }

    /// Error of an allowed source that was never opened.
    pub(super) fn not_configured() -> Self {
        Self::Final("no source of this kind is configured".to_owned())
    }
}

/// Pause after this many attempts to fetch a file; none after the last one. `requested` is the
/// pause requested by the file's server, if any.
pub(super) fn fetch_pause(
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
