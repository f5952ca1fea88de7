//! Cancelling the batches of a run that no process works on.

use super::gather::PAGE;
use crate::vision::{BatchError, BatchMark, BatchProvider, BatchStatus};
use juror_ledger::{
    admission::Admission,
    batches::{BatchRecords, ShardStep},
    error::LedgerError,
};
use juror_types::id::RunId;

/// Why batches could not be cancelled. What was cancelled before stays so.
#[derive(Debug, thiserror::Error)]
pub enum CancelBatchesError {
    /// The ledger cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The provider does not do it.
    #[error(transparent)]
    Provider(#[from] BatchError),
}

/// Cancels every batch of a run at the provider, and gives up shards without one; returns how many
/// batches are to be collected. What they have done by then is paid for.
pub async fn cancel_batches<Backend: BatchRecords + Admission>(
    run: &RunId,
    provider: &dyn BatchProvider,
    backend: &Backend,
) -> Result<u32, CancelBatchesError> {
    let mut left = 0;
    for (number, step) in backend.shards(run).await? {
        let batch = match step {
            ShardStep::Created { batch, .. } | ShardStep::Ended { batch, .. } => Some(batch),
            ShardStep::Creating { file } => {
                let mark = BatchMark { run: run.to_string(), shard: number };
                let found = provider.find(&file, &mark).await?;
                if let Some(batch) = found.clone() {
                    backend.set_step(run, number, &ShardStep::Created { file, batch }).await?;
                }
                found
            }
            ShardStep::Planned | ShardStep::Uploaded { .. } | ShardStep::Collected => None,
        };
        let Some(batch) = batch else {
            give_up_shard(run, number, backend).await?;
            continue;
        };
        if matches!(provider.status(&batch).await?, BatchStatus::UnderWay(_)) {
            provider.cancel(&batch).await?;
        }
        left += 1;
    }
    Ok(left)
}

/// Frees what the rows of a shard hold that was never sent.
async fn give_up_shard<Backend: BatchRecords + Admission>(
    run: &RunId,
    number: u32,
    backend: &Backend,
) -> Result<(), LedgerError> {
    loop {
        let rows = backend.open_rows(run, Some(number), None, PAGE).await?;
        if rows.is_empty() {
            return backend.set_step(run, number, &ShardStep::Collected).await;
        }
        for row in rows {
            backend.release(&row.lease).await?;
            backend.remove_row(run, &row.job).await?;
        }
    }
}
