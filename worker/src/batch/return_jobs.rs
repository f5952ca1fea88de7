//! Return of a shard's jobs to their queue.

use super::{MAX_CONCURRENT_ROWS, PAGE, RunBatches, collect_results::all_ended, row::RowRecord};
use crate::worker_error::WorkerError;
use futures_util::{StreamExt as _, stream};
use juror_ledger::batches::{BatchRow, RowChange};
use juror_queue::Priority;
use std::pin::pin;

/// Returns the jobs of a shard's closed rows to their queue.
pub async fn return_jobs(work: &RunBatches, number: u32) -> Result<(), WorkerError> {
    let RunBatches { lane, run, .. } = work;
    loop {
        let rows = lane.records.rows(run, number, false, None, PAGE).await;
        let rows = rows?;
        if rows.is_empty() {
            return Ok(());
        }
        let returned = stream::iter(rows)
            .map(|row| return_job(row, work))
            .buffer_unordered(MAX_CONCURRENT_ROWS);
        all_ended(pin!(returned)).await?;
    }
}

async fn return_job(row: BatchRow, work: &RunBatches) -> Result<(), WorkerError> {
    let job = RowRecord::read(&row)?.job;
    work.jobs.publish(job, Priority::Normal).await?;
    work.lane.records.change_row(&work.run, &row, RowChange::Detach).await?;
    Ok(())
}
