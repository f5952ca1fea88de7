//! Batches under way: which jobs of a run stand in which shard, and how far each shard has come.
//!
//! A *shard* is a slice of a run's jobs that becomes one batch of the provider's. Creating a batch
//! is idempotent nowhere, so each step of a shard is recorded before it is taken and after.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

use crate::error::LedgerError;
use async_trait::async_trait;
use juror_types::id::{JobId, LeaseId, RunId};
use serde::{Deserialize, Serialize};

/// Records of batches, in the same backend as the ledger.
#[async_trait]
pub trait BatchRecords: Send + Sync {
    /// Records a row of no shard yet, in place of an earlier row of its job.
    async fn add_row(&self, run: &RunId, row: BatchRow) -> Result<(), LedgerError>;

    /// The row of a job; none if it has none.
    async fn row(&self, run: &RunId, job: &JobId) -> Result<Option<BatchRow>, LedgerError>;

    /// Removes a job's row: its result is stored, or it was never sent.
    async fn remove_row(&self, run: &RunId, job: &JobId) -> Result<(), LedgerError>;

    /// Rows of a shard, or of none, that have no end yet: at most `limit` of them, in the order of
    /// their jobs, after that of `after`.
    async fn open_rows(
        &self,
        run: &RunId,
        shard: Option<u32>,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, LedgerError>;

    /// Begins shards of these jobs, in one step; the shard `from`, which their rows stood in, ends.
    async fn plan_shards(
        &self,
        run: &RunId,
        shards: &[(u32, Vec<JobId>)],
        from: Option<u32>,
    ) -> Result<(), LedgerError>;

    /// Records how far a shard has come. One that is collected is forgotten.
    async fn set_step(&self, run: &RunId, number: u32, step: &ShardStep)
    -> Result<(), LedgerError>;

    /// The shards of a run that are not collected, by their numbers.
    async fn shards(&self, run: &RunId) -> Result<Vec<(u32, ShardStep)>, LedgerError>;
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
    /// Whether the row waits for its end; otherwise it has come to nothing, and the job is to be
    /// asked again.
    pub open: bool,
    /// The worker's record for finishing the job, as JSON.
    pub record: String,
}

/// Progress of a shard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum ShardStep {
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
