//! Rows of shards: their records, and reading and changing them page by page.

use super::{MAX_CONCURRENT_ROWS, PAGE};
use crate::{
    cost_bounds::Bounds, judging::call_conclusion::FirstVerdict, result_builder::BuilderSnapshot,
    retry_policy::AttemptTally, vision::RequestOptions,
};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, future::ready, stream};
use juror_ledger::{
    batches::{BatchRecords, BatchRow, RowState},
    error::LedgerError,
};
use juror_types::{
    id::{Digest, JobId, LeaseId, RunId},
    job::Job,
};
use serde::{Deserialize, Serialize};
use std::pin::pin;

/// The record of a job in a batch, from which this process or a later one finishes the job when its
/// reply comes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RowRecord {
    pub job: Job,
    /// Result so far.
    pub builder: BuilderSnapshot,
    /// Key of the request in the reply cache.
    #[serde(rename = "key")]
    pub cache_key: Digest,
    /// Bounds of the row, at the price of batches.
    pub bounds: Bounds,
    /// Attempts of the job so far.
    pub tally: AttemptTally,
    /// True if the output limit was raised after a truncated reply.
    pub raised: bool,
    /// True if the provider fetches the images of this row itself.
    #[serde(default)]
    pub by_url: bool,
    /// Optional parameters that the row is sent with; `None` in a row of an earlier version.
    #[serde(default)]
    pub options: Option<RequestOptions>,
    /// Contradictory verdict, for which the judge is called once more.
    pub first: Option<FirstVerdict>,
    /// True if the job uses ordinary calls from now on.
    pub realtime: bool,
}

impl RowRecord {
    pub fn read(row: &BatchRow) -> Result<Self, LedgerError> {
        serde_json::from_str(&row.record).map_err(|error| {
            LedgerError::Broken(format!(
                "the row of job {} in the database cannot be read ({error}): it was written by \
                 another version of this program; use that version, or start a new run",
                row.job
            ))
        })
    }

    /// Encodes the record for the ledger.
    pub fn into_row(self, lease: LeaseId, open: bool) -> Result<BatchRow, LedgerError> {
        let record = serde_json::to_string(&self).map_err(|error| {
            LedgerError::Broken(format!("a row of a batch cannot be written ({error})"))
        })?;
        Ok(BatchRow { job: self.job.job_id, round: self.job.round, lease, open, record })
    }
}

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
