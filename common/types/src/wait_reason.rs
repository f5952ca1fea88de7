//! Reasons why a call waits for admission.

/// A limit that a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// Requests per minute.
    Requests,
    /// Tokens per minute.
    Tokens,
    /// A cooldown requested by the provider.
    Cooldown,
    /// Outstanding leases hold the rest of the budget.
    Budget,
}
