//! Batches of a worker. In a fleet, each shard is owned by one worker, which renews its ownership
//! at an interval; when a worker is gone, the next one that looks takes its shards over. The only
//! worker of a run owns the run's shards without a renewal, and ends when no job is in progress and
//! none can come.

mod local_batches;
mod rows_awaiting_budget;
mod shards;

use super::{RunStateProvider, warn_once::WarnOnce};
use crate::{
    batch::{Gathered, RunBatches, gather},
    batch_lane::BatchLane,
    interruption::{Interruption, WorkerError},
    run_context::RunContext,
};
use juror_ledger::{
    batches::{BatchRecords, RowChange},
    error::LedgerError,
};
use juror_queue::{Queue, local::LocalReturns};
use juror_types::{
    event::Events,
    id::{OwnerId, RunId},
    job::Job,
    outcome::JobResult,
    shutdown::Shutdown,
};
use parking_lot::Mutex;
use shards::Shards;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{sync::Notify, time::timeout};
use tracing::warn;

/// Longest wait of a job for the shard that it would be written into.
const MAX_CAPACITY_WAIT: Duration = Duration::from_secs(10);

/// The batches of one worker.
pub struct BatchKeeper {
    scope: KeeperScope,
    jobs: Arc<dyn Queue<Job>>,
    results: Arc<dyn Queue<JobResult>>,
    records: Arc<dyn BatchRecords>,
    owner: OwnerId,
    active: Mutex<ActiveWork>,
    changed: Arc<Notify>,
}

/// Times of a fleet worker's batches.
#[derive(Clone, Copy, Debug)]
pub struct KeeperSettings {
    /// Time without a job after which a shard is sent as it is.
    pub seal_after: Duration,
    /// Time without a renewal after which a worker's shards are taken over.
    pub owner_ttl: Duration,
}

/// Progress of a job that was delivered.
pub(super) enum JobProgress {
    Result(Box<JobResult>),
    /// The job is in a batch.
    Batch,
}

impl BatchKeeper {
    /// Creates a keeper of a fleet's batches. Retried jobs go to `jobs`.
    pub fn for_fleet(
        settings: KeeperSettings,
        (jobs, results): (Arc<dyn Queue<Job>>, Arc<dyn Queue<JobResult>>),
        records: Arc<dyn BatchRecords>,
        owner: OwnerId,
    ) -> Self {
        let (active, changed) = Default::default();
        let scope = KeeperScope::Fleet(settings);
        Self { scope, jobs, results, records, owner, active, changed }
    }

    /// Creates a keeper of the batches of a local run, without other workers. Retried jobs go to `jobs`.
    pub fn for_local_run(
        run: RunId,
        (jobs, results): (LocalReturns<Job>, Arc<dyn Queue<JobResult>>),
        records: Arc<dyn BatchRecords>,
        owner: OwnerId,
    ) -> Self {
        let (active, changed) = Default::default();
        let jobs = Arc::new(jobs);
        let scope = KeeperScope::LocalRun(run, Arc::clone(&jobs));
        Self { scope, jobs, results, records, owner, active, changed }
    }

    /// Makes a row of a job, unless it can be finished without a call; `None` if it is judged in an
    /// ordinary call.
    pub(super) async fn take(
        &self,
        job: &Job,
        context: &Arc<RunContext>,
        lane: &Arc<BatchLane>,
    ) -> Result<Option<JobProgress>, Interruption> {
        let work = self.work_of(&job.run_id, context, lane);
        let longest = context.max_wait.map_or(Duration::MAX, |_| MAX_CAPACITY_WAIT);
        let capacity = timeout(longest, work.wait_for_capacity());
        match context.shutdown.drain.run_until_cancelled(capacity).await {
            None => return Err(Interruption::Stopping),
            // The job is requeued so that other runs proceed.
            Some(Err(_)) => return Err(Interruption::WaitTimeout),
            Some(Ok(())) => {}
        }
        let mut gathered = gather(job, &work).await?;
        loop {
            match gathered {
                Gathered::Finished(result) => return Ok(Some(JobProgress::Result(result))),
                Gathered::Realtime => return Ok(None),
                Gathered::UnderWay => break,
                Gathered::Row(row) => {
                    work.write_row(*row).await?;
                    break;
                }
                Gathered::Waiting(row) => {
                    gathered = rows_awaiting_budget::wait(row, job, &work).await?;
                }
            }
        }
        Ok(Some(JobProgress::Batch))
    }

    /// True if a job stands in a batch that is under way.
    pub(super) async fn is_under_way(&self, job: &Job) -> Result<bool, Interruption> {
        let row = self.records.row(&job.run_id, &job.job_id).await?;
        Ok(row.is_some_and(|row| row.open && row.round == job.round))
    }

    /// Removes the row of a job that has its result.
    pub(super) async fn forget(&self, job: &Job) -> Result<(), Interruption> {
        if let Some(row) = self.records.row(&job.run_id, &job.job_id).await? {
            self.records.change_row(&job.run_id, &row, RowChange::Remove).await?;
        }
        Ok(())
    }

    /// Prepares the keeper, before the first job comes.
    pub(super) async fn begin(&self, run_states: &dyn RunStateProvider) -> Result<(), WorkerError> {
        match &self.scope {
            KeeperScope::Fleet(_) => Ok(self.renew().await?),
            KeeperScope::LocalRun(run, _) => self.give_up_unsent(run, run_states).await.map(drop),
        }
    }

    /// Registers a fleet's worker as alive.
    async fn renew(&self) -> Result<(), LedgerError> {
        match &self.scope {
            KeeperScope::Fleet(KeeperSettings { owner_ttl, .. }) => {
                self.records.renew_owner(&self.owner, *owner_ttl).await
            }
            KeeperScope::LocalRun(..) => Ok(()),
        }
    }

    /// Works on this worker's shards until `shutdown.drain`, which the end of a local run
    /// triggers: their batches continue at the provider, and are collected later or by other
    /// workers.
    pub(super) async fn run(
        &self,
        run_states: &dyn RunStateProvider,
        warnings: &WarnOnce,
        shutdown: &Shutdown,
    ) -> Result<(), WorkerError> {
        let mut shards = Shards::new(self, run_states, warnings, shutdown);
        let worked =
            match shards.work().await {
                // The worker stopped while it waited for the ledger.
                Err(WorkerError::Interrupted(Interruption::Ledger(LedgerError::Unavailable(
                    _,
                )))) if matches!(self.scope, KeeperScope::Fleet(_)) => Ok(()),
                worked => worked,
            };
        // The worker ends with the keeper.
        shutdown.drain.cancel();
        let left = shards.join_tasks().await;
        worked.and(left)
    }

    /// Releases the shards once no job in progress can become a row: to other workers, which
    /// continue immediately, or to the next process of a local run.
    pub(super) async fn end(
        &self,
        run_states: &dyn RunStateProvider,
        events: &Events,
    ) -> Result<(), WorkerError> {
        match &self.scope {
            KeeperScope::Fleet(_) => {
                if let Err(error) = self.records.remove_owner(&self.owner).await {
                    warn!(%error, "other workers take over this worker's batches after a while");
                }
                Ok(())
            }
            KeeperScope::LocalRun(run, _) => self.leave(run, run_states, events).await,
        }
    }

    fn work_of(
        &self,
        run: &RunId,
        context: &Arc<RunContext>,
        lane: &Arc<BatchLane>,
    ) -> Arc<RunBatches> {
        let mut active = self.active.lock();
        match active.current.get(run) {
            Some(work) if Arc::ptr_eq(&work.context, context) => Arc::clone(work),
            _ => {
                let queues = (Arc::clone(&self.jobs), Arc::clone(&self.results));
                let (context, lane) = (Arc::clone(context), Arc::clone(lane));
                let changed = Arc::clone(&self.changed);
                let work = Arc::new(RunBatches::new(queues, context, lane, run.clone(), changed));
                let replaced = active.current.insert(run.clone(), Arc::clone(&work));
                active.replaced.extend(replaced);
                work
            }
        }
    }

    fn all_works(&self) -> Vec<Arc<RunBatches>> {
        let active = self.active.lock();
        active.current.values().chain(&active.replaced).map(Arc::clone).collect()
    }

    /// Drops unreferenced work.
    fn drop_idle(&self, idle: &[Arc<RunBatches>]) {
        // Two references: this list and `active`.
        let is_idle = |work: &Arc<RunBatches>| {
            idle.iter().any(|idle| Arc::ptr_eq(idle, work)) && Arc::strong_count(work) <= 2
        };
        let mut active = self.active.lock();
        active.current.retain(|_, work| !is_idle(work));
        active.replaced.retain(|work| !is_idle(work));
    }
}

/// Runs whose batches a worker keeps.
enum KeeperScope {
    /// All runs of a fleet, beside other workers.
    Fleet(KeeperSettings),
    /// This one, alone; with the queue that its jobs come from and return to.
    LocalRun(RunId, Arc<LocalReturns<Job>>),
}

/// The work on runs by their ids, and work whose context was replaced.
#[derive(Default)]
struct ActiveWork {
    current: HashMap<RunId, Arc<RunBatches>>,
    replaced: Vec<Arc<RunBatches>>,
}
