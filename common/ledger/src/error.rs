//! Failures of the ledger.

/// Errors of admission and store, by the caller's next step. No call is made on an error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LedgerError {
    /// The ledger cannot be reached or written now: retry.
    #[error("the ledger is unavailable: {0}")]
    Unavailable(String),
    /// The ledger is misconfigured or damaged: retrying does not help.
    #[error("the ledger is not usable: {0}")]
    Broken(String),
}
