//! Run status provider with states set by the test.

use crate::{
    run_context::RunContext,
    worker_role::{RunStateProvider, WorkerRunState},
};
use async_trait::async_trait;
use juror_ledger::error::LedgerError;
use juror_types::{id::RunId, job::Job};
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Run status provider with states set by the test.
#[derive(Default)]
pub struct FakeRuns {
    run_states: Mutex<HashMap<RunId, WorkerRunState>>,
    /// Number of reads of each run's state.
    reads: watch::Sender<HashMap<RunId, usize>>,
    pub pauses: Mutex<Vec<(RunId, String)>>,
    /// Token that stops the only worker of the only run.
    stop: Mutex<Option<CancellationToken>>,
}

impl FakeRuns {
    /// Pauses stop this worker, as in a local run.
    pub fn end_with_pause(&self, stop: &CancellationToken) {
        *self.stop.lock() = Some(stop.clone());
    }

    pub fn set(&self, run: &RunId, run_state: WorkerRunState) {
        let before = self.run_states.lock().insert(run.clone(), run_state);
        if let Some(WorkerRunState::Open(context)) = before {
            context.shutdown.drain.cancel();
        }
    }

    /// Waits for this many reads of a run's state.
    pub async fn await_status_reads(&self, run: &RunId, count: usize) {
        let reached = |reads: &HashMap<RunId, usize>| reads.get(run).is_some_and(|n| *n >= count);
        self.reads.subscribe().wait_for(reached).await.unwrap();
    }
}

#[async_trait]
impl RunStateProvider for FakeRuns {
    async fn run_state(&self, job: &Job) -> Result<WorkerRunState, LedgerError> {
        self.reads.send_modify(|reads| *reads.entry(job.run_id.clone()).or_default() += 1);
        let run_states = self.run_states.lock();
        Ok(match run_states.get(&job.run_id) {
            Some(WorkerRunState::Open(context)) if context.shutdown.drain.is_cancelled() => {
                WorkerRunState::Pausing
            }
            Some(run_state) => run_state.clone(),
            None => WorkerRunState::Unknown("nobody has announced it".to_owned()),
        })
    }

    async fn shard_context(&self, _: &RunId) -> Result<Option<Arc<RunContext>>, LedgerError> {
        Ok(None)
    }

    async fn pause(&self, run: &RunId, reason: &str) -> Result<(), LedgerError> {
        self.pauses.lock().push((run.clone(), reason.to_owned()));
        self.set(run, WorkerRunState::Paused(reason.to_owned()));
        if let Some(stop) = &*self.stop.lock() {
            stop.cancel();
        }
        Ok(())
    }

    fn holds_jobs(&self) -> bool {
        self.stop.lock().is_none()
    }
}
