//! A provider's batches: rows that are uploaded together, processed within 24 hours, and cost half.

use super::{AccountProblem, CallEnd, Request};
use async_trait::async_trait;
use juror_types::usage::Usage;
use serde::{Deserialize, Serialize};
use std::{path::Path, time::Duration};

/// Batch API of one provider. Operations do not retry.
#[async_trait]
pub trait BatchProvider: Send + Sync {
    /// The maximum size of one batch.
    fn limits(&self) -> BatchLimits;

    /// A row of an input file: the body of the ordinary call, and a line end.
    fn row(&self, id: &str, request: &Request) -> Vec<u8>;

    /// The optional parameters that such a row has now.
    fn row_options(&self, _request: &Request) -> RequestOptions {
        RequestOptions::default()
    }

    /// Omits from now on what the refusal of a row names of the parameters that it was sent with;
    /// `None` if it names none of them, so that a retry would be refused too.
    fn drop_refused(&self, _sent: RequestOptions, _end: &CallEnd) -> Option<DroppedOption> {
        None
    }

    /// Uploads an input file; returns its id once the provider has accepted it.
    async fn upload(&self, file: &Path) -> Result<String, BatchError>;

    /// Creates a batch from an uploaded file; returns its id. Not idempotent: after
    /// [`BatchError::Lost`] the batch may exist, and [`BatchProvider::find_up_to`] finds it.
    async fn create(&self, file: &str, mark: &BatchMark) -> Result<String, BatchError>;

    /// The first batches in the list that were created from this file; fewer than `at_most` only
    /// after a complete search. One that failed by the limit of enqueued tokens or by the account
    /// does not count: it ran nothing, and could hide a later one of its file.
    async fn find_up_to(&self, file: &str, at_most: usize) -> Result<Vec<String>, BatchError>;

    /// Status of a batch.
    async fn status(&self, batch: &str) -> Result<BatchStatus, BatchError>;

    /// Requests a batch's cancellation; its end must still be waited for.
    async fn cancel(&self, batch: &str) -> Result<(), BatchError>;

    /// Writes a file of the provider's to a path.
    async fn download(&self, file: &str, to: &Path) -> Result<(), BatchError>;

    /// Deletes a file at the provider; one that does not exist counts as deleted.
    async fn delete_file(&self, file: &str) -> Result<(), BatchError>;

    /// Reads a line of an output or error file; `None` if it names no row.
    fn read_row(&self, line: &[u8]) -> Option<RowOutput>;
}

/// The maximum size of one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchLimits {
    /// Number of rows.
    pub rows: usize,
    /// Bytes of its file.
    pub bytes: u64,
}

/// Optional parameters that a request was sent with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestOptions {
    /// The client's number of the reply's format; a stricter one is lower.
    pub format: u8,
    /// True if it marks the part that the provider should cache.
    pub keeps_instructions: bool,
}

/// A parameter that is omitted from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedOption {
    /// A warning for the user, if this refusal is the first.
    pub warning: Option<String>,
}

/// The mark by which people find a batch at the provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchMark {
    /// Id of the run.
    pub run: String,
    /// The number of the shard in the run.
    pub shard: u32,
}

/// Status of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchStatus {
    /// The batch is running.
    UnderWay(RowCounts),
    /// The batch has ended.
    Ended(EndedBatch),
    /// Refused before any row ran: the batch needs more enqueued tokens than the account may have
    /// now.
    TokenLimit(TokenLimitRefusal),
    /// Refused before any row ran: the account cannot run batches until a person acts.
    Account {
        /// Problem that a person must solve.
        problem: AccountProblem,
        /// Message of the provider.
        message: String,
    },
    /// Refused before any row ran: the batch is invalid; the message names line and reason.
    Invalid(String),
}

/// Refusal of a batch by the limit of enqueued tokens, which all batches of an organization share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenLimitRefusal {
    /// Message of the provider.
    pub message: String,
    /// The limit in tokens of input, if the provider states it.
    pub limit: Option<u64>,
}

/// Rows of a batch by their state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Number of rows.
    pub total: u64,
    /// Number of rows with a reply.
    pub completed: u64,
    /// Number of rows with an error.
    pub failed: u64,
}

/// A batch that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndedBatch {
    /// Rows by state.
    pub counts: RowCounts,
    /// Way in which the batch ended.
    pub ending: BatchEnding,
    /// Files with its replies and errors.
    pub files: Vec<String>,
    /// Total usage, if the provider states it.
    pub usage: Option<Usage>,
}

/// Ending of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchEnding {
    /// Every row has run.
    #[default]
    Completed,
    /// The time of the batch was up.
    Expired,
    /// The batch was cancelled.
    Cancelled,
}

/// Output of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOutput {
    /// The id that it was given.
    pub id: String,
    /// End of its call; `None` if it never ran, which costs nothing.
    pub end: Option<CallEnd>,
}

/// Reason why an operation on batches failed, by the caller's next step. Messages are the
/// provider's or the network's, truncated and without secrets.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum BatchError {
    /// Try again later.
    #[error("{0}")]
    Unavailable(String),
    /// Too many requests: try again after this time.
    #[error("{message}")]
    RateLimited {
        /// Wait requested by the provider, if any.
        retry_after: Option<Duration>,
        /// Message of the provider.
        message: String,
    },
    /// More enqueued tokens than the account may have now: wait for other batches, or split.
    #[error("{}", .0.message)]
    TokenLimit(TokenLimitRefusal),
    /// Sent without a response: it may have been executed.
    #[error("{0}")]
    Lost(String),
    /// Account error: operations cannot succeed until a person acts.
    #[error("{problem}; its message: {message}")]
    Account {
        problem: AccountProblem,
        /// Message of the provider.
        message: String,
    },
    /// The provider has no batch or file of this id, for this key and at this address.
    #[error("{0}")]
    Gone(String),
    /// A search that cannot be completed: the batch may exist.
    #[error("{0}")]
    Unsearchable(String),
    /// Refused for good.
    #[error("the vision API refused the operation (status {status}): {message}")]
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
