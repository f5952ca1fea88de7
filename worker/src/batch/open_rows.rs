//! Open rows of a shard, page by page.

use super::PAGE;
use futures_util::{Stream, TryStreamExt as _, stream};
use juror_ledger::{
    batches::{BatchRecords, BatchRow},
    error::LedgerError,
};
use juror_types::id::{JobId, RunId};

/// The open rows of a shard, by their jobs.
pub fn open_rows<'a>(
    records: &'a dyn BatchRecords,
    run: &'a RunId,
    number: u32,
) -> impl Stream<Item = Result<BatchRow, LedgerError>> + 'a {
    let pages = stream::try_unfold(None, move |after: Option<JobId>| async move {
        let rows = records.rows(run, number, true, after.as_ref(), PAGE).await?;
        let last = rows.last().map(|row| row.job.clone());
        Ok(last.map(|last| (stream::iter(rows.into_iter().map(Ok)), Some(last))))
    });
    pages.try_flatten()
}
