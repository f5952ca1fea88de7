//! A batch that the provider refuses by a limit: by that of enqueued tokens, its shard waits or is
//! split, and by its account's, it waits for a person.

use super::{NextMove, RunBatches, ShardLifecycle};
use crate::{
    batch::{give_up_shard::give_up_and_return_jobs, row::open_bounds, shard_file::unreadable},
    cost_bounds::Bounds,
    interruption::{Interruption, WorkerError},
    vision::{BatchError, TokenLimitRefusal},
};
use futures_util::{TryStreamExt as _, future::ready};
use juror_ledger::batches::ShardStep;

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
        // `under_way` includes this shard while it is watched.
        let under_way = *self.work.under_way.borrow();
        let others = under_way.saturating_sub(u32::from(self.uncreated.is_none()));
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
            None => {
                let RunBatches { lane, run, .. } = &*self.work;
                let rows = open_bounds(&*lane.records, run, self.number);
                let sum = |sum: u64, row: Bounds| ready(Ok(sum.saturating_add(row.input_tokens)));
                rows.try_fold(0, sum).await?
            }
        };
        self.input_tokens = Some(input_tokens);
        Ok(input_tokens <= limit)
    }

    /// Pauses the run with the jobs of a batch that its account's problem refused. It ran nothing, so
    /// a resumed run creates another one of its file; a lane that no longer waits for batches ends
    /// its rows.
    pub(super) async fn refused_by_account(
        &mut self,
        file: &str,
        batch: &str,
        error: BatchError,
    ) -> Result<NextMove, WorkerError> {
        let uploaded = ShardStep::Uploaded { file: file.to_owned() };
        if !self.work.lane.is_over() {
            let created = ShardStep::Created { file: file.to_owned(), batch: batch.to_owned() };
            self.presume_second_hold(&created).await?;
            self.record(&uploaded).await?;
            self.wait_after(error).await?;
        }
        Ok(NextMove::Step(uploaded))
    }

    /// Splits the shard into two halves, each of which becomes a batch. Without its file, which
    /// another worker may have written on its own machine, its jobs return to their queue.
    pub(super) async fn split(&mut self, step: &ShardStep) -> Result<(), WorkerError> {
        self.presume_second_hold(step).await?;
        if !self.has_file().await? {
            // Recorded first: if another worker took the shard over, it needs the uploaded file.
            self.record(&ShardStep::GivenUp).await?;
            give_up_and_return_jobs(&self.work, self.number).await?;
        } else if !self.work.split_shard(self.number, &self.path()).await? {
            return Err(Interruption::ClaimLost.into());
        }
        self.remove_files(step, &[]).await;
        Ok(())
    }

    async fn has_file(&self) -> Result<bool, Interruption> {
        let path = self.path();
        tokio::fs::try_exists(&path).await.map_err(|error| unreadable(&path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{interruption::Interruption, worker_role::tests::batch_fixture::BatchFixture};
    use juror_ledger::batches::BatchRecords as _;
    use juror_services::web::{WebResponse, WebServer};
    use juror_types::id::OwnerId;
    use serde_json::json;

    #[tokio::test]
    async fn batch_refused_by_its_account_pauses_the_run_and_can_be_created_anew() {
        let errors = json!([{"code": "billing_hard_limit_reached", "message": "it is reached"}]);
        let failed = json!({"id": "batch-1", "input_file_id": "file-1", "status": "failed",
                            "errors": {"data": errors}});
        let server = WebServer::start(move |_| WebResponse::file(failed.to_string().as_bytes()));
        let batches = BatchFixture::at(&format!("http://{}/v1", server.address())).await;
        let (work, records) = (&batches.work, &batches.records);
        let number = records.open_shard(&work.run, &OwnerId::new("here")).await.unwrap();
        let step = ShardStep::Created { file: "file-1".to_owned(), batch: "batch-1".to_owned() };
        assert!(records.set_step(&work.shard(number), &step).await.unwrap());

        let Err(end) = ShardLifecycle::new(work, number).run(step).await else {
            panic!("the run goes on")
        };
        let WorkerError::Interrupted(Interruption::Paused(reason)) = end else { panic!("{end}") };
        assert!(reason.contains("no funds") && reason.contains("it is reached"), "{reason}");
        let uploaded = ShardStep::Uploaded { file: "file-1".to_owned() };
        assert_eq!(records.shards(&work.run).await.unwrap(), [(number, uploaded)]);
    }
}
