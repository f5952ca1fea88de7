//! The aggregator's role: it receives the results of runs, commits them to the run's journal, and
//! only then acknowledges them; complete runs are reported. [`run`] is the role for all runs of a
//! fleet; [`local_aggregator`] is the same committer for one run, which its process reports.
//!
//! In a fleet, one aggregator is active, the holder of the lock of the runs directory; others are
//! on standby. It is one task of several parts that communicate through bounded channels:
//!
//! ```text
//! results, dead jobs ─receive→ committer ─> end
//!   run registry, poller ┤  ↑        └──orders─→ reporter ─┐
//!     ledger maintenance ┘  └─statuses, reports written────┘
//! ```
//! The committer owns the open runs. Only the status poller, the reporter and the ledger
//! maintenance query the fleet's backend, so that it cannot delay a commit or an acknowledgement.

mod acknowledge_deliveries;
mod commit_work;
mod committer;
mod completeness;
mod incoming;
mod journal_operations;
mod ledger_journals;
mod ledger_maintenance;
pub mod local_aggregator;
mod receive;
mod release_held_jobs;
mod reporter;
mod resend_unstarted;
mod run_registry;
mod runs_directory_registration;
mod runs_lock;
mod status_poller;
mod telemetry;
mod tracked_run;

pub use reporter::{CompletedRun, ReportWriter};
pub use runs_directory_registration::{claim, identify};
pub use runs_lock::{LockRole, RunsLock};

use acknowledge_deliveries::end_deliveries;
use committer::{Committer, Inputs, KnownRuns, ReportChannels};
use futures_util::future::BoxFuture;
use juror_journal::journal::JournalError;
use juror_ledger::{
    error::LedgerError,
    redis::{FleetBackend, RunsDirectory},
};
use juror_queue::{DeadLetter, DeadLetters, HeldMessages, Queue, QueueError, Subscription};
use juror_telemetry::Metrics;
use juror_types::{event::Events, job::Job, outcome::JobResult, shutdown::Shutdown};
use ledger_maintenance::LedgerMaintenance;
use receive::receive;
use release_held_jobs::Release;
use resend_unstarted::ResendingSubscription;
use run_registry::RunRegistry;
use status_poller::StatusPoller;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::{Notify, mpsc},
    task::JoinError,
};
use tokio_util::sync::CancellationToken;

/// Capacity of the channel of run statuses.
const STATUS_CAPACITY: usize = 64;
/// Capacity of the channel of batches to end.
const END_CAPACITY: usize = 2;

/// Resources of a fleet's aggregator.
pub struct FleetResources {
    /// The lock of the runs directory, held.
    pub lock: RunsLock,
    /// The directory in which the fleet's results are stored.
    pub directory: RunsDirectory,
    /// The results of all runs.
    pub results: Box<dyn Subscription<JobResult>>,
    /// Dead-lettered jobs.
    pub dead: Box<dyn Subscription<DeadLetter<Job>>>,
    /// Queue for dead jobs that never started and are resent.
    pub jobs: Arc<dyn Queue<Job>>,
    /// Store of dead letters.
    pub dead_letters: Arc<dyn DeadLetters<Job>>,
    /// Jobs that workers hold.
    pub held: Arc<dyn HeldMessages>,
    /// Backend of the runs and their money.
    pub backend: Arc<dyn FleetBackend>,
    /// Receiver of warnings.
    pub events: Events,
    /// Receiver of complete runs.
    pub completed: mpsc::Sender<CompletedRun>,
    /// Counters of results.
    pub metrics: Arc<Metrics>,
    /// Writer of the runs' reports.
    pub reports: Arc<dyn ReportWriter>,
    /// Options of the role.
    pub options: AggregatorOptions,
}

/// Options of an aggregator.
#[derive(Clone, Debug)]
pub struct AggregatorOptions {
    /// Maximum number of results that are committed together. Subscribe with a prefetch of
    /// [`prefetch`](Self::prefetch), so that further ones arrive while a batch is written and
    /// acknowledged.
    pub batch: usize,
    /// Time for which the first result of a batch waits for others; none to commit at once.
    pub batch_delay: Option<Duration>,
    /// Maximum number of open runs, with about 45 bytes per job in memory; the least recently used
    /// are closed.
    pub open_runs: usize,
    /// Minimum interval of reports of an unfinished run.
    pub report: Duration,
}

impl Default for AggregatorOptions {
    fn default() -> Self {
        Self { batch: 512, batch_delay: None, open_runs: 64, report: Duration::from_secs(10) }
    }
}

impl AggregatorOptions {
    /// Number of deliveries to prefetch.
    pub fn prefetch(&self) -> usize {
        self.batch * 4
    }
}

/// Error that stops the aggregator. Committed results are kept; others are not acknowledged and
/// will be redelivered.
#[derive(Debug, thiserror::Error)]
pub enum AggregatorError {
    /// The runs directory is not usable.
    #[error("the runs directory is not usable: {0}")]
    RunsDirectory(#[source] JournalError),
    /// A run's journal cannot be read or written.
    #[error("results cannot be committed, so they are not acknowledged: {0}")]
    Journal(#[from] JournalError),
    /// Results can no longer be received.
    #[error("results cannot be received: {0}")]
    Queue(#[from] QueueError),
    /// The fleet's results are stored in another runs directory.
    #[error(
        "the results of this fleet are stored in {theirs}, not in {ours}: set --runs-dir to that folder, or, if no run there is unfinished, move the fleet here with juror aggregate --take-over"
    )]
    Elsewhere {
        /// The directory that is locked here.
        ours: Box<RunsDirectory>,
        /// The directory registered in the fleet's backend.
        theirs: Box<RunsDirectory>,
    },
    /// The fleet's backend has no registered runs directory.
    #[error("the runs directory of this fleet is unknown: {0}")]
    Backend(#[source] LedgerError),
    /// The thread that writes a journal has ended.
    #[error("a journal's writer ended early: {0}")]
    Writer(#[from] JoinError),
}

/// Receives, commits and reports until shutdown, until another runs directory takes the fleet over,
/// or until both queues are closed and empty. A graceful shutdown commits and acknowledges received
/// results, and reports changed runs; an immediate one ends after the current batch.
pub fn run(
    resources: FleetResources,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<(), AggregatorError>> {
    Box::pin(async move {
        let FleetResources { lock, directory, backend, events, options, .. } = resources;
        let (stop, drain) = (shutdown.now.clone(), shutdown.drain.child_token());
        let registry = RunRegistry::default();
        let (sender, incoming) = mpsc::channel(options.batch);
        let (ending, to_end) = mpsc::channel(END_CAPACITY);
        let (orders, ordered) = mpsc::channel(1);
        let (written, reported) = mpsc::channel(1);
        let (statuses, answers) = mpsc::channel(STATUS_CAPACITY);
        let (runs_dir, reconciled) = (lock.runs_dir().to_owned(), Arc::new(Notify::new()));
        let poller =
            StatusPoller::new(Arc::clone(&backend), registry.reader(), statuses, events.clone());
        let release = Release {
            held: resources.held,
            reconciled: Arc::clone(&reconciled),
            events: events.clone(),
        };
        let maintenance = LedgerMaintenance {
            reconciled,
            backend: Arc::clone(&backend),
            runs_dir: runs_dir.clone(),
            registry: registry.reader(),
            events: events.clone(),
            stop: stop.clone(),
        };
        let dead = Box::new(ResendingSubscription {
            inner: resources.dead,
            backend: Arc::clone(&backend),
            jobs: resources.jobs,
            dead_letters: resources.dead_letters,
            events: events.clone(),
        });
        let (reports, of_fleet) = (resources.reports, Arc::clone(&backend));
        let reporting = reporter::report(ordered, written, of_fleet, reports, stop.clone());
        let acknowledged = end_deliveries(to_end, events.clone(), stop.clone());
        let committer = Committer {
            runs_dir,
            options,
            events,
            finished: Events::silent(),
            metrics: resources.metrics,
            registry,
            ending,
            reports: Some(ReportChannels { orders, completed: resources.completed }),
            stop: stop.clone(),
            runs: KnownRuns::default(),
        };
        let (ended, inputs) = (CancellationToken::new(), Inputs { incoming, answers, reported });
        let (received, committed, elsewhere, ..) = tokio::join!(
            receive(resources.results, dead, sender, drain.clone()),
            commit(committer, inputs, ended.clone()),
            keep_directory(&*backend, &directory, (&ended, &drain)),
            reporting,
            acknowledged,
            poller.run(ended.clone(), stop),
            ended.run_until_cancelled(maintenance.run()),
            ended.run_until_cancelled(release.run()),
        );
        drop(lock);
        committed?;
        received?;
        elsewhere.map_or(Ok(()), Err)
    })
}

/// Commits results until there are no more. The other parts end with it, also if it fails.
async fn commit(
    committer: Committer,
    inputs: Inputs,
    ended: CancellationToken,
) -> Result<(), AggregatorError> {
    let _ended = ended.drop_guard();
    match committer.run(inputs).await {
        // An immediate shutdown interrupted the reading of a journal.
        Err(AggregatorError::Journal(JournalError::Stopped)) => Ok(()),
        ended => ended.map(drop),
    }
}

/// Claims the runs directory again and again until the committer has ended. None unless another
/// directory takes the fleet over: received results are still committed then, and later ones are
/// for the other directory's aggregator.
async fn keep_directory(
    backend: &dyn FleetBackend,
    directory: &RunsDirectory,
    (ended, drain): (&CancellationToken, &CancellationToken),
) -> Option<AggregatorError> {
    let kept = runs_directory_registration::keep(backend, directory);
    let elsewhere = ended.run_until_cancelled(kept).await;
    drain.cancel();
    elsewhere
}

#[cfg(test)]
mod tests;
