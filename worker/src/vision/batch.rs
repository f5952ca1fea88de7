//! A provider's batches: rows that are handed in together, worked off within 24 hours, and cost half.

use super::{AccountProblem, CallEnd, Request};
use async_trait::async_trait;
use juror_types::usage::Usage;
use std::{path::Path, time::Duration};

/// One provider's batches. No operation is repeated by itself.
#[async_trait]
pub trait BatchProvider: Send + Sync {
    /// The most that one batch takes.
    fn limits(&self) -> BatchLimits;

    /// A row of an input file, with the very body of the ordinary call and a line end.
    fn row(&self, id: &str, request: &Request) -> Vec<u8>;

    /// Uploads an input file; returns its id once the provider has taken it in.
    async fn upload(&self, file: &Path) -> Result<String, BatchError>;

    /// Creates a batch from an uploaded file; returns its id. Idempotent nowhere: after
    /// [`BatchError::Lost`] it may be there, and [`BatchProvider::find`] tells.
    async fn create(&self, file: &str, mark: &BatchMark) -> Result<String, BatchError>;

    /// The batch that was created from this file with this mark, if there is one.
    async fn find(&self, file: &str, mark: &BatchMark) -> Result<Option<String>, BatchError>;

    /// Status of a batch.
    async fn status(&self, batch: &str) -> Result<BatchStatus, BatchError>;

    /// Asks for a batch's end; it still has to be waited for.
    async fn cancel(&self, batch: &str) -> Result<(), BatchError>;

    /// Writes a file of the provider's to a path.
    async fn download(&self, file: &str, to: &Path) -> Result<(), BatchError>;

    /// Deletes a file at the provider; one that is not there is deleted.
    async fn delete_file(&self, file: &str) -> Result<(), BatchError>;

    /// Reads a line of an output or error file; none if it names no row.
    fn read_row(&self, line: &[u8]) -> Option<RowOutput>;
}

/// The most that one batch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// Rows.
    pub rows: usize,
    /// Bytes of its file.
    pub bytes: u64,
}

/// By which a batch is found again at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchMark {
    /// The run.
    pub run: String,
    /// The number of the shard in the run.
    pub shard: u32,
}

/// Status of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchStatus {
    /// It goes on.
    UnderWay(RowCounts),
    /// It has ended.
    Ended(EndedBatch),
    /// Nothing ran, since it takes more enqueued tokens than the account may have now.
    TokenLimit(String),
    /// Nothing ran, since it is not valid; the message names line and reason.
    Invalid(String),
}

/// Rows of a batch by how they stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// All of them.
    pub total: u64,
    /// With an answer.
    pub completed: u64,
    /// With an error.
    pub failed: u64,
}

/// A batch that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedBatch {
    /// Its rows.
    pub counts: RowCounts,
    /// Its ending.
    pub ending: BatchEnding,
    /// The files with its answers and errors.
    pub files: Vec<String>,
    /// Its usage in sum, if it says.
    pub usage: Option<Usage>,
}

/// Ending of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchEnding {
    /// Every row has run.
    #[default]
    Completed,
    /// Its time was up.
    Expired,
    /// It was cancelled.
    Cancelled,
}

/// Output of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOutput {
    /// The id that it was given.
    pub id: String,
    /// End of its call; none if it never ran, which costs nothing.
    pub end: Option<CallEnd>,
}

/// Why an operation on batches did not succeed, by what its caller can do next. Messages are the
/// provider's or the network's, cut short and without secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// Try again later.
    #[error("{0}")]
    Unavailable(String),
    /// Too often just now: try again after this time.
    #[error("{message}")]
    RateLimited {
        /// Wait that the provider asks for, if it says.
        retry_after: Option<Duration>,
        /// Message of the provider.
        message: String,
    },
    /// More enqueued tokens than the account may have now: wait for other batches, or split.
    #[error("{0}")]
    TokenLimit(String),
    /// Sent and never answered: it may have been done.
    #[error("{0}")]
    Lost(String),
    /// No operation of this account can succeed until a person mends it.
    #[error("{problem}; it says: {message}")]
    Account {
        /// The problem.
        problem: AccountProblem,
        /// Message of the provider.
        message: String,
    },
    /// Refused for good.
    #[error("the vision API refuses it (status {status}): {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Message of the provider.
        message: String,
    },
    /// A file of this machine cannot be read or written.
    #[error("{0}")]
    File(String),
}
