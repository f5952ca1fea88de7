//! A batch that exceeds the provider's limit of enqueued tokens: its shard waits or is split.

use super::{RunBatches, ShardEnd, ShardLifecycle};
use crate::{
    batch::{give_up_shard::give_up_and_return_jobs, row::RowRecord, shard_rows::open_rows},
    interruption::Interruption,
    vision::{BatchError, TokenLimitRefusal},
    worker_error::WorkerError,
};
use futures_util::TryStreamExt as _;
use juror_ledger::batches::ShardStep;
use std::{pin::pin, sync::Arc};

/// Number of refusals in a row, with no other batch of this run under way, after which a shard that
/// may be above the limit by itself is split. With the default poll times, they take three minutes.
const MAX_LONE_REFUSALS: u32 = 8;
/// The same for a shard that is within the limit by Juror's count. With the default poll times, they
/// take at least a day, in which the batches of others end: the provider counts more.
const MAX_REFUSALS_WITHIN_LIMIT: u32 = 1_500;

impl ShardLifecycle {
    /// Waits while other batches use up the enqueued tokens; returns true if this shard should be
    /// split instead.
    pub(super) async fn over_token_limit(
        &mut self,
        refusal: TokenLimitRefusal,
    ) -> Result<bool, WorkerError> {
        let work = Arc::clone(&self.work);
        // `under_way` includes this shard while it is watched.
        let others = work.under_way().saturating_sub(u32::from(self.uncreated.is_none()));
        // The limit is the organization's: its other runs and programs may use it up, and then
        // halves are refused too, down to batches of one row.
        self.lone_refusals = if others == 0 { self.lone_refusals.saturating_add(1) } else { 0 };
        let most = match self.fits(refusal.limit).await? {
            true => MAX_REFUSALS_WITHIN_LIMIT,
            false => MAX_LONE_REFUSALS,
        };
        if self.lone_refusals >= most && self.rows().await? > 1 {
            return Ok(true);
        }
        self.wait_after(BatchError::TokenLimit(refusal)).await?;
        Ok(false)
    }

    /// True if the rows are within a limit by their bounds, so that other batches are in the way.
    async fn fits(&mut self, limit: Option<u64>) -> Result<bool, WorkerError> {
        let Some(limit) = limit else { return Ok(false) };
        let input_tokens = match self.input_tokens {
            Some(known) => known,
            None => self.most_input_tokens().await?,
        };
        self.input_tokens = Some(input_tokens);
        Ok(input_tokens <= limit)
    }

    async fn most_input_tokens(&self) -> Result<u64, WorkerError> {
        let RunBatches { lane, run, .. } = &*self.work;
        let mut rows = pin!(open_rows(&*lane.records, run, self.number));
        let mut input_tokens = 0_u64;
        while let Some(row) = rows.try_next().await? {
            let row = RowRecord::read(&row)?;
            input_tokens = input_tokens.saturating_add(row.bounds.input_tokens);
        }
        Ok(input_tokens)
    }

    /// Splits the shard into two halves, each of which becomes a batch. Without its file, which
    /// another worker may have written on its own machine, its jobs return to their queue.
    pub(super) async fn split(&mut self, step: &ShardStep) -> Result<ShardEnd, WorkerError> {
        self.presume_second_hold(step).await?;
        if !self.has_file().await? {
            // Recorded first: if another worker took the shard over, it needs the uploaded file.
            self.record(&ShardStep::GivenUp).await?;
            give_up_and_return_jobs(&self.work, self.number).await?;
        } else if !self.work.split_shard(self.number, &self.path()).await? {
            return Err(Interruption::ClaimLost.into());
        }
        self.remove_files(step, &[]).await;
        Ok(ShardEnd::default())
    }

    async fn has_file(&self) -> Result<bool, Interruption> {
        let path = self.path();
        tokio::fs::try_exists(&path).await.map_err(|error| {
            Interruption::Paused(format!("file {} cannot be read: {error}", path.display()))
        })
    }
}
