//! Giving up a shard that was never sent: the money of its rows is released.

use super::{BatchWork, MAX_CONCURRENT_ROWS, PAGE, return_jobs::return_jobs};
use crate::worker_error::WorkerError;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, RowChange, ShardKey, ShardStep},
    error::LedgerError,
};
use juror_telemetry::ShardEvent;

/// Gives up a shard, and its jobs until their run is published again; returns false if it belongs
/// to another owner.
pub async fn give_up_shard(
    shard: &ShardKey,
    records: &dyn BatchRecords,
    admission: &dyn Admission,
) -> Result<bool, LedgerError> {
    // The jobs come to their queue without the shard, when their run is published again.
    if !release_rows(shard, RowChange::Remove, records, admission).await? {
        return Ok(false);
    }
    records.set_step(shard, &ShardStep::Collected).await
}

/// Gives up a shard of this process as [`give_up_shard`] does.
pub async fn give_up_own_shard(work: &BatchWork, number: u32) -> Result<(), WorkerError> {
    let shard = work.shard(number);
    let given_up = give_up_shard(&shard, &*work.lane.records, &*work.context.admission);
    if given_up.await? {
        work.context.metrics.shard(ShardEvent::GivenUp);
    }
    Ok(())
}

/// Gives up a shard of this process, and returns its jobs to their queue.
pub async fn give_up_and_return_jobs(work: &BatchWork, number: u32) -> Result<(), WorkerError> {
    let (records, shard) = (&*work.lane.records, work.shard(number));
    // The rows are kept, closed, until the jobs are returned to their queue.
    let released = release_rows(&shard, RowChange::Close, records, &*work.context.admission);
    if !released.await? {
        return Ok(());
    }
    return_jobs(work, number).await?;
    records.set_step(&shard, &ShardStep::Collected).await?;
    work.context.metrics.shard(ShardEvent::GivenUp);
    Ok(())
}

/// Records that a shard is given up, and releases and changes its rows; returns false if it belongs
/// to another owner.
async fn release_rows(
    shard: &ShardKey,
    change: RowChange,
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
            records.change_row(&shard.run, &row, change).await
        });
        released.buffer_unordered(MAX_CONCURRENT_ROWS).try_collect::<()>().await?;
    }
}
