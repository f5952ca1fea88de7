//! Cancelling the batches of a run that no process works on.

use super::{
    MAX_CONCURRENT_ROWS,
    give_up_shard::give_up_shard,
    lost_batch::{find_lost_batch, second_lease},
    shard_rows::open_rows,
};
use crate::vision::{BatchError, BatchProvider, BatchStatus};
use futures_util::TryStreamExt as _;
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, BatchRow, ShardKey, ShardStep},
    error::LedgerError,
};
use juror_types::id::{OwnerId, RunId};
use std::time::Duration;

/// Reason why batches could not be cancelled. Those that were cancelled before the error stay so.
#[derive(Debug, thiserror::Error)]
pub enum CancelBatchesError {
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The provider did not cancel a batch.
    #[error(transparent)]
    Provider(#[from] BatchError),
}

/// Cancels every batch of a run at the provider and gives up shards without one; returns the number
/// of batches to be collected. `owner` is the owner of the run's shards; a batch whose creation had
/// no response is searched for, `pause` apart. Rows that ran by then are billed.
pub async fn cancel_batches<Backend: BatchRecords + Admission>(
    run: &RunId,
    owner: &OwnerId,
    provider: &dyn BatchProvider,
    backend: &Backend,
    pause: Duration,
) -> Result<u32, CancelBatchesError> {
    let (mut left, mut unsearchable) = (0, None);
    for (number, step) in backend.take_over(run, owner).await? {
        let shard = ShardKey { run: run.clone(), number, owner: owner.clone() };
        let batch = match step {
            ShardStep::Created { batch, .. } | ShardStep::Ended { batch, .. } => Some(batch),
            ShardStep::Creating { file, unanswered } => {
                let found = match find_lost_batch(provider, &file, unanswered, pause).await {
                    // Its reservations stay, and the other batches are cancelled first.
                    Err(error @ BatchError::Unsearchable(_)) => {
                        unsearchable.get_or_insert(error);
                        continue;
                    }
                    found => found?,
                };
                let second = second_lease(run, &file);
                match unanswered {
                    // A second creation had an answer, and created nothing.
                    0 | 1 => backend.release(&second).await?,
                    _ => backend.presume_spent(&second).await?,
                }
                match found.clone() {
                    Some(batch) => {
                        backend.set_step(&shard, &ShardStep::Created { file, batch }).await?;
                    }
                    // It may run all the same.
                    None => presume_rows(&shard, backend).await?,
                }
                found
            }
            ShardStep::Filling
            | ShardStep::GivenUp
            | ShardStep::Planned
            | ShardStep::Uploaded { .. }
            | ShardStep::Collected => None,
        };
        let Some(batch) = batch else {
            give_up_shard(&shard, backend, backend).await?;
            continue;
        };
        match provider.status(&batch).await {
            Ok(BatchStatus::UnderWay(_)) => provider.cancel(&batch).await?,
            // Its outcome is unknown, and its reservations stay until the run is resumed.
            Ok(_) | Err(BatchError::Gone(_)) => {}
            Err(error) => return Err(error.into()),
        }
        left += 1;
    }
    unsearchable.map_or(Ok(left), |error| Err(error.into()))
}

/// Counts the rows of a shard as spent.
async fn presume_rows<Backend: BatchRecords + Admission>(
    shard: &ShardKey,
    backend: &Backend,
) -> Result<(), LedgerError> {
    let presume = |row: BatchRow| async move { backend.presume_spent(&row.lease).await };
    let rows = open_rows(backend, &shard.run, shard.number);
    rows.try_for_each_concurrent(MAX_CONCURRENT_ROWS, presume).await
}
