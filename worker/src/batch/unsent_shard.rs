//! The end of a shard that was never sent: the money of its rows is released.

use super::{MAX_CONCURRENT_ROWS, PAGE};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, BatchRow, RowChange, ShardKey, ShardStep},
    error::LedgerError,
};
use juror_types::id::RunId;

/// Fate of the jobs of a shard that was never sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum UnsentJobs {
    /// The rows are kept, closed, until the jobs are returned to their queue.
    Return,
    /// The jobs come to their queue without the shard, when their run is published again.
    Forget,
}

/// Gives up a shard that was never sent, and its jobs; returns false if it belongs to another
/// owner.
pub async fn discard_shard(
    shard: &ShardKey,
    records: &dyn BatchRecords,
    admission: &dyn Admission,
) -> Result<bool, LedgerError> {
    if !release_rows(shard, UnsentJobs::Forget, records, admission).await? {
        return Ok(false);
    }
    records.set_step(shard, &ShardStep::Collected).await
}

/// Gives up a shard that was never sent, and releases the money of its rows; returns false if it
/// belongs to another owner.
pub async fn release_rows(
    shard: &ShardKey,
    jobs: UnsentJobs,
    records: &dyn BatchRecords,
    admission: &dyn Admission,
) -> Result<bool, LedgerError> {
    // After this step no row can be added.
    if !records.set_step(shard, &ShardStep::GivenUp).await? {
        return Ok(false);
    }
    loop {
        let rows = records.rows(&shard.run, shard.number, true, None, PAGE).await?;
        if rows.is_empty() {
            return Ok(true);
        }
        let released = stream::iter(rows).map(|row| async move {
            admission.release(&row.lease).await?;
            end_row(&row, &shard.run, jobs, records).await
        });
        released.buffer_unordered(MAX_CONCURRENT_ROWS).try_collect::<()>().await?;
    }
}

async fn end_row(
    row: &BatchRow,
    run: &RunId,
    jobs: UnsentJobs,
    records: &dyn BatchRecords,
) -> Result<(), LedgerError> {
    match jobs {
        UnsentJobs::Return => records.change_row(run, row, RowChange::Close).await,
        UnsentJobs::Forget => records.change_row(run, row, RowChange::Remove).await,
    }
}
