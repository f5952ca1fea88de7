//! Collection of a batch that has ended: the result of each of its rows.

use super::{
    MAX_CONCURRENT_ROWS, RunBatches,
    row::{all_ended, change_rows},
    row_settlement::{RowEnd, finish},
    shard_file::unreadable,
};
use crate::{
    batch_lane::BatchLane,
    interruption::{Interruption, WorkerError},
    vision::{BatchEnding, CallEnd, EndedBatch, RowOutput},
};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use juror_ledger::batches::{BatchRow, RowChange, RowState};
use juror_queue::Priority;
use juror_types::{
    event::Event,
    id::JobId,
    outcome::{BatchUsage, ErrorKind, JobError},
    usage::Usage,
};
use std::{
    collections::HashSet,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};
use tokio::{
    fs::File,
    io::{AsyncBufReadExt as _, BufReader},
    time::sleep,
};

/// Collector of the results of one shard.
pub struct ResultCollector<'work> {
    work: &'work RunBatches,
    number: u32,
    /// True if an earlier process began it, and so rows may have left their shard.
    is_resumed: bool,
    /// Rows that the files name.
    seen: HashSet<JobId>,
    /// Number of named rows that ran.
    executed_rows: u64,
    /// Number of named rows that are in no shard.
    unknown: AtomicU64,
    /// Usage of the rows in its files.
    usage: Usage,
    /// Usage of the batch, if the provider reports another one.
    batch_usage: Option<BatchUsage>,
    duplicate_rows: u64,
    unreadable: u64,
    /// Number of rows in no file that are presumed spent.
    presumed: usize,
}

impl<'work> ResultCollector<'work> {
    /// A collector that has not read anything yet.
    pub fn new(work: &'work RunBatches, number: u32, is_resumed: bool, usage: Usage) -> Self {
        Self {
            work,
            number,
            is_resumed,
            seen: HashSet::new(),
            executed_rows: 0,
            unknown: AtomicU64::new(0),
            usage,
            batch_usage: None,
            duplicate_rows: 0,
            unreadable: 0,
            presumed: 0,
        }
    }

    /// True if every row that ran is in a file, according to its counts and files.
    pub fn has_every_answer(&self) -> bool {
        self.presumed == 0 && self.unreadable == 0
    }

    /// Ends each row of a batch with its output files at these paths.
    pub async fn collect(
        &mut self,
        ended: &EndedBatch,
        paths: &[PathBuf],
    ) -> Result<(), WorkerError> {
        let not_run = not_run(ended.ending, &self.work.lane);
        let differing = |reported| BatchUsage::differing(self.number, reported, self.usage);
        self.batch_usage = ended.usage.and_then(differing);
        for path in paths {
            self.read(path, &not_run).await?;
        }
        self.end_missing(ended, not_run).await?;
        self.warn().await;
        Ok(())
    }

    async fn read(&mut self, path: &PathBuf, not_run: &RowEnd) -> Result<(), WorkerError> {
        let unreadable = |error| unreadable(path, &error);
        let file = File::open(path).await.map_err(unreadable)?;
        let mut lines = BufReader::new(file).split(b'\n');
        let work = self.work;
        let mut ends = FuturesUnordered::new();
        let read = loop {
            let line = match lines.next_segment().await {
                Ok(Some(line)) => line,
                Ok(None) => break Ok(()),
                Err(error) => break Err(unreadable(error).into()),
            };
            let Some(RowOutput { id, end }) = work.lane.provider.read_row(&line) else {
                self.unreadable += u64::from(!line.is_empty());
                continue;
            };
            let job = JobId::new(id);
            if !self.seen.insert(job.clone()) {
                self.duplicate_rows += 1;
                continue;
            }
            self.executed_rows += u64::from(end.is_some());
            let end = end.map_or_else(|| not_run.clone(), RowEnd::Ran);
            ends.push(end_of_line(work, job, end, self.batch_usage, &self.unknown));
            if ends.len() >= MAX_CONCURRENT_ROWS
                && let Some(Err(error)) = ends.next().await
            {
                break Err(error);
            }
        };
        let ended = all_ended(ends).await;
        read.and(ended)
    }

    /// Ends rows that are in neither file. Where the batch ended early and every row that ran has
    /// come, by its counts and its usage, the others never ran; otherwise that is unknown, and they
    /// are presumed spent.
    async fn end_missing(
        &mut self,
        ended: &EndedBatch,
        not_run: RowEnd,
    ) -> Result<(), WorkerError> {
        let counted = ended.counts.completed + ended.counts.failed;
        let all_came = ended.counts.total > 0
            && counted <= self.executed_rows.saturating_sub(self.unknown_rows())
            && ended.usage.is_none_or(|all| all.input_tokens <= self.usage.input_tokens)
            && self.unreadable == 0;
        let end = match ended.ending {
            BatchEnding::Expired | BatchEnding::Cancelled if all_came => not_run,
            _ => RowEnd::Ran(CallEnd::Lost(
                "the batch's files have neither an answer nor an error for this row".to_owned(),
            )),
        };
        let is_presumed = matches!(end, RowEnd::Ran(_));
        let ended = end_rows(self.work, self.number, end).await?;
        self.presumed += if is_presumed { ended } else { 0 };
        Ok(())
    }

    /// Number of reported rows that were never in this run, as far as known.
    fn unknown_rows(&self) -> u64 {
        if self.is_resumed { 0 } else { self.unknown.load(Ordering::Relaxed) }
    }

    /// Warns of a provider whose files do not match the reported state of the batch.
    async fn warn(&self) {
        let Self { number, duplicate_rows, unreadable, .. } = self;
        let mut odd = Vec::new();
        if self.unknown_rows() > 0 {
            odd.push(format!("{} rows are of no job of this batch", self.unknown_rows()));
        }
        if *duplicate_rows > 0 {
            odd.push(format!("{duplicate_rows} rows came twice and count once"));
        }
        if *unreadable > 0 {
            odd.push(format!("{unreadable} lines have no valid custom_id"));
        }
        if let Some(BatchUsage { reported, rows, .. }) = self.batch_usage {
            odd.push(format!(
                "it reports {} input and {} output tokens, its rows {} and {}; the rows' tokens \
                 are booked",
                reported.input_tokens,
                reported.output_tokens,
                rows.input_tokens,
                rows.output_tokens
            ));
        }
        if !odd.is_empty() {
            let warning = format!("batch of shard {number}: {}", odd.join("; "));
            self.work.context.events.emit(Event::Warning(warning)).await;
        }
    }
}

/// Ends every row of a shard that is still open; returns their number.
pub async fn end_rows(work: &RunBatches, number: u32, end: RowEnd) -> Result<usize, WorkerError> {
    let ended = |row| end_row(work, row, end.clone(), None);
    change_rows(&*work.lane.records, (&work.run, number), RowState::Open, ended).await
}

/// Ends the row of one line, unless it was ended before; counts it if there is no such row.
async fn end_of_line(
    work: &RunBatches,
    job: JobId,
    end: RowEnd,
    batch_usage: Option<BatchUsage>,
    unknown_rows: &AtomicU64,
) -> Result<(), WorkerError> {
    match work.lane.records.row(&work.run, &job).await? {
        Some(row) if row.open => end_row(work, row, end, batch_usage).await,
        Some(_) => Ok(()),
        None => {
            unknown_rows.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(run = %work.run, %job, "a line names no row of the run");
            Ok(())
        }
    }
}

/// Ends a row and publishes its result, unless another worker has ended it.
async fn end_row(
    work: &RunBatches,
    mut row: BatchRow,
    end: RowEnd,
    batch_usage: Option<BatchUsage>,
) -> Result<(), WorkerError> {
    let ended = loop {
        match finish(row.clone(), end.clone(), batch_usage, work).await {
            Err(Interruption::ClaimLost | Interruption::ClaimedElsewhere) => {}
            ended => break ended?,
        }
        // Another worker holds the claim; wait until it finishes or loses it.
        let pause = sleep(work.lane.poll_min);
        if work.context.shutdown.drain.run_until_cancelled(pause).await.is_none() {
            return Err(Interruption::Stopping.into());
        }
        let now = work.lane.records.row(&work.run, &row.job).await?;
        match now.filter(|now| now.open && now.lease == row.lease) {
            Some(now) => row = now,
            None => return Ok(()),
        }
    };
    if let Some(result) = ended {
        work.results.publish(*result, Priority::Normal).await?;
        work.lane.records.change_row(&work.run, &row, RowChange::Remove).await?;
        if let Some(reason) = work.context.breaker.take_pause_reason() {
            return Err(Interruption::Paused(reason).into());
        }
    }
    Ok(())
}

fn not_run(ending: BatchEnding, lane: &BatchLane) -> RowEnd {
    let (kind, message) = match ending {
        _ if lane.is_over() => return RowEnd::not_waited_for(lane),
        BatchEnding::Cancelled => {
            (ErrorKind::Cancelled, "the batch was cancelled before this row was run")
        }
        BatchEnding::Completed | BatchEnding::Expired => {
            (ErrorKind::Deadline, "the batch's 24 hours ended before this row was run")
        }
    };
    RowEnd::NotRun(JobError { kind, message: message.to_owned() })
}
