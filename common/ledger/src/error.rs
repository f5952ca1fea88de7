//! Failures of the ledger.

/// Errors of admission and store, by what the caller can do next. No call goes out on an error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LedgerError {
    /// The ledger cannot be reached or written now: wait and try again.
    #[error("the ledger cannot be used now: {0}")]
    Unavailable(String),
    /// The ledger is not what it should be: a person must mend it.
    #[error("the ledger is not usable: {0}")]
    Broken(String),
}
