//! Graceful and immediate shutdown, passed to every role.

use tokio_util::sync::CancellationToken;

/// Two cancellation tokens that a role observes. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Start nothing new, and finish work in progress.
    pub drain: CancellationToken,
    /// Abort work in progress too. Implies `drain`.
    pub now: CancellationToken,
}

impl Shutdown {
    /// Tokens without a signal.
    pub fn new() -> Self {
        Self::default()
    }

    /// The shutdown of a part that may also be drained alone; an immediate one is shared.
    pub fn child(&self) -> Self {
        Self { drain: self.drain.child_token(), now: self.now.clone() }
    }

    /// Starts a graceful shutdown, or, at the second call, an immediate one.
    pub fn escalate(&self) {
        if self.drain.is_cancelled() {
            self.now.cancel();
        }
        self.drain.cancel();
    }
}
