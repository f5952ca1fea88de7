//! Messages about runs that go on by themselves.

use std::{sync::Arc, time::Duration};

/// A message about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The run has ended, or its jobs are published.
    Done(String),
    /// The run broke off.
    Failed(String),
}

/// A receiver of messages, which must not block.
pub type Notify = Arc<dyn Fn(Notice) + Send + Sync>;

/// The line of a wait, with the local time of the next try.
pub fn waiting_text(reason: &str, pause: Duration) -> String {
    let next = jiff::Zoned::now().checked_add(pause).unwrap_or_else(|_| jiff::Zoned::now());
    format!("{reason}: waiting, next try at {}", next.strftime("%H:%M:%S"))
}
