//! Batch records of a retrying ledger. A record that advances a shard is repeated until a hard
//! stop, as a bill is.

use super::RetryingLedger;
use async_trait::async_trait;
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, BatchRow, RowAdded, RowChange, RowState, ShardKey, ShardStep},
    error::LedgerError,
    job_store::JobStore,
};
use juror_types::id::{JobId, OwnerId, RunId};
use std::time::Duration;

repeated! {
    impl BatchRecords where Backend: Admission + JobStore + BatchRecords {
        query open_shard(run: &RunId, owner: &OwnerId) -> u32;
        query add_row(shard: &ShardKey, row: &BatchRow) -> RowAdded;
        query row(run: &RunId, job: &JobId) -> Option<BatchRow>;
        query rows(run: &RunId, number: u32, state: RowState, after: Option<&JobId>, limit: u32)
            -> Vec<BatchRow>;
        record change_row(run: &RunId, row: &BatchRow, change: RowChange) -> ();
        record plan_shard(shard: &ShardKey, left_out: &[JobId], next: Option<u32>) -> bool;
        record split_shard(shard: &ShardKey, parts: &[(u32, Vec<JobId>)]) -> bool;
        record set_step(shard: &ShardKey, step: &ShardStep) -> bool;
        query shards(run: &RunId) -> Vec<(u32, ShardStep)>;
        query runs_with_shards() -> Vec<RunId>;
        query renew_owner(owner: &OwnerId, ttl: Duration) -> ();
        query remove_owner(owner: &OwnerId) -> ();
        query take_over(run: &RunId, owner: &OwnerId) -> Vec<(u32, ShardStep)>;
    }
}
