//! Rows of a shard, page by page.

use super::{MAX_CONCURRENT_ROWS, PAGE, row::RowRecord};
use crate::cost_bounds::Bounds;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, future::ready, stream};
use juror_ledger::{
    batches::{BatchRecords, BatchRow, RowState},
    error::LedgerError,
};
use juror_types::id::{JobId, RunId};
use std::pin::pin;

/// The open rows of a shard, by their jobs.
pub fn open_rows<'a>(
    records: &'a dyn BatchRecords,
    run: &'a RunId,
    number: u32,
) -> impl Stream<Item = Result<BatchRow, LedgerError>> + 'a {
    let pages = stream::try_unfold(None, move |after: Option<JobId>| async move {
        let rows = records.rows(run, number, RowState::Open, after.as_ref(), PAGE).await?;
        let last = rows.last().map(|row| row.job.clone());
        Ok(last.map(|last| (stream::iter(rows.into_iter().map(Ok)), Some(last))))
    });
    pages.try_flatten()
}

/// Bounds of these rows.
pub fn open_bounds<'a>(
    records: &'a dyn BatchRecords,
    run: &'a RunId,
    number: u32,
) -> impl Stream<Item = Result<Bounds, LedgerError>> + 'a {
    let rows = open_rows(records, run, number);
    rows.and_then(|row| ready(RowRecord::read(&row).map(|record| record.bounds)))
}

/// Changes each row of a shard in a state until it has none; returns their number.
pub async fn change_rows<E: From<LedgerError>, Changing: Future<Output = Result<(), E>>>(
    records: &dyn BatchRecords,
    (run, number): (&RunId, u32),
    state: RowState,
    change: impl Fn(BatchRow) -> Changing,
) -> Result<usize, E> {
    let mut count = 0;
    loop {
        let rows = records.rows(run, number, state, None, PAGE).await?;
        if rows.is_empty() {
            return Ok(count);
        }
        count += rows.len();
        let changes = stream::iter(rows).map(&change).buffer_unordered(MAX_CONCURRENT_ROWS);
        all_ended(pin!(changes)).await?;
    }
}

/// Waits for rows that are being changed, so that none is left halfway; returns the first error.
pub async fn all_ended<E>(mut changes: impl Stream<Item = Result<(), E>> + Unpin) -> Result<(), E> {
    let mut all = Ok(());
    while let Some(changed) = changes.next().await {
        all = all.and(changed);
    }
    all
}
