//! The worker's role: take jobs, judge as many at once as is good, publish results. The only place
//! that spawns.

pub mod fleet;

pub use crate::worker_error::WorkerError;

use crate::{
    batch::{self, BatchWork},
    concurrency::Concurrency,
    context::Context,
    evaluate::evaluate,
    interruption::Interruption,
    run::fleet::FleetWork,
    telemetry,
};
use futures_util::future::BoxFuture;
use juror_queue::{Delivery, Disposition, Priority, Queue, QueueError, Subscription};
use juror_telemetry::Metrics;
use juror_types::{
    event::{Event, Events},
    job::Job,
    outcome::JobResult,
    shutdown::Shutdown,
};
use std::sync::Arc;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, info};

/// Most deliveries that a worker ever holds.
const MAX_DELIVERIES: usize = 640;

/// A worker, about to take jobs.
pub struct Worker {
    /// Where jobs come from.
    pub jobs: Arc<dyn Queue<Job>>,
    /// Where results go.
    pub results: Arc<dyn Queue<JobResult>>,
    /// Whose jobs they are.
    pub runs: Runs,
    /// Limit on calls in flight at once; the number of jobs in hand goes by it.
    pub concurrency: Concurrency,
    /// Listeners.
    pub events: Events,
    /// Counters of jobs.
    pub metrics: Arc<Metrics>,
}

/// Whose jobs a worker takes.
pub enum Runs {
    /// All of one run: what stops the run stops the worker.
    One(Arc<Context>),
    /// Of whatever run, shared with other workers: a run that stops stops no other, and the worker
    /// outlives a ledger that is away.
    Many(FleetWork),
}

/// End of a worker's work.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Why the run is paused, if it is: no call can succeed until a person does something.
    pub paused: Option<String>,
}

/// Works until the queue is closed and empty, or until `shutdown.drain`, which it gives itself
/// where it cannot go on; then what is in hand is finished. With `shutdown.now` it is given back,
/// and calls in flight are cancelled.
pub fn run(
    worker: Arc<Worker>,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<Ended, WorkerError>> {
    Box::pin(async move {
        info!("the worker takes jobs");
        let ending = match &worker.runs {
            Runs::One(_) => serve(&worker, &shutdown).await,
            Runs::Many(fleet) => {
                fleet.begin_batches().await?;
                let keeping = fleet.keep_batches(&worker.events, &shutdown);
                let (mut ending, kept) = tokio::join!(serve(&worker, &shutdown), keeping);
                // Once no job in hand can become a row of a shard any more.
                fleet.resign_batches().await;
                ending.note(Ok(kept), &shutdown.drain);
                ending
            }
        };
        ended(ending, &worker.events).await
    })
}

/// Takes jobs, and waits for those in hand.
async fn serve(worker: &Arc<Worker>, shutdown: &Shutdown) -> Ending {
    let mut tasks = JoinSet::new();
    let mut ending = Ending::default();
    let mut intake = JobIntake::default();
    let taken = take_jobs(worker, shutdown, &mut intake, &mut tasks, &mut ending).await;
    // Before anything is returned to the queue, which would send it here again.
    shutdown.now.run_until_cancelled(intake.close()).await;
    ending.note(Ok(taken), &shutdown.drain);
    info!(in_progress = tasks.len(), "the worker takes no more jobs");
    while let Some(task) = tasks.join_next().await {
        ending.note(task, &shutdown.drain);
    }
    ending
}

/// As [`run()`], for a run whose calls are bought in batches.
pub fn run_in_batches(
    work: Arc<BatchWork>,
    shutdown: Shutdown,
) -> BoxFuture<'static, Result<Ended, WorkerError>> {
    Box::pin(async move {
        let mut ending = Ending::default();
        let events = work.context.events.clone();
        ending.note(Ok(batch::run(work, &shutdown.drain).await), &shutdown.drain);
        ended(ending, &events).await
    })
}

async fn ended(ending: Ending, events: &Events) -> Result<Ended, WorkerError> {
    info!("the worker has ended");
    let ended = ending.into_result()?;
    if let Some(reason) = &ended.paused {
        events.emit(Event::Paused { reason: reason.clone() }).await;
    }
    Ok(ended)
}

/// Takes jobs in hand until there are no more or the worker stops.
async fn take_jobs(
    worker: &Arc<Worker>,
    shutdown: &Shutdown,
    intake: &mut JobIntake,
    tasks: &mut JoinSet<Result<(), WorkerError>>,
    ending: &mut Ending,
) -> Result<(), WorkerError> {
    loop {
        let wanted = jobs_in_hand(worker.concurrency.limit());
        tokio::select! {
            biased;
            () = shutdown.drain.cancelled() => return Ok(()),
            Some(task) = tasks.join_next() => ending.note(task, &shutdown.drain),
            delivery = intake.next(worker, wanted), if tasks.len() < wanted => {
                let Some(delivery) = delivery? else { return Ok(()) };
                let span = telemetry::span(&delivery.message);
                let work = work(delivery, Arc::clone(worker), shutdown.clone());
                tasks.spawn(work.instrument(span));
            }
        }
    }
}

/// An eighth more than there may be calls: while so many are in flight, the others are made ready
/// for theirs, or are being stored. With few calls at once, jobs keep their order.
fn jobs_in_hand(calls: usize) -> usize {
    calls.saturating_add(calls / 8).min(MAX_DELIVERIES)
}

/// The worker's subscription, made anew where many more jobs are wanted at once than before, or far
/// fewer: what is sent here beyond those in hand is kept from other workers.
#[derive(Default)]
struct JobIntake {
    subscription: Option<Box<dyn Subscription<Job>>>,
    prefetch: usize,
}

impl JobIntake {
    async fn next(
        &mut self,
        worker: &Worker,
        wanted: usize,
    ) -> Result<Option<Delivery<Job>>, QueueError> {
        if let Some(prefetch) = self.better_prefetch(worker, wanted) {
            // The old one goes first, so that nothing is kept twice.
            self.close().await;
            self.prefetch = prefetch;
        }
        let subscription = match &mut self.subscription {
            Some(subscription) => subscription,
            None => self.subscription.insert(worker.jobs.subscribe(self.prefetch).await?),
        };
        subscription.next().await
    }

    /// Ends the subscription, so that what was sent here and not taken goes to other workers.
    async fn close(&mut self) {
        if let Some(subscription) = self.subscription.take() {
            subscription.close().await;
        }
    }

    /// Another prefetch than the present one, if that does not fit. A growing worker is given room
    /// to grow.
    fn better_prefetch(&self, worker: &Worker, wanted: usize) -> Option<usize> {
        match (&worker.runs, self.prefetch) {
            (Runs::One(_), _) => (self.prefetch == 0).then_some(MAX_DELIVERIES),
            (Runs::Many(_), 0) => Some(wanted),
            (Runs::Many(_), now) if now < wanted => Some(wanted.saturating_add(wanted / 2)),
            (Runs::Many(_), now) if now / 4 > wanted => Some(wanted),
            _ => None,
        }
    }
}

/// One delivery, until it is settled.
async fn work(
    delivery: Delivery<Job>,
    worker: Arc<Worker>,
    shutdown: Shutdown,
) -> Result<(), WorkerError> {
    let _in_hand = telemetry::job_taken(&delivery, &worker.metrics);
    match &worker.runs {
        Runs::One(context) => work_alone(delivery, context, &worker, &shutdown).await,
        Runs::Many(fleet) => fleet::work(delivery, &worker, fleet, &shutdown).await,
    }
}

/// One delivery of the worker's only run: judged, its result published, then acknowledged; given
/// back if it was interrupted.
async fn work_alone(
    delivery: Delivery<Job>,
    context: &Arc<Context>,
    worker: &Worker,
    shutdown: &Shutdown,
) -> Result<(), WorkerError> {
    let evaluated = evaluate(&delivery.message, context).await;
    match evaluated {
        Ok(result) => match worker.results.publish(result, Priority::Normal).await {
            Ok(()) => {
                delivery.acknowledge().await?;
                match context.breaker.take_pause_reason() {
                    Some(reason) => Err(Interruption::Paused(reason).into()),
                    None => Ok(()),
                }
            }
            // At a hard stop nobody may be left to take it. It is stored: whoever claims the job
            // next publishes it.
            Err(_) if shutdown.now.is_cancelled() => Err(Interruption::Stopping.into()),
            Err(error) => Err(error.into()),
        },
        Err(Interruption::ClaimLost) => Ok(delivery.acknowledge().await?),
        Err(interruption) => {
            delivery.settle(Disposition::Requeue).await?;
            Err(interruption.into())
        }
    }
}

/// State of the end while tasks finish.
#[derive(Default)]
struct Ending {
    paused: Option<String>,
    error: Option<WorkerError>,
}

impl Ending {
    fn note(&mut self, task: Result<Result<(), WorkerError>, JoinError>, stop: &CancellationToken) {
        match task.map_err(WorkerError::from).and_then(|worked| worked) {
            Ok(()) | Err(WorkerError::Interrupted(Interruption::Stopping)) => return,
            Err(WorkerError::Interrupted(Interruption::Paused(reason))) => {
                self.paused.get_or_insert(reason);
            }
            Err(error) => {
                self.error.get_or_insert(error);
            }
        }
        stop.cancel();
    }

    fn into_result(self) -> Result<Ended, WorkerError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Ended { paused: self.paused }),
        }
    }
}
