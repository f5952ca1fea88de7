//! Results of one attempt to fetch a file.

use std::time::Duration;

/// Reason why an attempt to fetch a file failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FetchError {
    /// A retry would change nothing.
    Final(String),
    /// The file is larger than this number of bytes.
    TooLarge(u64),
    /// A retry may help.
    Passing {
        /// The problem.
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
