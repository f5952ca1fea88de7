//! Messages about background runs.

use std::{sync::Arc, time::Duration};

/// A message about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The run has ended, or its jobs are published.
    Done(String),
    /// The run failed.
    Failed(String),
}

/// Callback for messages, which must not block.
pub type Notify = Arc<dyn Fn(Notice) + Send + Sync>;

/// Message of a wait, with the local time of the next attempt.
pub fn waiting_text(reason: &str, pause: Duration) -> String {
    let next = jiff::Zoned::now().checked_add(pause).unwrap_or_else(|_| jiff::Zoned::now());
    format!("{reason}; next attempt at {}", next.strftime("%H:%M:%S"))
}
