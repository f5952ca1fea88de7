//! Processing of one shard, from its local file to the settlement of its rows.

mod creation;
mod ending;
mod refusal_by_limit;
mod second_hold;

use super::{
    CountedShard, PAGE, RunBatches, give_up_shard::give_up_and_return_jobs, row_settlement::RowEnd,
    shard_file,
};
use crate::{
    interruption::{Interruption, WorkerError},
    vision::{BatchError, BatchStatus, CallEnd, EndedBatch, RowCounts},
};
use juror_ledger::batches::{RowState, ShardStep};
use juror_telemetry::ShardEvent;
use juror_types::event::Event;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::time::sleep;

/// The work on one shard.
pub struct ShardLifecycle {
    work: Arc<RunBatches>,
    number: u32,
    /// Counts the shard while its batch is not created.
    uncreated: Option<CountedShard>,
    pause: Duration,
    /// True if the user was warned of a wait.
    is_wait_reported: bool,
    /// The last tenth of its rows that was reported to the user.
    reported_tenth: Option<u64>,
    /// Number of creations of its batch that had no answer.
    unanswered: u32,
    /// Number of refusals in a row by the limit of enqueued tokens while no other batch of this run
    /// used it.
    lone_refusals: u32,
    /// Maximum tokens of its rows, once they are known.
    input_tokens: Option<u64>,
}

impl ShardLifecycle {
    /// Work on a shard that has not begun.
    pub fn new(work: &Arc<RunBatches>, number: u32) -> Self {
        let uncreated = Some(work.count_in(&work.uncreated));
        let pause = work.lane.poll_min;
        Self {
            work: Arc::clone(work),
            number,
            uncreated,
            pause,
            is_wait_reported: false,
            reported_tenth: None,
            unanswered: 0,
            lone_refusals: 0,
            input_tokens: None,
        }
    }

    /// Works on the shard from this step to its end, or until this process stops; then returns true
    /// if its batch continues at the provider.
    pub async fn run(mut self, mut step: ShardStep) -> Result<bool, WorkerError> {
        let mut under_way = None;
        // The previous owner may have advanced the shard after its last record.
        let mut unsure = step != ShardStep::Planned;
        loop {
            let next = match step.clone() {
                ShardStep::Filling | ShardStep::GivenUp => {
                    give_up_and_return_jobs(&self.work, self.number).await?;
                    return Ok(false);
                }
                ShardStep::Planned => self.upload().await?,
                ShardStep::Uploaded { file } => {
                    self.create(file, std::mem::take(&mut unsure)).await?
                }
                ShardStep::Creating { file, unanswered } => {
                    self.unanswered = unanswered;
                    self.create(file, true).await?
                }
                ShardStep::Created { file, batch } | ShardStep::Ended { file, batch } => {
                    self.uncreated = None;
                    unsure = false;
                    under_way.get_or_insert_with(|| self.work.count_in(&self.work.under_way));
                    let watched = self.poll_until_ended(&file, &batch).await?;
                    if matches!(watched, NextMove::Step(_)) {
                        // A shard that left the provider frees its enqueued tokens. What an earlier
                        // creation may cost is counted, so the next one is the first again.
                        under_way = None;
                        self.presume_second_hold(&step).await?;
                        self.unanswered = 0;
                    }
                    watched
                }
                ShardStep::Collected => return Ok(false),
            };
            match next {
                NextMove::Step(next) => {
                    self.record(&next).await?;
                    if matches!(next, ShardStep::Created { .. }) {
                        self.count(ShardEvent::Created);
                    }
                    step = next;
                }
                NextMove::Leave => return Ok(true),
                NextMove::Split => return self.split(&step).await.map(|()| false),
                NextMove::End(end) => {
                    return self.end(&step, &[], Some(end)).await.map(|()| false);
                }
                NextMove::Collect { file, batch, ended } => {
                    let is_resumed = matches!(step, ShardStep::Ended { .. });
                    return self.collect(file, batch, ended, is_resumed).await;
                }
            }
        }
    }

    /// Polls the batch until it has ended; cancels it once the lane no longer waits for batches.
    async fn poll_until_ended(&mut self, file: &str, batch: &str) -> Result<NextMove, WorkerError> {
        let work = Arc::clone(&self.work);
        let (lane, shutdown) = (&work.lane, &work.context.shutdown);
        let (mut is_cancelled, mut pause) = (false, lane.poll_min);
        loop {
            match lane.provider.status(batch).await {
                Ok(BatchStatus::Ended(ended)) => {
                    let (file, batch) = (file.to_owned(), batch.to_owned());
                    return Ok(NextMove::Collect { file, batch, ended });
                }
                Ok(BatchStatus::Invalid(message)) => {
                    return Ok(NextMove::End(RowEnd::Invalid(message)));
                }
                Ok(BatchStatus::TokenLimit(refusal)) => {
                    return Ok(match self.over_token_limit(refusal).await? {
                        true => NextMove::Split,
                        false => NextMove::Step(ShardStep::Uploaded { file: file.to_owned() }),
                    });
                }
                Ok(BatchStatus::Account { problem, message }) => {
                    let error = BatchError::Account { problem, message };
                    return self.refused_by_account(file, batch, error).await;
                }
                Ok(BatchStatus::UnderWay(counts)) => {
                    self.report(counts).await;
                }
                // Its outcome will stay unknown.
                Err(BatchError::Gone(reason)) if lane.is_over() || self.rows().await? == 0 => {
                    return Ok(NextMove::End(RowEnd::Ran(CallEnd::Lost(reason))));
                }
                Err(error) => self.wait_after(error).await?,
            }
            if lane.is_over() && !is_cancelled && !shutdown.drain.is_cancelled() {
                match lane.provider.cancel(batch).await {
                    // A refusal means that the batch has ended, or ends anyway.
                    Ok(()) | Err(BatchError::Refused { .. }) => {
                        (is_cancelled, pause) = (true, lane.poll_min);
                    }
                    Err(error) => self.wait_after(error).await?,
                }
                continue;
            }
            tokio::select! {
                biased;
                () = shutdown.drain.cancelled() => return Ok(NextMove::Leave),
                () = lane.wait_until_over(), if !is_cancelled => {}
                () = sleep(pause) => {}
            }
            pause = (pause * 2).min(lane.poll_max);
        }
    }

    async fn rows(&self) -> Result<usize, WorkerError> {
        let RunBatches { lane, run, .. } = &*self.work;
        let rows = lane.records.rows(run, self.number, RowState::Open, None, PAGE).await;
        Ok(rows?.len())
    }

    /// Step that replaces the next one if this process stops or the lane no longer waits for
    /// batches.
    fn interruption(&self) -> Option<NextMove> {
        if self.work.context.shutdown.drain.is_cancelled() {
            return Some(NextMove::Leave);
        }
        self.work.lane.is_over().then(|| NextMove::End(RowEnd::not_waited_for(&self.work.lane)))
    }

    /// Waits before a retry, with one warning, or pauses the run.
    async fn wait_after(&mut self, error: BatchError) -> Result<(), WorkerError> {
        let work = Arc::clone(&self.work);
        let (lane, context) = (&work.lane, &work.context);
        let pause = match &error {
            BatchError::Gone(_) | BatchError::Unsearchable(_) => {
                return Err(self.pausing_unknown(&error.to_string()));
            }
            BatchError::Account { .. } | BatchError::File(_) | BatchError::Refused { .. } => {
                let reason = format!(
                    "batches cannot continue: {error}; if the provider has no batches, resume with \
                     --lane realtime"
                );
                return Err(self.pausing(reason));
            }
            BatchError::RateLimited { retry_after: Some(wait), .. } => *wait,
            _ => self.pause,
        };
        self.pause = (self.pause * 2).min(lane.poll_max);
        if !std::mem::replace(&mut self.is_wait_reported, true) {
            let reason = format!("shard {} of run {} waits: {error}", self.number, self.work.run);
            context.events.emit(Event::Waiting { reason, pause }).await;
        }
        tokio::select! {
            biased;
            () = context.shutdown.drain.cancelled() => {}
            () = lane.wait_until_over(), if !lane.is_over() => {}
            () = sleep(pause) => {}
        }
        Ok(())
    }

    /// Pause of a run with a batch of unknown outcome.
    fn pausing_unknown(&self, problem: &str) -> WorkerError {
        self.pausing(format!(
            "{problem}; what its rows may cost stays held: resume with the key and --base-url of \
             before to look again, or with --lane realtime to count them as spent and send them anew"
        ))
    }

    /// The pause of a run, before its other shards fail the same way.
    fn pausing(&self, reason: String) -> WorkerError {
        self.work.context.shutdown.drain.cancel();
        Interruption::Paused(reason).into()
    }

    /// Reports the progress of the batch, at its start and at each tenth.
    async fn report(&mut self, counts: RowCounts) {
        let RowCounts { total: rows, completed, failed } = counts;
        let done = completed + failed;
        let Some(tenth) = (done * 10).checked_div(rows) else { return };
        if self.reported_tenth.is_none_or(|reported| reported < tenth) {
            self.reported_tenth = Some(tenth);
            let (run, shard) = (self.work.run.clone(), self.number);
            let progress = Event::BatchProgress { run, shard, done, rows };
            self.work.context.events.emit(progress).await;
        }
    }

    /// Records a step before it is taken, or after.
    ///
    /// # Errors
    /// [`Interruption::ClaimLost`] where another worker has taken the shard over.
    async fn record(&self, step: &ShardStep) -> Result<(), WorkerError> {
        let recorded = self.work.lane.records.set_step(&self.work.shard(self.number), step).await;
        match recorded? {
            true => Ok(()),
            false => Err(Interruption::ClaimLost.into()),
        }
    }

    fn count(&self, event: ShardEvent) {
        self.work.context.metrics.shard(event);
    }

    fn path(&self) -> PathBuf {
        shard_file::path(&self.work.lane.folder, &self.work.run, self.number)
    }
}

/// Next step.
enum NextMove {
    Step(ShardStep),
    Collect {
        file: String,
        batch: String,
        ended: EndedBatch,
    },
    /// The batch ran no row and will run none.
    End(RowEnd),
    Split,
    /// This process stops.
    Leave,
}
