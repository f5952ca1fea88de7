//! Reasons why a call waits for admission.

/// A limit that a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// Requests per minute.
    Requests,
    /// Tokens per minute.
    Tokens,
    /// A cooldown that the provider asked for.
    Cooldown,
    /// Outstanding leases hold the rest of the budget.
    Budget,
}
