//! End of a shard: its replies are collected, and its files are removed.

use super::ShardLifecycle;
use crate::{
    batch::{
        collect_results::{ResultCollector, end_rows},
        file_content::FileContent,
        give_up_shard::return_jobs,
        row_settlement::RowEnd,
        shard_file::unwritable,
    },
    interruption::WorkerError,
    vision::{BatchError, BatchStatus, EndedBatch},
};
use juror_ledger::batches::ShardStep;
use juror_telemetry::ShardEvent;
use juror_types::usage::Usage;
use std::{path::PathBuf, sync::Arc};
use tokio::time::sleep;

/// Maximum number of downloads of files that lack rows.
const MAX_DOWNLOADS: u32 = 4;

impl ShardLifecycle {
    /// Collects the replies of an ended batch; `is_resumed` is true if an earlier process created
    /// it. Returns true if this process stops before the replies are here.
    pub(super) async fn collect(
        mut self,
        file: String,
        batch: String,
        mut ended: EndedBatch,
        is_resumed: bool,
    ) -> Result<bool, WorkerError> {
        let step = ShardStep::Ended { file, batch: batch.clone() };
        if !is_resumed {
            self.record(&step).await?;
        } else if self.rows().await? == 0 {
            // An earlier process ended with the last row, and may have deleted the files.
            return self.end(&step, &ended.files, None).await.map(|()| false);
        }
        let Some((paths, usage)) = self.download_whole(&batch, &mut ended).await? else {
            return Ok(true);
        };
        let work = Arc::clone(&self.work);
        let mut collection = ResultCollector::new(&work, self.number, is_resumed, usage);
        collection.collect(&ended, &paths).await?;
        for path in paths {
            // A leftover is overwritten by the next collection.
            let _ = tokio::fs::remove_file(path).await;
        }
        // Files with missing replies stay at the provider for inspection.
        let files = if collection.has_every_answer() { ended.files.as_slice() } else { &[] };
        self.end(&step, files, None).await.map(|()| false)
    }

    /// Fetches the files of a batch until they have as many rows as it counts, or several times, as
    /// files may come late or be cut; with the usage of their rows, and none if this process stops
    /// before they are here. What cannot be read pauses the run rather than count as lost.
    async fn download_whole(
        &mut self,
        batch: &str,
        ended: &mut EndedBatch,
    ) -> Result<Option<(Vec<PathBuf>, Usage)>, WorkerError> {
        let work = Arc::clone(&self.work);
        let lane = &work.lane;
        let mut attempt = 1;
        loop {
            let Some(paths) = self.download(&ended.files).await? else { return Ok(None) };
            let content = FileContent::read(&*lane.provider, &paths).await?;
            let counted = ended.counts.completed + ended.counts.failed;
            if content.rows >= counted {
                return Ok(Some((paths, content.usage)));
            }
            if attempt == MAX_DOWNLOADS {
                if !content.is_broken() || lane.is_over() {
                    return Ok(Some((paths, content.usage)));
                }
                return Err(self.pausing_unknown(&format!(
                    "the files of batch {batch} have {} of {counted} rows, and {} lines that are no \
                     JSON",
                    content.rows, content.broken_lines
                )));
            }
            let pause = lane.poll_min * 2_u32.saturating_pow(attempt);
            let drain = &work.context.shutdown.drain;
            if drain.run_until_cancelled(sleep(pause)).await.is_none() {
                return Ok(None);
            }
            if let Ok(BatchStatus::Ended(now)) = lane.provider.status(batch).await {
                *ended = now;
            }
            attempt += 1;
        }
    }

    /// Fetches the files of a batch; `None` if this process stops before they are here.
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
                    Some(Ok(())) => {
                        paths.push(path);
                        break;
                    }
                    // The rows are presumed spent.
                    Some(Err(BatchError::Gone(_))) if work.lane.is_over() => break,
                    Some(Err(error)) => self.wait_after(error).await?,
                }
            }
        }
        Ok(Some(paths))
    }

    /// Settles the remaining rows, and removes the shard with its files.
    pub(super) async fn end(
        &mut self,
        step: &ShardStep,
        outputs: &[String],
        rows: Option<RowEnd>,
    ) -> Result<(), WorkerError> {
        if let Some(end) = rows {
            end_rows(&self.work, self.number, end).await?;
        }
        return_jobs(&self.work, self.number).await?;
        self.presume_second_hold(step).await?;
        // Recorded first: if another worker took the shard over, it needs the files.
        self.record(step).await?;
        self.remove_files(step, outputs).await;
        self.record(&ShardStep::Collected).await?;
        self.count(ShardEvent::Collected);
        tracing::info!(run = %self.work.run, number = self.number, "a shard is collected");
        Ok(())
    }

    /// Removes the shard's files here and, if configured, at the provider. Leftovers are
    /// overwritten or expire.
    pub(super) async fn remove_files(&self, step: &ShardStep, outputs: &[String]) {
        let _ = tokio::fs::remove_file(self.path()).await;
        let lane = &self.work.lane;
        let input = match step {
            ShardStep::Uploaded { file }
            | ShardStep::Creating { file, .. }
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
