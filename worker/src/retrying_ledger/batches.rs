//! Batch records of a retrying ledger. A record that advances a shard is repeated until a hard
//! stop, as a bill is.

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

repeated! {
    impl BatchRecords where Backend: Admission + Store + BatchRecords {
        asking open_shard(run: &RunId, owner: &OwnerId) -> u32;
        asking add_row(shard: &ShardKey, row: &BatchRow) -> RowAdded;
        asking row(run: &RunId, job: &JobId) -> Option<BatchRow>;
        asking rows(run: &RunId, number: u32, open: bool, after: Option<&JobId>, limit: u32)
            -> Vec<BatchRow>;
        telling close_row(run: &RunId, row: &BatchRow) -> ();
        telling detach_row(run: &RunId, row: &BatchRow) -> ();
        telling remove_row(run: &RunId, row: &BatchRow) -> ();
        telling plan_shard(shard: &ShardKey, left_out: &[JobId], next: Option<u32>) -> bool;
        telling split_shard(shard: &ShardKey, parts: &[(u32, Vec<JobId>)]) -> bool;
        telling set_step(shard: &ShardKey, step: &ShardStep) -> bool;
        asking shards(run: &RunId) -> Vec<(u32, ShardStep)>;
        asking runs_with_shards() -> Vec<RunId>;
        asking renew_owner(owner: &OwnerId, ttl: Duration) -> ();
        asking resign(owner: &OwnerId) -> ();
        asking take_over(run: &RunId, owner: &OwnerId) -> Vec<(u32, ShardStep)>;
    }
}
