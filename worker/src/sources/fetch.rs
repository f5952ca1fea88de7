//! Results of one attempt to fetch a file.

use std::time::Duration;

/// Why an attempt brought nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// Trying again would change nothing.
    Final(String),
    /// Trying again may help.
    Passing {
        /// The problem.
        problem: String,
        /// Wait that the server asks for.
        wait: Option<Duration>,
    },
}

impl Miss {
    /// An attempt that may go better later, whenever that is.
    pub(super) fn passing(problem: impl Into<String>) -> Self {
        Self::Passing { problem: problem.into(), wait: None }
    }

    /// Allowed, and never opened.
    pub(super) fn nowhere() -> Self {
        Self::Final("there is no connection to such places".to_owned())
    }
}
