//! Batches of a local run: they are started, and finished when no more jobs can arrive.

use super::{
    BatchKeeper,
    shards::{IDLE_CHECK_INTERVAL, Shards, ticks},
};
use crate::{
    batch::{RunBatches, give_up_own_shard},
    interruption::WorkerError,
    worker_role::RunStateProvider,
};
use juror_ledger::batches::ShardStep;
use juror_queue::local::LocalReturns;
use juror_types::{
    event::{Event, Events},
    id::RunId,
    job::Job,
};
use std::{sync::Arc, time::Duration};

impl BatchKeeper {
    /// Gives up shards that were never sent. Their jobs are queued again when the run is resumed.
    /// Returns the number of shards that may have a batch at the provider.
    pub(super) async fn give_up_unsent(
        &self,
        run: &RunId,
        run_states: &dyn RunStateProvider,
    ) -> Result<u32, WorkerError> {
        let Some(work) = self.local_work(run, run_states).await? else { return Ok(0) };
        let shards = self.records.take_over(run, &self.owner).await?;
        let mut sent = 0;
        for (number, step) in shards {
            match step {
                ShardStep::Filling | ShardStep::GivenUp => give_up_own_shard(&work, number).await?,
                ShardStep::Creating { .. }
                | ShardStep::Created { .. }
                | ShardStep::Ended { .. } => {
                    sent += 1;
                }
                ShardStep::Planned | ShardStep::Uploaded { .. } | ShardStep::Collected => {}
            }
        }
        Ok(sent)
    }

    /// Ends the work on the run: unsent shards are given up, and batches continue at the provider.
    pub(super) async fn leave(
        &self,
        run: &RunId,
        run_states: &dyn RunStateProvider,
        events: &Events,
    ) -> Result<(), WorkerError> {
        for work in self.all_works() {
            work.stop_filling().await;
        }
        let sent = self.give_up_unsent(run, run_states).await?;
        if let Some(work) = self.local_work(run, run_states).await? {
            // remove_dir refuses a folder with files: remaining shard files are kept.
            let _ = tokio::fs::remove_dir(&work.lane.folder).await;
        }
        if sent > 0 {
            let batches = match sent {
                1 => "1 batch continues".to_owned(),
                count => format!("{count} batches continue"),
            };
            let warning = format!(
                "{batches} at the provider; collect the results with: juror run --resume {run}, \
                 or cancel with: juror cancel {run}"
            );
            events.emit(Event::Warning(warning)).await;
        }
        Ok(())
    }

    async fn local_work(
        &self,
        run: &RunId,
        run_states: &dyn RunStateProvider,
    ) -> Result<Option<Arc<RunBatches>>, WorkerError> {
        let context = run_states.shard_context(run).await?;
        Ok(context.and_then(|context| {
            let lane = context.batches.clone()?;
            Some(self.work_of(run, &context, &lane))
        }))
    }
}

impl Shards<'_> {
    /// Works until no job is in progress and none can come, or until `shutdown.drain`.
    pub(super) async fn run_to_end(&mut self, jobs: &LocalReturns<Job>) -> Result<(), WorkerError> {
        self.start_owned_shards().await?;
        let mut idle_checks = ticks(IDLE_CHECK_INTERVAL);
        loop {
            self.start_planned().await;
            // Checked before the shards: otherwise a job could become a row between the two checks
            // and be missed.
            let is_drained = jobs.is_drained();
            if is_drained {
                self.seal(Duration::ZERO).await?;
                self.start_planned().await;
                if self.tasks.is_empty() {
                    return Ok(());
                }
            }
            tokio::select! {
                biased;
                () = self.shutdown.drain.cancelled() => return Ok(()),
                Some(ended) = self.tasks.join_next() => drop(self.ended(ended?).await?),
                _ = idle_checks.tick() => self.release_stopped_fillings().await,
                () = jobs.drained(), if !is_drained => {}
                () = self.keeper.changed.notified() => {}
            }
        }
    }
}
