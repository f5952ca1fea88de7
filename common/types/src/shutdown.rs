//! Soft and hard stop, handed to every role.

use tokio_util::sync::CancellationToken;

/// Two signals that a role listens to. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    /// Take nothing new; finish what is in flight.
    pub drain: CancellationToken,
    /// Drop what is in flight too. Implies `drain`.
    pub now: CancellationToken,
}

impl Shutdown {
    /// No signal given yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a soft stop, or, at the second call, for a hard one.
    pub fn escalate(&self) {
        if self.drain.is_cancelled() {
            self.now.cancel();
        }
        self.drain.cancel();
    }
}
