//! The end of a shard that was never sent: the money of its rows is released.

use super::{MAX_CONCURRENT_ROWS, PAGE};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, RowChange, ShardKey, ShardStep},
    error::LedgerError,
};

/// Gives up a shard that was never sent, and its jobs; returns false if it belongs to another
/// owner.
pub async fn discard_shard(
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

/// Gives up a shard that was never sent, and releases and changes its rows; returns false if it
/// belongs to another owner.
pub async fn release_rows(
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
