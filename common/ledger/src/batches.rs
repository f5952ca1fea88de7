//! Batches under way: which jobs of a run stand in which shard, and how far each shard has come.
//!
//! A *shard* is a slice of a run's jobs that becomes one batch of the provider's. Creating a batch
//! is idempotent nowhere, so each step of a shard is recorded before it is taken and after.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

use crate::error::LedgerError;
use async_trait::async_trait;
use juror_types::id::{JobId, LeaseId, OwnerId, RunId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Owner of the leases of rows. A batch goes on without the process that created it, so these
/// leases outlive every process: no sweep and no restart presumes them spent.
pub const ROWS_OWNER: &str = "batches";

/// Records of batches, in the same backend as the ledger. Each shard has one owner, who alone moves
/// it on; an owner that renews nothing any more can be replaced by another.
#[async_trait]
pub trait BatchRecords: Send + Sync {
    /// Begins a shard that is being filled; returns its number, which the run gives only once.
    async fn open_shard(&self, run: &RunId, owner: &OwnerId) -> Result<u32, LedgerError>;

    /// Adds a row to a shard that is being filled, in place of a closed row of its job.
    async fn add_row(&self, shard: &ShardKey, row: &BatchRow) -> Result<RowAdded, LedgerError>;

    /// The row of a job; none if it has none.
    async fn row(&self, run: &RunId, job: &JobId) -> Result<Option<BatchRow>, LedgerError>;

    /// Rows of a shard, the open ones or the closed: at most `limit` of them, in the order of their
    /// jobs, after that of `after`.
    async fn rows(
        &self,
        run: &RunId,
        number: u32,
        open: bool,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, LedgerError>;

    /// Closes a row with this record: it has come to nothing, and its job is to be asked again. It
    /// stays in its shard until it is detached. A row that was replaced is left as it is.
    async fn close_row(&self, run: &RunId, row: &BatchRow) -> Result<(), LedgerError>;

    /// Takes a closed row out of its shard: its job goes on elsewhere. A row that was replaced is
    /// left as it is.
    async fn detach_row(&self, run: &RunId, row: &BatchRow) -> Result<(), LedgerError>;

    /// Removes a row: its job's result is stored, or it was never sent. A row that was replaced is
    /// left as it is.
    async fn remove_row(&self, run: &RunId, row: &BatchRow) -> Result<(), LedgerError>;

    /// Ends the filling of a shard, in one step; the open rows of these jobs are not in its file
    /// and move to the shard `next`, which is being filled. Returns whether it was the owner's.
    async fn plan_shard(
        &self,
        shard: &ShardKey,
        left_out: &[JobId],
        next: Option<u32>,
    ) -> Result<bool, LedgerError>;

    /// Moves the open rows of a shard into these, which are being filled and are planned with it,
    /// in one step; the shard itself ends. Returns whether it was the owner's.
    async fn split_shard(
        &self,
        shard: &ShardKey,
        parts: &[(u32, Vec<JobId>)],
    ) -> Result<bool, LedgerError>;

    /// Records how far a shard has come. One that is collected is forgotten. Returns whether it was
    /// the owner's; otherwise nothing is recorded.
    async fn set_step(&self, shard: &ShardKey, step: &ShardStep) -> Result<bool, LedgerError>;

    /// The shards of a run that are not collected, by their numbers.
    async fn shards(&self, run: &RunId) -> Result<Vec<(u32, ShardStep)>, LedgerError>;

    /// Runs that have such shards.
    async fn runs_with_shards(&self) -> Result<Vec<RunId>, LedgerError>;

    /// Keeps the owner's shards its own for this time from now.
    async fn renew_owner(&self, owner: &OwnerId, ttl: Duration) -> Result<(), LedgerError>;

    /// Gives the owner's shards up at once.
    async fn resign(&self, owner: &OwnerId) -> Result<(), LedgerError>;

    /// Makes every shard of a run the owner's that no living owner has; returns all of the run that
    /// are the owner's now, by their numbers.
    async fn take_over(
        &self,
        run: &RunId,
        owner: &OwnerId,
    ) -> Result<Vec<(u32, ShardStep)>, LedgerError>;
}

/// Name of a shard, with its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardKey {
    /// The run.
    pub run: RunId,
    /// The number of the shard in the run.
    pub number: u32,
    /// Its owner.
    pub owner: OwnerId,
}

/// Outcome of adding a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAdded {
    /// The row stands in the shard.
    Added,
    /// The job has an open row already, which is left as it is.
    UnderWay,
    /// The shard is filled no more, or is another owner's.
    Refused,
}

/// One job in a batch, or on its way into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRow {
    /// The job; its id names the row to the provider.
    pub job: JobId,
    /// The round.
    pub round: u32,
    /// Lease that holds what the row may cost.
    pub lease: LeaseId,
    /// True if the row waits for its end; otherwise it has come to nothing, and the job is to be
    /// asked again.
    pub open: bool,
    /// The worker's record for finishing the job, as JSON.
    pub record: String,
}

/// Progress of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum ShardStep {
    /// Rows are added to it, and to its file.
    Filling,
    /// Its rows are given up before anything is sent.
    GivenUp,
    /// Its file is written.
    Planned,
    /// The provider has its file.
    Uploaded {
        /// Id of the file at the provider.
        file: String,
    },
    /// Its batch is about to be created, and may have been.
    Creating {
        /// Id of the file at the provider.
        file: String,
    },
    /// Its batch is under way.
    Created {
        /// Id of the file at the provider.
        file: String,
        /// Id of the batch.
        batch: String,
    },
    /// Its batch has ended, and its rows are being collected.
    Ended {
        /// Id of the file at the provider.
        file: String,
        /// Id of the batch.
        batch: String,
    },
    /// Every row has its end.
    Collected,
}
