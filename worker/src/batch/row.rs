//! Record of a job in a batch, from which this process or a later one finishes the job when its
//! reply comes.

use crate::{
    cost_bounds::Bounds, judging::call_conclusion::FirstVerdict,
    next_step_after_call::AttemptTally, result_builder::BuilderSnapshot, vision::RequestOptions,
};
use juror_ledger::{batches::BatchRow, error::LedgerError};
use juror_types::{
    id::{Digest, LeaseId},
    job::Job,
};
use serde::{Deserialize, Serialize};

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
    /// Optional parameters that the row is sent with; none in a row of an earlier version.
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
