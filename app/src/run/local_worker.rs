//! The worker's role in the process of one run.

use async_trait::async_trait;
use juror_ledger::error::LedgerError;
use juror_queue::{Queue, local::LocalQueue};
use juror_types::{event::Event, id::RunId, job::Job, outcome::JobResult, shutdown::Shutdown};
use juror_worker::{
    run_context::RunContext,
    worker_role::{self, BatchKeeper, RunStateProvider, Worker, WorkerError, WorkerRunState},
};
use std::sync::{Arc, OnceLock};

/// Reason of a run's pause, if it is paused.
pub type PauseReason = Option<String>;

/// The only worker of a run.
pub struct LocalWorker {
    worker: Worker,
    run: Arc<LocalRunState>,
    shutdown: Shutdown,
}

impl LocalWorker {
    /// A worker that takes the run's jobs, in batches where the run has such a lane.
    pub fn new(
        run: &RunId,
        context: Arc<RunContext>,
        jobs: &LocalQueue<Job>,
        results: &LocalQueue<JobResult>,
    ) -> Self {
        let results: Arc<dyn Queue<JobResult>> = Arc::new(results.clone());
        let batches = context.batches.as_ref().map(|lane| {
            let queues = (jobs.returns(), Arc::clone(&results));
            let (records, owner) = (Arc::clone(&lane.records), lane.owner.clone());
            BatchKeeper::for_local_run(run.clone(), queues, records, owner)
        });
        let pause_reason = OnceLock::new();
        let run = Arc::new(LocalRunState { context: Arc::clone(&context), pause_reason });
        let worker = Worker {
            jobs: Arc::new(jobs.clone()),
            results,
            run_states: Arc::clone(&run) as Arc<dyn RunStateProvider>,
            store: Arc::clone(&context.store),
            owner: context.owner.clone(),
            batches,
            renders: true,
            concurrency: context.concurrency.clone(),
            events: context.events.clone(),
            metrics: Arc::clone(&context.metrics),
        };
        Self { worker, run, shutdown: context.shutdown.clone() }
    }

    /// Signals that stop it.
    pub fn shutdown(&self) -> Shutdown {
        self.shutdown.clone()
    }

    /// Works until every job has its result, or until it is stopped; returns the reason of the
    /// run's pause.
    pub async fn run(self) -> Result<PauseReason, WorkerError> {
        let Self { worker, run, shutdown } = self;
        let events = worker.events.clone();
        worker_role::run(worker, shutdown).await?;
        let paused = run.pause_reason.get().cloned();
        if let Some(reason) = paused.clone() {
            events.emit(Event::Paused { reason }).await;
        }
        Ok(paused)
    }
}

/// A run that is open until it is paused. A pause ends its worker, which is the only one.
struct LocalRunState {
    context: Arc<RunContext>,
    /// Reason of its pause, if it is paused.
    pause_reason: OnceLock<String>,
}

#[async_trait]
impl RunStateProvider for LocalRunState {
    async fn run_state(&self, _: &Job) -> Result<WorkerRunState, LedgerError> {
        Ok(WorkerRunState::Open(Arc::clone(&self.context)))
    }

    async fn shard_context(&self, _: &RunId) -> Result<Option<Arc<RunContext>>, LedgerError> {
        Ok(Some(Arc::clone(&self.context)))
    }

    async fn pause(&self, _: &RunId, reason: &str) -> Result<(), LedgerError> {
        self.pause_reason.get_or_init(|| reason.to_owned());
        self.context.shutdown.drain.cancel();
        Ok(())
    }

    fn holds_jobs(&self) -> bool {
        false
    }
}
