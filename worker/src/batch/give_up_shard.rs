//! Giving up a shard that was never sent: the money of its rows is released, and its jobs return to
//! their queue.

use super::{
    RunBatches,
    row::{RowRecord, change_rows},
};
use crate::interruption::WorkerError;
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, BatchRow, RowChange, RowState, ShardKey, ShardStep},
    error::LedgerError,
};
use juror_queue::Priority;
use juror_telemetry::ShardEvent;

/// Gives up a shard, and its jobs until their run is published again; returns false if it belongs
/// to another owner.
pub async fn give_up_shard(
    shard: &ShardKey,
    records: &dyn BatchRecords,
    admission: &dyn Admission,
) -> Result<bool, LedgerError> {
    if !release_rows(shard, records, admission).await? {
        return Ok(false);
    }
    // The jobs come to their queue without the shard, when their run is published again.
    let detach = |row| async move { records.change_row(&shard.run, &row, RowChange::Detach).await };
    change_rows(records, (&shard.run, shard.number), RowState::Closed, detach).await?;
    records.set_step(shard, &ShardStep::Collected).await
}

/// Gives up a shard of this process as [`give_up_shard`] does.
pub async fn give_up_own_shard(work: &RunBatches, number: u32) -> Result<(), WorkerError> {
    let shard = work.shard(number);
    let given_up = give_up_shard(&shard, &*work.lane.records, &*work.context.admission);
    if given_up.await? {
        work.context.metrics.shard(ShardEvent::GivenUp);
    }
    Ok(())
}

/// Gives up a shard of this process, and returns its jobs to their queue.
pub async fn give_up_and_return_jobs(work: &RunBatches, number: u32) -> Result<(), WorkerError> {
    let (records, shard) = (&*work.lane.records, work.shard(number));
    if !release_rows(&shard, records, &*work.context.admission).await? {
        return Ok(());
    }
    return_jobs(work, number).await?;
    records.set_step(&shard, &ShardStep::Collected).await?;
    work.context.metrics.shard(ShardEvent::GivenUp);
    Ok(())
}

/// Returns the jobs of a shard's closed rows to their queue.
pub async fn return_jobs(work: &RunBatches, number: u32) -> Result<(), WorkerError> {
    let records = &*work.lane.records;
    change_rows(records, (&work.run, number), RowState::Closed, |row| return_job(row, work))
        .await
        .map(drop)
}

async fn return_job(row: BatchRow, work: &RunBatches) -> Result<(), WorkerError> {
    let job = RowRecord::read(&row)?.job;
    work.jobs.publish(job, Priority::Normal).await?;
    work.lane.records.change_row(&work.run, &row, RowChange::Detach).await?;
    Ok(())
}

/// Records that a shard is given up, and releases and closes its rows: closed, they keep the
/// attempts and the first verdicts of their jobs. Returns false if the shard belongs to another
/// owner.
async fn release_rows(
    shard: &ShardKey,
    records: &dyn BatchRecords,
    admission: &dyn Admission,
) -> Result<bool, LedgerError> {
    // After this step no row can be added.
    if !records.set_step(shard, &ShardStep::GivenUp).await? {
        return Ok(false);
    }
    let release = |row: BatchRow| async move {
        admission.release(&row.lease).await?;
        records.change_row(&shard.run, &row, RowChange::Close).await
    };
    change_rows(records, (&shard.run, shard.number), RowState::Open, release).await?;
    Ok(true)
}
