//! The end of a shard: its answers are collected, or it is split, and its files are removed.

use super::{ShardEnd, ShardWork};
use crate::{
    batch::{
        BatchWork,
        collect::{Collection, end_rows},
        row_admission::return_jobs,
        row_settlement::RowEnd,
        shard_builder::unwritable,
        shard_file,
    },
    interruption::Interruption,
    vision::EndedBatch,
    worker_error::WorkerError,
};
use juror_ledger::batches::ShardStep;
use juror_telemetry::ShardEvent;
use std::{path::PathBuf, sync::Arc};

impl ShardWork {
    pub(super) async fn collect(
        mut self,
        mut step: ShardStep,
        ended: &EndedBatch,
    ) -> Result<ShardEnd, WorkerError> {
        if let ShardStep::Created { file, batch } = step {
            step = ShardStep::Ended { file, batch };
            self.record(&step).await?;
        }
        let Some(paths) = self.download(&ended.files).await? else {
            return Ok(ShardEnd { left: true, ..ShardEnd::default() });
        };
        let work = Arc::clone(&self.work);
        let mut collection = Collection::new(&work, self.number);
        collection.collect(ended, &paths, work.lane.is_over()).await?;
        for path in paths {
            // A leftover is overwritten by the next collection.
            let _ = tokio::fs::remove_file(path).await;
        }
        self.end(&step, &ended.files, None).await
    }

    /// Fetches the files of a batch; none if this process stops before they are here.
    async fn download(&mut self, files: &[String]) -> Result<Option<Vec<PathBuf>>, WorkerError> {
        let work = Arc::clone(&self.work);
        // A batch created by another process has no folder here yet.
        let made = tokio::fs::create_dir_all(&work.lane.folder).await;
        made.map_err(|error| unwritable(&work.lane.folder, &error))?;
        let mut paths = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let path = self.path().with_extension(format!("output-{index}"));
            loop {
                let downloading = work.lane.provider.download(file, &path);
                let drain = &work.context.shutdown.drain;
                match drain.run_until_cancelled(downloading).await {
                    None => return Ok(None),
                    Some(Ok(())) => break,
                    Some(Err(error)) => self.wait_after(error).await?,
                }
            }
            paths.push(path);
        }
        Ok(Some(paths))
    }

    /// Ends what rows are left, and forgets the shard with its files.
    pub(super) async fn end(
        &mut self,
        step: &ShardStep,
        outputs: &[String],
        rows: Option<RowEnd>,
    ) -> Result<ShardEnd, WorkerError> {
        if let Some(end) = rows {
            end_rows(&self.work, self.number, end).await?;
        }
        return_jobs(&self.work, self.number).await?;
        // Recorded first: if another worker took the shard over, it needs the files.
        self.record(step).await?;
        self.remove_files(step, outputs).await;
        self.record(&ShardStep::Collected).await?;
        self.count(ShardEvent::Collected);
        tracing::info!(run = %self.work.run, number = self.number, "a shard is collected");
        Ok(ShardEnd::default())
    }

    pub(super) async fn split(&mut self, step: &ShardStep) -> Result<ShardEnd, WorkerError> {
        let BatchWork { lane, run, .. } = &*self.work;
        let open = || async { lane.records.open_shard(run, &lane.owner).await };
        let numbers = [open().await?, open().await?];
        let [one, other] = numbers.map(|number| shard_file::path(&lane.folder, run, number));
        let jobs = shard_file::split(&self.path(), [&one, &other]).await.map_err(|error| {
            Interruption::Paused(format!("the file of a batch cannot be split: {error}"))
        })?;
        let shards: Vec<_> = numbers.into_iter().zip(jobs).collect();
        let planned = lane.records.split_shard(&self.work.shard(self.number), &shards).await;
        if !planned? {
            return Err(Interruption::ClaimLost.into());
        }
        self.remove_files(step, &[]).await;
        Ok(ShardEnd { split: numbers.to_vec(), ..ShardEnd::default() })
    }

    /// Removes the shard's files here and, if configured, at the provider. Leftovers are
    /// overwritten or expire.
    async fn remove_files(&self, step: &ShardStep, outputs: &[String]) {
        let _ = tokio::fs::remove_file(self.path()).await;
        let lane = &self.work.lane;
        let input = match step {
            ShardStep::Uploaded { file }
            | ShardStep::Creating { file }
            | ShardStep::Created { file, .. }
            | ShardStep::Ended { file, .. } => Some(file),
            ShardStep::Filling | ShardStep::GivenUp | ShardStep::Planned | ShardStep::Collected => {
                None
            }
        };
        for file in input.into_iter().chain(outputs).filter(|_| lane.delete_files) {
            if let Err(error) = lane.provider.delete_file(file).await {
                tracing::warn!(%error, file, "a file of a batch stays at the provider");
            }
        }
    }
}
