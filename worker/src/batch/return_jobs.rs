//! Return of a shard's jobs to their queue.

use super::{RunBatches, row::RowRecord, shard_rows::change_rows};
use crate::worker_error::WorkerError;
use juror_ledger::batches::{BatchRow, RowChange, RowState};
use juror_queue::Priority;

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
