//! Batch records of a ledger that may be away for a while. What moves a shard on is waited for until a
//! hard stop, as a bill is.

use super::RetryingLedger;
use async_trait::async_trait;
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, BatchRow, RowAdded, ShardKey, ShardStep},
    error::LedgerError,
    store::Store,
};
use juror_types::id::{JobId, OwnerId, RunId};
use std::time::Duration;

#[async_trait]
impl<Backend: Admission + Store + BatchRecords> BatchRecords for RetryingLedger<Backend> {
    async fn open_shard(&self, run: &RunId, owner: &OwnerId) -> Result<u32, LedgerError> {
        self.asking(|| self.backend.open_shard(run, owner)).await
    }

    async fn add_row(&self, shard: &ShardKey, row: &BatchRow) -> Result<RowAdded, LedgerError> {
        self.asking(|| self.backend.add_row(shard, row)).await
    }

    async fn row(&self, run: &RunId, job: &JobId) -> Result<Option<BatchRow>, LedgerError> {
        self.asking(|| self.backend.row(run, job)).await
    }

    async fn rows(
        &self,
        run: &RunId,
        number: u32,
        open: bool,
        after: Option<&JobId>,
        limit: u32,
    ) -> Result<Vec<BatchRow>, LedgerError> {
        self.asking(|| self.backend.rows(run, number, open, after, limit)).await
    }

    async fn close_row(&self, run: &RunId, row: &BatchRow) -> Result<(), LedgerError> {
        self.telling(|| self.backend.close_row(run, row)).await
    }

    async fn detach_row(&self, run: &RunId, row: &BatchRow) -> Result<(), LedgerError> {
        self.telling(|| self.backend.detach_row(run, row)).await
    }

    async fn remove_row(&self, run: &RunId, row: &BatchRow) -> Result<(), LedgerError> {
        self.telling(|| self.backend.remove_row(run, row)).await
    }

    async fn plan_shard(
        &self,
        shard: &ShardKey,
        left_out: &[JobId],
        next: Option<u32>,
    ) -> Result<bool, LedgerError> {
        self.telling(|| self.backend.plan_shard(shard, left_out, next)).await
    }

    async fn split_shard(
        &self,
        shard: &ShardKey,
        parts: &[(u32, Vec<JobId>)],
    ) -> Result<bool, LedgerError> {
        self.telling(|| self.backend.split_shard(shard, parts)).await
    }

    async fn set_step(&self, shard: &ShardKey, step: &ShardStep) -> Result<bool, LedgerError> {
        self.telling(|| self.backend.set_step(shard, step)).await
    }

    async fn shards(&self, run: &RunId) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        self.asking(|| self.backend.shards(run)).await
    }

    async fn runs_with_shards(&self) -> Result<Vec<RunId>, LedgerError> {
        self.asking(|| self.backend.runs_with_shards()).await
    }

    async fn renew_owner(&self, owner: &OwnerId, ttl: Duration) -> Result<(), LedgerError> {
        self.asking(|| self.backend.renew_owner(owner, ttl)).await
    }

    async fn resign(&self, owner: &OwnerId) -> Result<(), LedgerError> {
        self.asking(|| self.backend.resign(owner)).await
    }

    async fn take_over(
        &self,
        run: &RunId,
        owner: &OwnerId,
    ) -> Result<Vec<(u32, ShardStep)>, LedgerError> {
        self.asking(|| self.backend.take_over(run, owner)).await
    }
}
