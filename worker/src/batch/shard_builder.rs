//! The shard that is being filled: its rows in the ledger, and its file on this machine.

use super::{
    RunBatches,
    row_admission::PendingRow,
    shard_file::{self, OpenShard, unwritable},
};
use crate::interruption::Interruption;
use juror_ledger::batches::{BatchRow, RowAdded, ShardStep};
use juror_types::id::JobId;
use std::{collections::HashMap, path::Path, time::Duration};
use tokio::time::Instant;

/// The shard that is being filled, if there is one.
#[derive(Default)]
pub(super) struct ShardBuilder {
    /// Number; `None` before its first row.
    number: Option<u32>,
    file: OpenShard,
    /// Jobs whose rows are recorded in the shard or about to be, but not yet in its file; with the
    /// shard's number.
    pending: HashMap<JobId, u32>,
    /// Time of the last row; `None` before the first.
    written: Option<Instant>,
    /// Shards that are planned, and not worked on yet.
    planned: Vec<u32>,
}

impl RunBatches {
    /// Adds a row to the shard that is being filled. The row is pending until it is written or put
    /// off. Returns false if its job has an open row already.
    pub(super) async fn add_row(&self, row: &BatchRow) -> Result<bool, Interruption> {
        loop {
            let number = self.begin_row(&row.job).await?;
            match self.lane.records.add_row(&self.shard(number), row).await? {
                RowAdded::Added => return Ok(true),
                RowAdded::UnderWay => {
                    self.clear_pending(&row.job).await;
                    return Ok(false);
                }
                // The shard was planned or lost meanwhile; the row goes into the next one.
                RowAdded::Refused => self.drop_shard(number).await,
            }
        }
    }

    async fn begin_row(&self, job: &JobId) -> Result<u32, Interruption> {
        let mut state = self.builder.lock().await;
        let number = match state.number {
            Some(number) => number,
            None => self.lane.records.open_shard(&self.run, &self.lane.owner).await?,
        };
        state.number = Some(number);
        state.pending.insert(job.clone(), number);
        Ok(number)
    }

    /// Drops the shard being filled if it has this number: another worker has taken it over.
    async fn drop_shard(&self, number: u32) {
        let mut state = self.builder.lock().await;
        if state.number == Some(number) {
            state.drop_lost().await;
        }
    }

    /// Marks a job as no longer pending: its row is not written.
    pub(super) async fn clear_pending(&self, job: &JobId) {
        self.builder.lock().await.pending.remove(job);
    }

    /// Writes a row with reserved budget. If the row exceeds the shard's limits, that shard is
    /// planned first and the row starts another. The row of a shard that was lost meanwhile is not
    /// written: its job returns to its queue when that shard is given up.
    pub(crate) async fn write_row(&self, row: PendingRow) -> Result<(), Interruption> {
        let mut state = self.builder.lock().await;
        let lane = &self.lane;
        if !state.file.takes(row.line.len(), lane.max_rows, lane.max_bytes) {
            self.plan(&mut state).await?;
        }
        let number = state.pending.remove(&row.row.job);
        let Some(number) = number.filter(|number| state.number == Some(*number)) else {
            // The row may have been admitted after its shard was given up.
            self.context.admission.release(&row.row.lease).await?;
            return Ok(());
        };
        let path = shard_file::unfinished(&lane.folder, &self.run, number);
        let pushed = state.file.push(&path, row.row.job, &row.line).await;
        if let Err(error) = pushed {
            // A file that may be incomplete is not submitted.
            state.drop_lost().await;
            return Err(unwritable(&lane.folder, &error));
        }
        state.written = Some(Instant::now());
        if state.file.jobs.len() >= lane.max_rows {
            self.plan(&mut state).await?;
        }
        Ok(())
    }

    /// Plans the shard that is being filled, if its file has rows.
    pub(crate) async fn seal(&self) -> Result<(), Interruption> {
        self.plan(&mut *self.builder.lock().await).await
    }

    /// Plans the shard that is being filled as [`RunBatches::seal`] does, if no row was written for
    /// this time. A shard without rows ends.
    pub(crate) async fn seal_idle(&self, idle: Duration) -> Result<(), Interruption> {
        let mut state = self.builder.lock().await;
        if state.written.is_some_and(|written| written.elapsed() >= idle) {
            self.plan(&mut state).await?;
        }
        if let Some(number) = state.number.filter(|_| state.is_empty()) {
            let step = ShardStep::Collected;
            let records = &self.lane.records;
            records.set_step(&self.shard(number), &step).await?;
            state.number = None;
        }
        Ok(())
    }

    /// Plans the shard; where that fails, its rows are given up.
    async fn plan(&self, state: &mut ShardBuilder) -> Result<(), Interruption> {
        let planned = self.try_plan(state).await;
        if planned.is_err() {
            state.drop_lost().await;
        }
        planned
    }

    async fn try_plan(&self, state: &mut ShardBuilder) -> Result<(), Interruption> {
        let Some(number) = state.number.filter(|_| !state.file.jobs.is_empty()) else {
            return Ok(());
        };
        let (lane, records) = (&self.lane, &self.lane.records);
        let sealed = state.file.seal(&shard_file::path(&lane.folder, &self.run, number)).await;
        let rows = sealed.map_err(|error| unwritable(&lane.folder, &error))?.len();
        let left_out: Vec<JobId> = state.pending.keys().cloned().collect();
        let next = match left_out.is_empty() {
            true => None,
            false => Some(records.open_shard(&self.run, &lane.owner).await?),
        };
        let planned = records.plan_shard(&self.shard(number), &left_out, next).await;
        if !planned? {
            state.drop_lost().await;
            return Ok(());
        }
        tracing::info!(run = %self.run, number, rows, "a shard is planned");
        state.number = next;
        if let Some(next) = next {
            state.pending.values_mut().for_each(|number| *number = next);
        }
        state.written = None;
        state.planned.push(number);
        self.changed.notify_one();
        Ok(())
    }

    /// Splits a shard whose rows are in this file into two planned ones; returns false if another
    /// worker has taken it over. The builder is locked until they are planned: a shard that is filled
    /// and that nothing here works on is given up.
    pub(super) async fn split_shard(&self, number: u32, file: &Path) -> Result<bool, Interruption> {
        let mut state = self.builder.lock().await;
        let (lane, records) = (&self.lane, &self.lane.records);
        let open = || async { records.open_shard(&self.run, &lane.owner).await };
        let numbers = [open().await?, open().await?];
        let [one, other] = numbers.map(|part| shard_file::path(&lane.folder, &self.run, part));
        let jobs = shard_file::split(file, [&one, &other]).await.map_err(|error| {
            Interruption::Paused(format!("the file of a batch cannot be split: {error}"))
        })?;
        let parts: Vec<_> = numbers.into_iter().zip(jobs).collect();
        let is_planned = records.split_shard(&self.shard(number), &parts).await?;
        if is_planned {
            state.planned.extend(numbers);
            self.changed.notify_one();
        }
        Ok(is_planned)
    }

    /// Takes the shards that were planned since the last call.
    pub(crate) async fn take_planned(&self) -> Vec<u32> {
        std::mem::take(&mut self.builder.lock().await.planned)
    }

    /// Ends the current shard without a batch; returns the shard, which is to be given up.
    pub(crate) async fn stop_filling(&self) -> Option<u32> {
        let mut state = self.builder.lock().await;
        let number = state.number;
        state.drop_lost().await;
        number
    }

    /// True if a shard of this number is being filled, or waits for its work.
    pub(crate) async fn is_working_on(&self, number: u32) -> bool {
        let state = self.builder.lock().await;
        state.number == Some(number) || state.planned.contains(&number)
    }

    /// True if no shard is being filled, and none waits for its work.
    pub(crate) async fn is_idle(&self) -> bool {
        let state = self.builder.lock().await;
        state.number.is_none() && state.planned.is_empty()
    }
}

impl ShardBuilder {
    fn is_empty(&self) -> bool {
        self.file.jobs.is_empty() && self.pending.is_empty()
    }

    /// Drops the shard and removes its file.
    async fn drop_lost(&mut self) {
        self.file.discard().await;
        let planned = std::mem::take(&mut self.planned);
        *self = Self { planned, ..Self::default() };
    }
}
