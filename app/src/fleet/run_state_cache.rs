//! States and contexts of the fleet's runs in a worker, read from Redis after each change and every
//! few seconds.

use super::context_factory::{ContextError, ContextFactory};
use async_trait::async_trait;
use juror_ledger::{admission::Admission as _, error::LedgerError, redis::RunStatus};
use juror_types::{
    id::RunId,
    job::{Job, Judge},
    run::RunRecord,
};
use juror_worker::{
    run_context::RunContext,
    worker_role::{RunStateProvider, WorkerRunState},
};
use parking_lot::Mutex as Lock;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{
    sync::Mutex,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

/// Validity of a cached status after a change in Redis, which may be of another run.
const CACHE_TTL: Duration = Duration::from_secs(1);
/// Interval of reading the status of runs with jobs in progress, so that a pause or a cancellation
/// reaches waiting jobs. Each read returns the whole record: one for each job would overload Redis
/// with many workers.
const STATUS_INTERVAL: Duration = Duration::from_secs(5);
/// Time for which a run is cached after its last job.
const RUN_TTL: Duration = Duration::from_secs(10 * 60);
/// Number of cached runs above which those without jobs in progress are removed.
const MAX_CACHED_RUNS: usize = 32;

/// Cached states and contexts of the runs of this worker.
pub struct RunStateCache {
    contexts: ContextFactory,
    entries: Lock<HashMap<RunId, Arc<Mutex<CachedRun>>>>,
}

impl RunStateCache {
    pub fn new(contexts: ContextFactory) -> Self {
        Self { contexts, entries: Lock::default() }
    }

    /// Reads the status of runs with jobs in progress at an interval, until stopped.
    pub async fn watch(&self, stop: &CancellationToken) {
        let mut ticks = interval(STATUS_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let poll_loop = async {
            loop {
                ticks.tick().await;
                for (run, entry) in self.in_progress() {
                    let mut cached = entry.lock().await;
                    // The next job of the run meets the same error.
                    let _ = self.look_up(&run, &mut cached).await;
                }
            }
        };
        stop.run_until_cancelled(poll_loop).await;
    }

    /// The runs with jobs in progress. Removes others after [`RUN_TTL`].
    fn in_progress(&self) -> Vec<(RunId, Arc<Mutex<CachedRun>>)> {
        let mut entries = self.entries.lock();
        entries.retain(|_, entry| is_in_progress(entry) || is_recent(entry));
        let used = entries.iter().filter(|(_, entry)| is_in_progress(entry));
        used.map(|(run, entry)| (run.clone(), Arc::clone(entry))).collect()
    }

    /// The cache entry of a run, added if it is missing.
    fn entry(&self, run: &RunId) -> Arc<Mutex<CachedRun>> {
        let mut entries = self.entries.lock();
        if !entries.contains_key(run) && entries.len() >= MAX_CACHED_RUNS {
            entries.retain(|_, entry| is_in_progress(entry));
        }
        Arc::clone(entries.entry(run.clone()).or_default())
    }

    /// Updates the entry of a run. Jobs that wait are stopped and the context is dropped if the run
    /// accepts no more jobs or its record has changed.
    async fn look_up(&self, run: &RunId, cached: &mut CachedRun) -> Result<(), LedgerError> {
        let backend = self.contexts.backend();
        let change = *backend.changes().borrow();
        let status = backend.query(&|| Box::pin(backend.backend().run_status(run))).await?;
        let is_same = |new: &RunRecord| match &cached.status {
            Some(old) => have_same_context(&old.record, new),
            None => false,
        };
        if !status.as_ref().is_some_and(|new| accepts_jobs(new) && is_same(&new.record)) {
            drop_context(&mut cached.context);
        }
        if !status.as_ref().is_some_and(|new| new.cancelled) {
            drop_context(&mut cached.cancelled);
        }
        cached.status = status;
        cached.looked_up = Some(LookUp { at: Instant::now(), change });
        Ok(())
    }

    /// True if the cached status is valid for this job. The status of a run that accepts no jobs
    /// expires early: it may be resumed at any time.
    fn is_fresh(&self, job: &Job, cached: &CachedRun) -> bool {
        let Some((looked_up, status)) = cached.looked_up.zip(cached.status.as_ref()) else {
            return false;
        };
        let is_unchanged = *self.contexts.backend().changes().borrow() == looked_up.change;
        let ttl = match (accepts_jobs(status), is_unchanged) {
            (true, true) => STATUS_INTERVAL,
            (true, false) | (false, true) => CACHE_TTL,
            (false, false) => return false,
        };
        looked_up.at.elapsed() < ttl && matches_job(job, &status.record)
    }

    /// True if a job of the run was refused, and the pause is not recorded yet.
    fn is_about_to_pause(&self, cached: &CachedRun) -> bool {
        let is_stopped = |context: &Arc<RunContext>| context.shutdown.drain.is_cancelled();
        cached.context.as_ref().is_some_and(is_stopped) && !self.contexts.is_stopping()
    }

    /// The context of a run, made if it is not cached; for a cancelled run, that for collecting its
    /// batches.
    async fn context(
        &self,
        RunStatus { record, cancelled, .. }: &RunStatus,
        cached: &mut Option<Arc<RunContext>>,
    ) -> Result<Arc<RunContext>, ContextError> {
        if let Some(context) = cached {
            return Ok(Arc::clone(context));
        }
        let made = match cancelled {
            true => self.contexts.make_for_cancelled(record).await,
            false => self.contexts.make(record).await,
        };
        Ok(Arc::clone(cached.insert(Arc::new(made?))))
    }

    async fn record_pause(
        &self,
        run: &RunId,
        reason: &str,
        cached: &mut CachedRun,
    ) -> Result<(), LedgerError> {
        let backend = self.contexts.backend();
        backend.query(&|| Box::pin(backend.backend().pause_run(run, reason))).await?;
        drop_context(&mut cached.context);
        // Once a cancelled run is cancelled again, its batches are collected in a new context.
        drop_context(&mut cached.cancelled);
        cached.looked_up = None;
        Ok(())
    }
}

#[async_trait]
impl RunStateProvider for RunStateCache {
    async fn run_state(&self, job: &Job) -> Result<WorkerRunState, LedgerError> {
        let run = &job.run_id;
        let entry = self.entry(run);
        let mut cached = entry.lock().await;
        if self.is_about_to_pause(&cached) {
            return Ok(WorkerRunState::Pausing);
        }
        if !self.is_fresh(job, &cached) {
            self.look_up(run, &mut cached).await?;
        }
        let CachedRun { status, context, .. } = &mut *cached;
        let status = match open_status(job, status.as_ref()) {
            Ok(status) => status,
            Err(run_state) => return Ok(run_state),
        };
        match self.context(status, context).await {
            Ok(context) => Ok(WorkerRunState::Open(context)),
            Err(ContextError::Ledger(error)) => Err(error),
            Err(unjudgeable @ ContextError::Unjudgeable(_)) => {
                let reason = unjudgeable.to_string();
                self.record_pause(run, &reason, &mut cached).await?;
                Ok(WorkerRunState::Paused(reason))
            }
        }
    }

    async fn shard_context(&self, run: &RunId) -> Result<Option<Arc<RunContext>>, LedgerError> {
        let entry = self.entry(run);
        let mut cached = entry.lock().await;
        if self.is_about_to_pause(&cached) {
            return Ok(None);
        }
        self.look_up(run, &mut cached).await?;
        let CachedRun { status, context, cancelled, .. } = &mut *cached;
        let Some(status) = status.as_ref().filter(|status| status.paused.is_none()) else {
            return Ok(None);
        };
        let context = if status.cancelled { cancelled } else { context };
        match self.context(status, context).await {
            Ok(context) => Ok(Some(context)),
            Err(ContextError::Ledger(error)) => Err(error),
            // Another worker may have the settings that this one lacks.
            Err(unjudgeable @ ContextError::Unjudgeable(_)) => {
                tracing::warn!(%run, %unjudgeable, "cannot collect the batches of a run; leaving them to other workers");
                Ok(None)
            }
        }
    }

    async fn pause(&self, run: &RunId, reason: &str) -> Result<(), LedgerError> {
        let entry = self.entry(run);
        let mut cached = entry.lock().await;
        self.record_pause(run, reason, &mut cached).await
    }
}

/// Cached status and contexts of a run.
#[derive(Default)]
struct CachedRun {
    looked_up: Option<LookUp>,
    /// None if the run is unknown.
    status: Option<RunStatus>,
    context: Option<Arc<RunContext>>,
    /// Context for collecting the batches of a cancelled run.
    cancelled: Option<Arc<RunContext>>,
}

/// Time and version of a status.
#[derive(Clone, Copy)]
struct LookUp {
    at: Instant,
    /// The ledger's count of changes before the read.
    change: u64,
}

/// Stops what is in progress with a context, and drops it.
fn drop_context(context: &mut Option<Arc<RunContext>>) {
    if let Some(context) = context.take() {
        context.shutdown.drain.cancel();
    }
}

/// True if a context of the run is in use, or its status is being read.
fn is_in_progress(entry: &Arc<Mutex<CachedRun>>) -> bool {
    match entry.try_lock() {
        Ok(cached) => [&cached.context, &cached.cancelled]
            .into_iter()
            .any(|context| context.as_ref().is_some_and(|context| Arc::strong_count(context) > 1)),
        Err(_) => true,
    }
}

fn is_recent(entry: &Arc<Mutex<CachedRun>>) -> bool {
    let looked_up = entry.try_lock().ok().and_then(|cached| cached.looked_up);
    looked_up.is_some_and(|look| look.at.elapsed() < RUN_TTL)
}

fn accepts_jobs(status: &RunStatus) -> bool {
    !status.cancelled && status.paused.is_none()
}

/// True if both records have the same context.
fn have_same_context(one: &RunRecord, other: &RunRecord) -> bool {
    one.rubric == other.rubric
        && one.judge == other.judge
        && one.max_side == other.max_side
        && one.deadline == other.deadline
        && one.lane == other.lane
}

/// True if the record has the rubric and the judge of the job.
fn matches_job(job: &Job, record: &RunRecord) -> bool {
    let model =
        |judge: &Option<Judge>| judge.as_ref().map(|judge| (judge.provider, judge.model.clone()));
    job.rubric.digest == record.rubric.digest && model(&job.judge) == model(&record.judge)
}

/// The status of a run that accepts a job, or the state of one that does not.
fn open_status<'a>(
    job: &Job,
    status: Option<&'a RunStatus>,
) -> Result<&'a RunStatus, WorkerRunState> {
    let Some(status) = status else {
        return Err(WorkerRunState::Unknown(
            "run not found in Redis; publish it again with: juror enqueue --run-id …".to_owned(),
        ));
    };
    match &status.paused {
        _ if status.cancelled => Err(WorkerRunState::Cancelled),
        Some(reason) => Err(WorkerRunState::Paused(reason.clone())),
        None if matches_job(job, &status.record) => Ok(status),
        None => Err(WorkerRunState::Unknown(
            "the rubric or judge of a job differs from the run that was announced under this name"
                .to_owned(),
        )),
    }
}
