//! Runs that are judged in this process.

use super::{
    block_on_thread,
    notice::{Notice, Notify, waiting_text},
    spawn_blocking_result,
    used_ledgers::UsedLedgers,
};
use crate::{
    error::AppError,
    local_ledger::ledger_file,
    run::{
        local_run::{BegunRun, EndedRun, LocalRun},
        run_setup::RunSetup,
    },
    settings::Settings,
    worker_resources::evidence,
};
use juror_analysis::{format::dollars, run_report::Report};
use juror_journal::journal::JournalError;
use juror_types::{
    event::{Event, Events},
    id::RunId,
    run::RunRecord,
    shutdown::Shutdown,
};
use juror_worker::evidence_resources::EvidenceResources;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

const EVENT_CAPACITY: usize = 1_000;

/// The runs of this process.
pub struct LocalRuns {
    active: Arc<Mutex<Vec<Arc<ActiveRun>>>>,
    max_concurrent: u32,
    tasks: TaskTracker,
    /// Resources for measuring, shared by active runs; the browsers end with the last of them.
    evidence: Mutex<Weak<EvidenceResources>>,
    ledgers: UsedLedgers,
    shutdown: Shutdown,
    notify: Notify,
}

/// Permit of an active run, released on drop.
pub struct RunPermit {
    own: Arc<ActiveRun>,
    all: Arc<Mutex<Vec<Arc<ActiveRun>>>>,
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        all.retain(|one| !Arc::ptr_eq(one, &self.own));
    }
}

impl LocalRuns {
    /// A set without runs, which all stop on `shutdown`.
    pub fn new(
        settings: &Settings,
        tasks: TaskTracker,
        shutdown: Shutdown,
        notify: Notify,
    ) -> Self {
        let ledgers = UsedLedgers::default();
        ledgers.note(&ledger_file(settings));
        Self {
            active: Arc::default(),
            max_concurrent: settings.serve.max_concurrent_runs,
            tasks,
            evidence: Mutex::default(),
            ledgers,
            shutdown,
            notify,
        }
    }

    /// A permit for this run.
    ///
    /// # Errors
    /// A stopping server, an active run of this id, or too many active runs.
    pub fn acquire(&self, run: &RunId) -> Result<RunPermit, AppError> {
        if self.shutdown.drain.is_cancelled() {
            return Err(AppError::unavailable("the server is stopping; retry after its restart"));
        }
        let mut active = self.active.lock();
        if active.iter().any(|one| one.run == *run) {
            return Err(AppError::conflict(format!("run {run} is already active")));
        }
        if active.len() as u64 >= u64::from(self.max_concurrent) {
            return Err(AppError::unavailable(format!(
                "the limit of {} concurrent runs is reached (serve.max_concurrent_runs): wait for one \
                 of them, or cancel one",
                self.max_concurrent
            )));
        }
        let own = Arc::new(ActiveRun { run: run.clone(), shutdown: self.shutdown.child() });
        active.push(Arc::clone(&own));
        Ok(RunPermit { own, all: Arc::clone(&self.active) })
    }

    /// Starts or continues a run in the background. Returns once its record and its ledger exist;
    /// the task continues if the caller is dropped.
    pub async fn begin(
        self: &Arc<Self>,
        permit: RunPermit,
        setup: RunSetup,
        known: Option<RunRecord>,
    ) -> Result<(), AppError> {
        let own = Arc::clone(self);
        // Opens the ledger, and reads the journal of a continued run.
        let beginning = self
            .tasks
            .spawn(block_on_thread(async move { own.begin_now(permit, setup, known).await }));
        beginning.await.map_err(AppError::internal)?
    }

    async fn begin_now(
        &self,
        permit: RunPermit,
        setup: RunSetup,
        known: Option<RunRecord>,
    ) -> Result<(), AppError> {
        let run = permit.own.run.clone();
        // Gate, baseline, calibration and key come from the server's settings.
        let prepared =
            LocalRun::prepare(setup, &run, known.as_ref()).map_err(AppError::unavailable)?;
        let ledger = ledger_file(&prepared.setup().settings);
        self.ledgers.check(&ledger)?;
        let evidence = self.evidence(&prepared.setup().settings);
        let begun = prepared.begin(evidence).await.map_err(repaired_by_operator)?;
        self.ledgers.note(&ledger);
        let notify = Arc::clone(&self.notify);
        self.tasks.spawn(async move {
            notify(match run_to_completion(begun, permit).await {
                Ok(end) => Notice::Done(format!("run {run}: {end}")),
                Err(error) => Notice::Failed(format!("run {run} failed: {error}")),
            });
        });
        Ok(())
    }

    /// Drains a run of this process; returns false if it is not active here.
    pub fn cancel(&self, run: &RunId) -> bool {
        let active = self.active.lock();
        let found = active.iter().find(|one| one.run == *run);
        if let Some(one) = found {
            one.shutdown.drain.cancel();
        }
        found.is_some()
    }

    /// True if a run of this process is stopping.
    pub fn is_cancelling(&self, run: &RunId) -> bool {
        self.active.lock().iter().any(|one| one.run == *run && one.shutdown.drain.is_cancelled())
    }

    /// Resources for measuring, shared by all active runs, so that together they render at most
    /// `render.concurrency` pages.
    fn evidence(&self, settings: &Settings) -> Arc<EvidenceResources> {
        let mut shared = self.evidence.lock();
        shared.upgrade().unwrap_or_else(|| {
            let evidence = evidence(settings);
            *shared = Arc::downgrade(&evidence);
            evidence
        })
    }
}

/// An active run with its shutdown.
struct ActiveRun {
    run: RunId,
    shutdown: Shutdown,
}

/// Runs to completion, and writes the report; returns a summary.
async fn run_to_completion(begun: BegunRun, permit: RunPermit) -> Result<String, AppError> {
    let (events, receiver) = Events::channel(EVENT_CAPACITY);
    let ActiveRun { run, shutdown } = &*permit.own;
    let (ended, ()) = tokio::join!(begun.run(events, shutdown), log_events(receiver, run));
    let ended = ended?;
    spawn_blocking_result(move || {
        let report = ended.report()?;
        // The permit is released before the directory appears free.
        drop(permit);
        Ok(summary_text(&ended, &report))
    })
    .await
}

/// Logs the events that a terminal would show.
async fn log_events(mut events: mpsc::Receiver<Event>, run: &RunId) {
    while let Some(event) = events.recv().await {
        match event {
            Event::Warning(warning) => tracing::warn!(%run, "{warning}"),
            Event::Waiting { reason, pause } => {
                tracing::warn!(%run, "{}", waiting_text(&reason, pause));
            }
            Event::Paused { reason } => tracing::warn!(%run, "paused: {reason}"),
            Event::Stopping
            | Event::Planned { .. }
            | Event::Finished(_)
            | Event::BatchProgress { .. } => {}
        }
    }
}

fn summary_text(ended: &EndedRun, report: &Report) -> String {
    let (coverage, cost) = (&report.coverage, dollars(report.cost.total_usd));
    let end = match &ended.paused {
        Some(reason) => format!("; paused: {reason}"),
        None if ended.stopped => "; stopped".to_owned(),
        None => String::new(),
    };
    format!("{} of {} jobs scored, {cost}{end}", coverage.scored, coverage.planned)
}

/// The error of a run that cannot begin, for its requester: a ledger or a runs directory that cannot
/// be used is the operator's to repair, and the same request succeeds afterwards.
fn repaired_by_operator(error: AppError) -> AppError {
    match error {
        AppError::Invalid(cause) => AppError::Unavailable(cause),
        AppError::Internal(cause) => {
            AppError::Unavailable(match cause.downcast::<JournalError>() {
                Ok(error) => error.in_its_run().into(),
                Err(cause) => cause,
            })
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_runs_share_a_browser_pool_and_later_runs_get_a_new_one() {
        let settings = Settings::default();
        let runs = LocalRuns::new(&settings, TaskTracker::new(), Shutdown::new(), Arc::new(|_| ()));
        let (first, second) = (runs.evidence(&settings), runs.evidence(&settings));
        assert!(Arc::ptr_eq(&first, &second));
        let ended = Arc::downgrade(&first);
        drop((first, second));
        assert!(ended.upgrade().is_none(), "nothing keeps idle browsers");
        runs.evidence(&settings);
    }
}
