//! Records of batches: the shard of each job of a run, and the progress of each shard.
//!
//! A *shard* is a slice of a run's jobs that becomes one batch at the provider. Providers do not
//! create batches idempotently, so each step of a shard is recorded before it is taken and after.

#[cfg(test)]
pub(crate) mod conformance;

use crate::error::LedgerError;
use async_trait::async_trait;
use juror_types::id::{JobId, LeaseId, OwnerId, RunId};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Owner of the leases of rows. A batch continues without the process that created it, so these
/// leases outlive every process: no sweep and no restart presumes them spent.
pub const ROWS_OWNER: &str = "batches";

/// Records of batches, in the same backend as the ledger. Each shard has one owner, which alone
/// changes it; an owner that does not renew itself can be replaced.
#[async_trait]
pub trait BatchRecords: Send + Sync {
    /// Opens a shard to be filled; returns its number, which is unique in the run.
    async fn open_shard(&self, run: &RunId, owner: &OwnerId) -> Result<u32, LedgerError>;

    /// Adds a row to a shard that is being filled, replacing a closed row of its job.
    async fn add_row(&self, shard: &ShardKey, row: &BatchRow) -> Result<RowAdded, LedgerError>;

    /// The row of a job, if it has one.
    async fn row(&self, run: &RunId, job: &JobId) -> Result<Option<BatchRow>, LedgerError>;

    /// Rows of a shard in a state: at most `limit` of them, ordered by job, after `after`.
    async fn rows(
        &self,
        run: &RunId,
        number: u32,
        state: RowState,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, LedgerError>;

    /// Changes a row; one that was replaced is left unchanged.
    async fn change_row(
        &self,
        run: &RunId,
        row: &BatchRow,
        change: RowChange,
    ) -> Result<(), LedgerError>;

    /// Ends the filling of a shard, in one step; the open rows of these jobs are not in its file
    /// and move to the shard `next`, which is being filled. Returns false, without a change, if the
    /// shard has another owner.
    async fn plan_shard(
        &self,
        shard: &ShardKey,
        left_out: &[JobId],
        next: Option<u32>,
    ) -> Result<bool, LedgerError>;

    /// Moves the open rows of a shard into these, which are being filled and become planned with
    /// it, in one step; the shard itself ends. Returns false, without a change, if it has another
    /// owner.
    async fn split_shard(
        &self,
        shard: &ShardKey,
        parts: &[(u32, Vec<JobId>)],
    ) -> Result<bool, LedgerError>;

    /// Records the step that a shard has reached. A collected one is deleted. Returns false,
    /// without a change, if the shard has another owner.
    async fn set_step(&self, shard: &ShardKey, step: &ShardStep) -> Result<bool, LedgerError>;

    /// The shards of a run that are not collected, by their numbers.
    async fn shards(&self, run: &RunId) -> Result<Vec<(u32, ShardStep)>, LedgerError>;

    /// Runs that have such shards.
    async fn runs_with_shards(&self) -> Result<Vec<RunId>, LedgerError>;

    /// Extends the ownership of the owner's shards by this time from now.
    async fn renew_owner(&self, owner: &OwnerId, ttl: Duration) -> Result<(), LedgerError>;

    /// Ends the ownership of the owner's shards immediately.
    async fn remove_owner(&self, owner: &OwnerId) -> Result<(), LedgerError>;

    /// Transfers every shard of a run without a living owner to this owner; returns all shards of
    /// the run that it owns now, by their numbers.
    async fn take_over(
        &self,
        run: &RunId,
        owner: &OwnerId,
    ) -> Result<Vec<(u32, ShardStep)>, LedgerError>;
}

/// Name of a shard, with its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardKey {
    /// Id of the run.
    pub run: RunId,
    /// The number of the shard in the run.
    pub number: u32,
    /// Process that keeps the shard.
    pub owner: OwnerId,
}

/// Outcome of adding a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowAdded {
    /// The row is in the shard.
    Added,
    /// The job has an open row already, which is left unchanged.
    UnderWay,
    /// The shard is no longer being filled, or has another owner.
    Refused,
}

/// Change of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    /// The row is closed with its record: it has failed, and its job is to be judged by another
    /// call. The row stays in its shard until it is detached.
    Close,
    /// A closed row leaves its shard: its job continues outside.
    Detach,
    /// The row is deleted: its job's result is stored.
    Remove,
}

/// State of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// In progress.
    Open,
    /// Failed: its job is to be judged by another call.
    Closed,
}

impl RowState {
    pub(crate) fn is_open(self) -> bool {
        self == Self::Open
    }
}

/// Job in a batch or about to be in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchRow {
    /// The job; its id identifies the row at the provider.
    pub job: JobId,
    /// Round in which the job was published, from 0.
    pub round: u32,
    /// Lease that reserves the maximum cost of the row.
    pub lease: LeaseId,
    /// True if the row is in progress; false if it has failed and its job is to be judged by
    /// another call.
    pub open: bool,
    /// The worker's record for finishing the job, as JSON.
    pub record: String,
}

/// Progress of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum ShardStep {
    /// Rows are added to it and to its file.
    Filling,
    /// Its rows were given up before anything was sent.
    GivenUp,
    /// Its file is written.
    Planned,
    /// Its file is at the provider.
    Uploaded {
        /// Id of the file at the provider.
        file: String,
    },
    /// Its batch is about to be created, and may have been.
    Creating {
        /// Id of the file at the provider.
        file: String,
        /// Number of its creations without an answer, including the one that is about to be made.
        #[serde(default = "first_creation")]
        unanswered: u32,
    },
    /// Its batch is in progress.
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
    /// All rows are finished.
    Collected,
}

/// Records of earlier versions do not count creations.
fn first_creation() -> u32 {
    1
}
