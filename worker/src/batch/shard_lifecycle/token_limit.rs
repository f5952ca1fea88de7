//! A batch that exceeds the provider's limit of enqueued tokens: its shard waits or is split.

use super::{ShardEnd, ShardLifecycle};
use crate::{interruption::Interruption, vision::BatchError, worker_error::WorkerError};
use juror_ledger::batches::ShardStep;
use std::sync::Arc;

impl ShardLifecycle {
    /// Waits while other batches of this run use up the enqueued tokens; returns true if this shard
    /// should be split instead.
    pub(super) async fn over_token_limit(&mut self, message: &str) -> Result<bool, WorkerError> {
        let work = Arc::clone(&self.work);
        // `under_way` includes this shard while it is watched.
        let others = work.under_way().saturating_sub(u32::from(self.uncreated.is_none()));
        if others == 0 && self.rows().await? > 1 {
            return Ok(true);
        }
        self.wait_after(BatchError::Unavailable(message.to_owned())).await?;
        Ok(false)
    }

    /// Splits the shard into two halves, each of which becomes a batch.
    pub(super) async fn split(&mut self, step: &ShardStep) -> Result<ShardEnd, WorkerError> {
        self.presume_second_hold(step).await?;
        if !self.work.split_shard(self.number, &self.path()).await? {
            return Err(Interruption::ClaimLost.into());
        }
        self.remove_files(step, &[]).await;
        Ok(ShardEnd::default())
    }
}
