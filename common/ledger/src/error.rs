//! Failures of the ledger.

/// What can go wrong at admission, by what the caller can do next. No call goes out on an error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LedgerError {
    /// The ledger cannot be reached or written now: wait and try again.
    #[error("the ledger cannot be used now: {0}")]
    Unavailable(String),
    /// The ledger is not what it should be: a person must mend it.
    #[error("the ledger is not usable: {0}")]
    Broken(String),
}
