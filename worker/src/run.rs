//! The worker's role: take jobs, judge as many at once as is good, publish results. The only place
//! that spawns.

mod batch_keeper;
mod cancelled;
mod delivery;
mod in_progress;
mod status_provider;
mod warn_once;

pub use crate::worker_error::WorkerError;
pub use batch_keeper::{BatchKeeper, KeeperSettings};
pub use status_provider::{RunStatusProvider, WorkerRunState};

use crate::{concurrency::Concurrency, interruption::Interruption, telemetry};
use delivery::DeliveryHandler;
use futures_util::future::BoxFuture;
use juror_ledger::store::Store;
use juror_queue::{Delivery, Queue, QueueError, Subscription};
use juror_telemetry::Metrics;
use juror_types::{event::Events, id::OwnerId, job::Job, outcome::JobResult, shutdown::Shutdown};
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
    /// States of the runs whose jobs come. A run that stops stops no other.
    pub run_states: Arc<dyn RunStatusProvider>,
    /// Store in which jobs of cancelled runs end.
    pub store: Arc<dyn Store>,
    /// This process, as holder of claims.
    pub owner: OwnerId,
    /// Keeper of batches; none where no run buys its calls so.
    pub batches: Option<BatchKeeper>,
    /// Whether it draws. Jobs whose code has to be drawn are left to other workers otherwise.
    pub draws: bool,
    /// Limit on calls in flight at once; the number of jobs in hand goes by it.
    pub concurrency: Concurrency,
    /// Listeners.
    pub events: Events,
    /// Counters of jobs.
    pub metrics: Arc<Metrics>,
}

/// Works until the queue is closed and empty, or until `shutdown.drain`, which it gives itself
/// where it cannot go on; then what is in hand is finished. With `shutdown.now` it is given back,
/// and calls in flight are cancelled.
pub fn run(worker: Worker, shutdown: Shutdown) -> BoxFuture<'static, Result<(), WorkerError>> {
    Box::pin(async move {
        info!("the worker takes jobs");
        let handler = Arc::new(DeliveryHandler::new(worker, shutdown));
        let DeliveryHandler { worker, shutdown, .. } = &*handler;
        let ending = match &worker.batches {
            None => serve(&handler).await,
            Some(batches) => {
                batches.begin().await.map_err(Interruption::from)?;
                let keeping = batches.run(&*worker.run_states, &worker.events, shutdown);
                let (mut ending, kept) = tokio::join!(serve(&handler), keeping);
                // Once no job in hand can become a row of a shard any more.
                batches.resign().await;
                ending.note(Ok(kept), &shutdown.drain);
                ending
            }
        };
        info!("the worker has ended");
        ending.0.map_or(Ok(()), Err)
    })
}

/// Takes jobs, and waits for those in hand.
async fn serve(handler: &Arc<DeliveryHandler>) -> Ending {
    let shutdown = &handler.shutdown;
    let mut tasks = JoinSet::new();
    let mut ending = Ending::default();
    let mut intake = JobIntake::default();
    let taken = take_jobs(handler, &mut intake, &mut tasks, &mut ending).await;
    // Before anything is returned to the queue, which would send it here again.
    shutdown.now.run_until_cancelled(intake.close()).await;
    ending.note(Ok(taken), &shutdown.drain);
    info!(in_progress = tasks.len(), "the worker takes no more jobs");
    while let Some(task) = tasks.join_next().await {
        ending.note(task, &shutdown.drain);
    }
    ending
}

/// Takes jobs in hand until there are no more or the worker stops.
async fn take_jobs(
    handler: &Arc<DeliveryHandler>,
    intake: &mut JobIntake,
    tasks: &mut JoinSet<Result<(), WorkerError>>,
    ending: &mut Ending,
) -> Result<(), WorkerError> {
    let DeliveryHandler { worker, shutdown, .. } = &**handler;
    loop {
        let wanted = jobs_in_hand(worker.concurrency.limit());
        tokio::select! {
            biased;
            () = shutdown.drain.cancelled() => return Ok(()),
            Some(task) = tasks.join_next() => ending.note(task, &shutdown.drain),
            delivery = intake.next(&*worker.jobs, wanted), if tasks.len() < wanted => {
                let Some(delivery) = delivery? else { return Ok(()) };
                let span = telemetry::span(&delivery.message);
                let handler = Arc::clone(handler);
                tasks.spawn(async move { handler.handle(delivery).await }.instrument(span));
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
        jobs: &dyn Queue<Job>,
        wanted: usize,
    ) -> Result<Option<Delivery<Job>>, QueueError> {
        if let Some(prefetch) = self.better_prefetch(wanted) {
            // The old one goes first, so that nothing is kept twice.
            self.close().await;
            self.prefetch = prefetch;
        }
        let subscription = match &mut self.subscription {
            Some(subscription) => subscription,
            None => self.subscription.insert(jobs.subscribe(self.prefetch).await?),
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
    fn better_prefetch(&self, wanted: usize) -> Option<usize> {
        match self.prefetch {
            0 => Some(wanted),
            now if now < wanted => Some(wanted.saturating_add(wanted / 2)),
            now if now / 4 > wanted => Some(wanted),
            _ => None,
        }
    }
}

/// The first error that ends a worker.
#[derive(Default)]
struct Ending(Option<WorkerError>);

impl Ending {
    fn note(&mut self, task: Result<Result<(), WorkerError>, JoinError>, stop: &CancellationToken) {
        if let Err(error) = task.map_err(WorkerError::from).and_then(|worked| worked) {
            self.0.get_or_insert(error);
            stop.cancel();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
