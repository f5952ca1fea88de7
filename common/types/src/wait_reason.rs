//! Reasons why a call waits for admission.

crate::named_enum! {
    /// A limit that a call waits for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WaitReason {
        /// Requests per minute.
        Requests = "requests",
        /// Tokens per minute.
        Tokens = "tokens",
        /// A cooldown requested by the provider.
        Cooldown = "cooldown",
        /// Outstanding leases hold the rest of the budget.
        Budget = "budget",
    }
}
