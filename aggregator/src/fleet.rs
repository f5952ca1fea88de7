//! The role for a fleet: results of all its runs come in, are committed to the journal of their
//! run, and only then acknowledged; runs that are complete are reported.
//!
//! One aggregator works, the one that holds the lock of the runs directory; spares stand by. It is
//! one task of several parts that speak through bounded channels:
//!
//! ```text
//! results, dead jobs ─receive→ committer ─> settle
//!                 board ─┤  ↑        └──orders─→ reporter ─┐
//!           survey, care ┘  └─answers, reports written─────┘
//! ```
//! The committer owns the open runs. Only the survey, the reporter and the care of the ledger ask
//! the fleet's backend, so nothing that it does can hold up a commit or an acknowledgement.
//! [`local_run`] is the same committer with the only run of a process, which is reported elsewhere.

mod backend;
mod batch;
mod blocking;
mod committer;
mod complete;
mod directory;
mod ledger_journals;
mod ledger_maintenance;
pub mod local_run;
mod lock;
mod open_run;
mod poison;
mod receive;
mod release;
mod reporter;
mod resend;
mod run_registry;
mod run_state;
mod settlement;
mod status_poller;
mod telemetry;

pub use backend::FleetBackend;
pub use directory::{claim, identify};
pub use lock::{LockRole, RunsLock};
pub use reporter::{BaselineComparer, CompletedRun, ReportOptions};

use committer::{Committer, Inputs, KnownRuns, ReportChannels};
use futures_util::future::BoxFuture;
use juror_journal::journal::JournalError;
use juror_ledger::{error::LedgerError, redis::RunsDirectory};
use juror_queue::{DeadLetter, DeadLetters, HeldMessages, Queue, QueueError, Subscription};
use juror_telemetry::Metrics;
use juror_types::{event::Events, job::Job, outcome::JobResult, shutdown::Shutdown};
use ledger_maintenance::LedgerCare;
use receive::receive;
use release::Release;
use resend::{Resender, ResendingSubscription};
use run_registry::RunRegistry;
use status_poller::{Intervals, StatusSurvey};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{
    sync::{Notify, mpsc},
    task::JoinError,
};
use tokio_util::sync::CancellationToken;

/// Answers of the fleet's backend that wait to be heard.
const ANSWERS: usize = 64;
/// Batches that wait to be settled.
const SETTLING: usize = 2;

/// Resources of a fleet's aggregator.
pub struct FleetResources {
    /// The lock of the runs directory, held.
    pub lock: RunsLock,
    /// The directory, which the fleet's results were claimed for.
    pub directory: RunsDirectory,
    /// The results of all runs.
    pub results: Box<dyn Subscription<JobResult>>,
    /// The jobs that nobody works on any more.
    pub dead: Box<dyn Subscription<DeadLetter<Job>>>,
    /// Queue that dead jobs that never started are sent to again.
    pub jobs: Arc<dyn Queue<Job>>,
    /// Store of dead letters.
    pub dead_letters: Arc<dyn DeadLetters<Job>>,
    /// Jobs that workers hold back.
    pub held: Arc<dyn HeldMessages>,
    /// Backend with the runs and their money.
    pub backend: Arc<dyn FleetBackend>,
    /// Listeners for trouble.
    pub events: Events,
    /// Listener for complete runs.
    pub completed: mpsc::Sender<CompletedRun>,
    /// Counters of results.
    pub metrics: Arc<Metrics>,
    /// Its options.
    pub options: FleetOptions,
}

/// Options of a fleet's aggregator.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// Results that are committed together at most. Subscribe with a prefetch of
    /// [`prefetch`](Self::prefetch), so that some gather while others are written and settled.
    pub batch: usize,
    /// Time for which the first result of a batch waits for others; none where it does not.
    pub gathering: Option<Duration>,
    /// Runs that are open at once, with about 45 bytes a job in memory; the least recently used are
    /// closed.
    pub open_runs: usize,
    /// Interval at which the status of a run is asked for that expects something, and its progress
    /// is noted.
    pub survey: Duration,
    /// Interval at which the known runs are asked for.
    pub announced: Duration,
    /// Least interval of reports of a run that goes on.
    pub report: Duration,
    /// Interval at which holdings of gone processes are presumed spent.
    pub heartbeat: Duration,
    /// Interval of looks whether the ledger is to be reconciled.
    pub ledger: Duration,
    /// Options of reports.
    pub reports: ReportOptions,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            batch: 512,
            gathering: None,
            open_runs: 64,
            survey: Duration::from_secs(1),
            announced: Duration::from_secs(5),
            report: Duration::from_secs(10),
            heartbeat: Duration::from_secs(15),
            ledger: Duration::from_secs(5),
            reports: ReportOptions::default(),
        }
    }
}

impl FleetOptions {
    /// Deliveries that may be out at once.
    pub fn prefetch(&self) -> usize {
        self.batch * 4
    }
}

/// Summary of a fleet's aggregator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FleetSummary {
    /// Results that came more than once and were not applied again.
    pub duplicates: u64,
}

/// Error that stops the aggregator. Committed results are kept; others are not acknowledged, and so
/// delivered again.
#[derive(Debug, thiserror::Error)]
pub enum AggregatorError {
    /// The runs directory cannot be used.
    #[error("the runs directory cannot be used: {0}")]
    RunsDirectory(#[source] JournalError),
    /// A run's journal cannot be read or written.
    #[error("results cannot be committed, and were not acknowledged: {0}")]
    Journal(#[from] JournalError),
    /// No more results can be received.
    #[error("results cannot be received: {0}")]
    Queue(#[from] QueueError),
    /// The fleet's results go to another runs directory.
    #[error(
        "the results of this fleet go into {theirs}, and not into {ours}: give that folder by --runs-dir, or, if no run there is to go on, move the fleet by juror aggregate --take-over"
    )]
    Elsewhere {
        /// The directory that is locked here.
        ours: Box<RunsDirectory>,
        /// The one that the fleet's backend names.
        theirs: Box<RunsDirectory>,
    },
    /// The fleet's backend does not say to which directory results go.
    #[error("it is not known where the results of this fleet go: {0}")]
    Backend(#[source] LedgerError),
    /// The thread that writes a journal is gone.
    #[error("a journal's writer ended early: {0}")]
    Writer(#[from] JoinError),
}

/// Receives, commits and reports until it is asked to stop, until another runs directory takes the
/// fleet over, or until both queues are closed and hold nothing more. At a soft stop, what is in
/// hand is committed and acknowledged, and runs that changed are reported; a hard stop ends after
/// the batch in hand.
pub fn run(
    resources: FleetResources,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<FleetSummary, AggregatorError>> {
    Box::pin(async move {
        let FleetResources {
            lock,
            directory,
            results,
            dead,
            jobs,
            dead_letters,
            held,
            backend,
            events,
            completed,
            metrics,
            options,
        } = resources;
        let (stop, drain) = (shutdown.now.clone(), shutdown.drain.child_token());
        let board = RunRegistry::default();
        let (sender, incoming) = mpsc::channel(options.batch);
        let (settling, to_settle) = mpsc::channel(SETTLING);
        let (orders, ordered) = mpsc::channel(1);
        let (written, reported) = mpsc::channel(1);
        let (answering, answers) = mpsc::channel(ANSWERS);
        let runs_dir = lock.runs_dir().to_owned();
        let survey = StatusSurvey {
            backend: Arc::clone(&backend),
            intervals: Intervals { expected: options.survey, announced: options.announced },
            board: board.reader(),
            answers: answering,
            events: events.clone(),
            noted: BTreeMap::new(),
            is_away: false,
        };
        let reconciled = Arc::new(Notify::new());
        let release = Release { held, reconciled: Arc::clone(&reconciled), events: events.clone() };
        let care = LedgerCare {
            reconciled,
            backend: Arc::clone(&backend),
            runs_dir: runs_dir.clone(),
            board: board.reader(),
            events: events.clone(),
            heartbeat: options.heartbeat,
            check: options.ledger,
            stop: stop.clone(),
        };
        let reports = options.reports.clone();
        let resender =
            Resender { backend: Arc::clone(&backend), jobs, dead_letters, events: events.clone() };
        let dead = ResendingSubscription { inner: dead, resender };
        let receiving = receive(results, Box::new(dead), sender, drain.clone());
        let reporting =
            reporter::report(ordered, written, Arc::clone(&backend), reports, stop.clone());
        let claiming = options.ledger;
        let settled = settlement::settle(to_settle, events.clone(), stop.clone());
        let committer = Committer {
            runs_dir,
            options,
            events,
            finished: Events::silent(),
            metrics,
            board,
            settling,
            reports: Some(ReportChannels { orders, completed }),
            stop: stop.clone(),
            runs: KnownRuns::default(),
        };
        let ended = CancellationToken::new();
        let committing = async {
            // Also when the committing breaks off.
            let _ended = ended.clone().drop_guard();
            match committer.run(Inputs { incoming, answers, reported }).await {
                // It was interrupted in reading a journal.
                Err(AggregatorError::Journal(JournalError::Stopped)) => Ok(FleetSummary::default()),
                ended => ended.map(|runs| runs.finished),
            }
        };
        let keeping = async {
            let kept = directory::keep(&*backend, &directory, claiming);
            let elsewhere = ended.run_until_cancelled(kept).await;
            // What is in hand is committed still; everything else is for the other one.
            drain.cancel();
            elsewhere
        };
        let (received, finished, elsewhere, ..) = tokio::join!(
            receiving,
            committing,
            keeping,
            reporting,
            settled,
            survey.run(ended.clone(), stop),
            care.run(ended.clone()),
            release.run(ended.clone()),
        );
        drop(lock);
        let finished = finished?;
        received?;
        elsewhere.map_or(Ok(finished), Err)
    })
}

#[cfg(test)]
mod tests;
