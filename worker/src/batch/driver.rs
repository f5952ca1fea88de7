//! The batch lane of a run: continues shards of earlier processes, gathers jobs into new ones, and
//! sends jobs that no batch finished as ordinary calls, where the lane allows it.

use super::{
    BatchWork,
    filler::Written,
    gather::{Gathered, PendingRow, admit, gather, give_up, remove_row_of},
    row::RowRecord,
    shard::{ShardEnd, ShardWork},
};
use crate::{
    batch_lane::BatchLane, evaluate::evaluate, interruption::Interruption,
    worker_error::WorkerError,
};
use futures_util::future::BoxFuture;
use juror_ledger::batches::ShardStep;
use juror_queue::{Delivery, Priority, Subscription};
use juror_telemetry::ShardEvent;
use juror_types::{event::Event, job::Job, outcome::JobResult};
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::{
    task::{JoinError, JoinSet},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::info;

/// Jobs that are made into rows side by side: each holds its images until its row is written.
const GATHERED_AT_ONCE: usize = 16;
/// Interval at which a run that waits for money checks the ledger: another process may have
/// released some.
const MONEY_INTERVAL: Duration = Duration::from_secs(5);

/// Works until every job has its result; after `drain`, until every batch can continue at the
/// provider without this process.
pub fn run<'a>(
    work: Arc<BatchWork>,
    drain: &'a CancellationToken,
) -> BoxFuture<'a, Result<(), WorkerError>> {
    Box::pin(async move {
        let mut driver = Driver::new(work, drain.clone());
        let driven = driver.drive().await.or_else(not_stopping);
        if driven.is_err() {
            drain.cancel();
        }
        let left = driver.wind_up().await;
        driven.and(left)
    })
}

type Task<T> = JoinSet<Result<T, WorkerError>>;

/// A gathered job, and the delivery that it came by.
type GatheredDelivery = (Option<Delivery<Job>>, Gathered);

struct Driver {
    work: Arc<BatchWork>,
    drain: CancellationToken,
    subscription: Option<Box<dyn Subscription<Job>>>,
    /// True if no more deliveries will come.
    exhausted: bool,
    gathering: Task<GatheredDelivery>,
    /// Rows that wait for money.
    waiting: VecDeque<(Option<Delivery<Job>>, Box<PendingRow>)>,
    /// Jobs for another batch.
    again: VecDeque<Job>,
    shards: Task<ShardEnd>,
    /// Jobs for ordinary calls.
    realtime: VecDeque<Job>,
    calls: Task<()>,
    /// Number of shards whose batches continue at the provider.
    left: u32,
}

impl Driver {
    fn new(work: Arc<BatchWork>, drain: CancellationToken) -> Self {
        Self {
            work,
            drain,
            subscription: None,
            exhausted: false,
            gathering: JoinSet::new(),
            waiting: VecDeque::new(),
            again: VecDeque::new(),
            shards: JoinSet::new(),
            realtime: VecDeque::new(),
            calls: JoinSet::new(),
            left: 0,
        }
    }

    async fn drive(&mut self) -> Result<(), WorkerError> {
        self.take_up().await?;
        let work = Arc::clone(&self.work);
        let mut changes = work.context.admission.changes();
        loop {
            self.start_calls();
            self.gather_again();
            self.start_shards().await;
            if self.is_drained_of_jobs() {
                if work.has_rows().await {
                    work.seal().await?;
                    continue;
                } else if self.shards.is_empty() && self.calls.is_empty() {
                    return Ok(());
                }
            }
            let takes = self.takes_jobs();
            let holds_rows = work.is_filling().await;
            tokio::select! {
                biased;
                () = self.drain.cancelled() => return Ok(()),
                Some(ended) = self.shards.join_next() => self.shard_ended(joined(ended)?),
                Some(called) = self.calls.join_next() => joined(called)?,
                Some(gathered) = self.gathering.join_next() => self.take(joined(gathered)?).await?,
                () = work.lane.over(), if !work.lane.is_over() && holds_rows => {
                    self.give_up_late().await?;
                }
                () = money(&mut changes), if !self.waiting.is_empty() => self.retry_money().await?,
                () = work.changed.notified() => {}
                delivery = next(&mut self.subscription), if takes => match delivery? {
                    Some(delivery) => self.gather(Some(delivery)),
                    None => self.exhausted = true,
                },
            }
        }
    }

    /// Continues shards of an earlier process from their last step, and gathers rows that were in
    /// no shard anew.
    async fn take_up(&mut self) -> Result<(), WorkerError> {
        let work = Arc::clone(&self.work);
        let shards = work.lane.records.take_over(&work.run, &work.lane.owner).await;
        for (number, step) in shards.map_err(Interruption::from)? {
            info!(number, ?step, "a shard is taken up");
            work.context.metrics.shard(ShardEvent::TakenUp);
            match step {
                // Before their jobs come.
                ShardStep::Filling | ShardStep::GivenUp => give_up(&work, number).await?,
                step => drop(self.shards.spawn(ShardWork::new(&work, number).run(step))),
            }
        }
        self.subscription = Some(work.jobs.subscribe(GATHERED_AT_ONCE).await?);
        Ok(())
    }

    /// True if every job that is known is in a shard, has its result, or is being called.
    fn is_drained_of_jobs(&self) -> bool {
        self.exhausted
            && self.gathering.is_empty()
            && self.waiting.is_empty()
            && self.again.is_empty()
            && self.realtime.is_empty()
    }

    fn takes_jobs(&self) -> bool {
        !self.exhausted && self.accepts_more()
    }

    fn accepts_more(&self) -> bool {
        self.gathering.len() < GATHERED_AT_ONCE
            && self.waiting.is_empty()
            && !self.work.is_crowded()
    }

    fn gather(&mut self, delivery: Option<Delivery<Job>>) {
        let Some(job) = delivery.as_ref().map(|delivery| Job::clone(&delivery.message)) else {
            return;
        };
        let work = Arc::clone(&self.work);
        self.gathering.spawn(async move { Ok((delivery, gather(job, &work).await?)) });
    }

    fn gather_again(&mut self) {
        while self.accepts_more()
            && let Some(job) = self.again.pop_front()
        {
            let work = Arc::clone(&self.work);
            self.gathering.spawn(async move { Ok((None, gather(job, &work).await?)) });
        }
    }

    /// Takes a gathered job; its delivery is acknowledged once what follows from it is safe.
    async fn take(&mut self, (delivery, gathered): GatheredDelivery) -> Result<(), WorkerError> {
        match gathered {
            Gathered::Finished(result) => publish(&self.work, *result).await?,
            Gathered::UnderWay => {}
            Gathered::Realtime(job) => self.realtime.push_back(*job),
            Gathered::Row(row) => {
                if let Written::Lost(row) = self.work.write_row(*row).await? {
                    self.again.push_back(RowRecord::read(&row).map_err(Interruption::from)?.job);
                }
            }
            Gathered::Waiting(row) => {
                // What is under way frees money when it comes back.
                self.work.seal().await?;
                self.waiting.push_back((delivery, row));
                return Ok(());
            }
        }
        match delivery {
            Some(delivery) => Ok(delivery.acknowledge().await?),
            None => Ok(()),
        }
    }

    /// Begins the work on shards that were planned.
    async fn start_shards(&mut self) {
        for number in self.work.take_planned().await {
            self.shards.spawn(ShardWork::new(&self.work, number).run(ShardStep::Planned));
        }
    }

    fn shard_ended(&mut self, ended: ShardEnd) {
        self.again.extend(ended.onward.again);
        self.realtime.extend(ended.onward.realtime);
        self.left += u32::from(ended.left);
        for number in ended.split {
            self.shards.spawn(ShardWork::new(&self.work, number).run(ShardStep::Planned));
        }
    }

    async fn retry_money(&mut self) -> Result<(), WorkerError> {
        for _ in 0..self.waiting.len() {
            let Some((delivery, row)) = self.waiting.pop_front() else { break };
            let admitted = admit(row, &self.work).await?;
            let waits = matches!(admitted, Gathered::Waiting(_));
            self.take((delivery, admitted)).await?;
            if waits {
                break;
            }
        }
        Ok(())
    }

    /// Gives up rows in no batch yet, since batches are waited for no longer: their jobs are
    /// gathered once more, which skips them or asks them in ordinary calls.
    async fn give_up_late(&mut self) -> Result<(), WorkerError> {
        let work = Arc::clone(&self.work);
        let Some((number, mut jobs)) = work.stop_filling().await else { return Ok(()) };
        for (delivery, row) in self.waiting.drain(..) {
            jobs.push(row.row.job);
            if let Some(delivery) = delivery {
                delivery.acknowledge().await?;
            }
        }
        // Those that are being gathered find their rows lost.
        for job in jobs {
            let row = work.lane.records.row(&work.run, &job).await.map_err(Interruption::from)?;
            if let Some(row) = row.filter(|row| row.open) {
                self.again.push_back(RowRecord::read(&row).map_err(Interruption::from)?.job);
            }
        }
        give_up(&work, number).await
    }

    fn start_calls(&mut self) {
        while self.calls.len() < self.work.context.concurrency.limit()
            && let Some(job) = self.realtime.pop_front()
        {
            let work = Arc::clone(&self.work);
            self.calls.spawn(async move {
                let result = evaluate(&job, &work.context).await?;
                remove_row_of(&job, &*work.lane.records).await?;
                publish(&work, result).await
            });
        }
    }

    /// Waits for the tasks of this process, and releases the money of rows that were never sent.
    async fn wind_up(&mut self) -> Result<(), WorkerError> {
        let mut failed = Ok(());
        while let Some(ended) = self.shards.join_next().await {
            match joined(ended) {
                Ok(ended) => self.shard_ended(ended),
                Err(error) => failed = failed.and(not_stopping(error)),
            }
        }
        while let Some(gathered) = self.gathering.join_next().await {
            let taken = match joined(gathered) {
                Ok((delivery, Gathered::Finished(result))) => {
                    self.take((delivery, Gathered::Finished(result))).await
                }
                // Its row is given up below, and its job is planned anew by who resumes the run.
                Ok(_) => Ok(()),
                Err(error) => Err(error),
            };
            failed = failed.and(taken.or_else(not_stopping));
        }
        while let Some(called) = self.calls.join_next().await {
            failed = failed.and(joined(called).or_else(not_stopping));
        }
        if let Some(subscription) = self.subscription.take() {
            subscription.close().await;
        }
        self.work.stop_filling().await;
        let BatchLane { records, owner, .. } = &*self.work.lane;
        let shards = records.take_over(&self.work.run, owner).await.map_err(Interruption::from)?;
        for (number, step) in shards {
            if matches!(step, ShardStep::Filling | ShardStep::GivenUp) {
                give_up(&self.work, number).await?;
            }
        }
        // It goes only where no shard's files are left.
        let _ = tokio::fs::remove_dir(&self.work.lane.folder).await;
        if self.left > 0 {
            let batches = match self.left {
                1 => "1 batch goes".to_owned(),
                count => format!("{count} batches go"),
            };
            let warning = format!(
                "{batches} on at the provider; collect what comes back by: juror run --resume {0}, \
                 or cancel by: juror cancel {0}",
                self.work.run
            );
            self.work.context.events.emit(Event::Warning(warning)).await;
        }
        failed
    }
}

async fn next(
    subscription: &mut Option<Box<dyn Subscription<Job>>>,
) -> Result<Option<Delivery<Job>>, WorkerError> {
    match subscription {
        Some(subscription) => Ok(subscription.next().await?),
        None => Ok(None),
    }
}

/// Waits until money may be available.
async fn money(changes: &mut tokio::sync::watch::Receiver<u64>) {
    tokio::select! {
        // A ledger that is closed changes no more.
        Ok(()) = changes.changed() => {}
        () = sleep(MONEY_INTERVAL) => {}
    }
}

async fn publish(work: &BatchWork, result: JobResult) -> Result<(), WorkerError> {
    work.results.publish(result, Priority::Normal).await?;
    match work.context.breaker.take_pause_reason() {
        Some(reason) => Err(Interruption::Paused(reason).into()),
        None => Ok(()),
    }
}

fn joined<T>(task: Result<Result<T, WorkerError>, JoinError>) -> Result<T, WorkerError> {
    task.map_err(WorkerError::from).and_then(|ended| ended)
}

/// Drops the error of a stop, which is no failure.
fn not_stopping(error: WorkerError) -> Result<(), WorkerError> {
    match error {
        WorkerError::Interrupted(Interruption::Stopping) => Ok(()),
        error => Err(error),
    }
}
