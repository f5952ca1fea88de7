//! Worker role: receives jobs, judges several concurrently, publishes results. No other module of
//! the role spawns tasks.

mod batch_keeper;
mod handle_delivery;
mod in_progress;
mod run_state_provider;
mod skip_cancelled_job;
mod warn_once;

pub use crate::interruption::WorkerError;
pub use batch_keeper::{BatchKeeper, KeeperSettings};
pub use run_state_provider::{RunStateProvider, WorkerRunState};

use crate::{concurrency::Concurrency, telemetry};
use futures_util::future::BoxFuture;
use handle_delivery::DeliveryHandler;
use juror_ledger::{error::LedgerError, job_store::JobStore};
use juror_queue::{Delivery, Queue, QueueError, Subscription};
use juror_telemetry::Metrics;
use juror_types::{
    event::Events,
    id::{OwnerId, RunId},
    job::Job,
    outcome::JobResult,
    shutdown::Shutdown,
};
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, info};
use warn_once::WarnOnce;

/// Maximum number of deliveries that a worker holds.
const MAX_DELIVERIES: usize = 640;

/// A worker, about to take jobs.
pub struct Worker {
    /// Queue that jobs come from.
    pub jobs: Arc<dyn Queue<Job>>,
    /// Queue that results go to.
    pub results: Arc<dyn Queue<JobResult>>,
    /// States of the runs of received jobs. A stopped run does not stop the others.
    pub run_states: Arc<dyn RunStateProvider>,
    /// Store for the results of cancelled runs' jobs.
    pub store: Arc<dyn JobStore>,
    /// This process, as holder of claims.
    pub owner: OwnerId,
    /// Keeper of batches; `None` if no run uses batches.
    pub batches: Option<BatchKeeper>,
    /// True if the worker can render pages. Rendering jobs are otherwise left to other workers.
    pub renders: bool,
    /// Limit on calls in flight; the number of jobs in progress follows from it.
    pub concurrency: Concurrency,
    /// Sender of events.
    pub events: Events,
    /// Counters of jobs.
    pub metrics: Arc<Metrics>,
}

/// Works until the queue is closed and empty, or until `shutdown.drain`, which it triggers itself
/// if it cannot continue; then finishes the jobs in progress. With `shutdown.now` it requeues them
/// and cancels calls in flight.
pub fn run(worker: Worker, shutdown: Shutdown) -> BoxFuture<'static, Result<(), WorkerError>> {
    Box::pin(async move {
        info!("the worker takes jobs");
        let handler = Arc::new(DeliveryHandler::new(worker, shutdown));
        let DeliveryHandler { worker, shutdown, warnings, .. } = &*handler;
        let ending = match &worker.batches {
            None => serve(&handler).await,
            Some(batches) => {
                batches.begin(&*worker.run_states).await?;
                let keeping = batches.run(&*worker.run_states, warnings, shutdown);
                let (mut ending, kept) = tokio::join!(serve(&handler), keeping);
                let left = batches.end(&*worker.run_states, &worker.events).await;
                ending.note(kept.and(left), &shutdown.drain);
                ending
            }
        };
        info!("the worker has ended");
        ending.0.map_or(Ok(()), Err)
    })
}

/// The worker's subscription, renewed when the wanted number of jobs grows or shrinks much:
/// prefetched messages that are not taken are withheld from other workers.
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
            // Close the old subscription first, so that no message is prefetched twice.
            self.close().await;
            self.prefetch = prefetch;
        }
        let subscription = match &mut self.subscription {
            Some(subscription) => subscription,
            None => self.subscription.insert(jobs.subscribe(self.prefetch).await?),
        };
        subscription.next().await
    }

    /// Ends the subscription, so that prefetched messages that were not taken go to other workers.
    async fn close(&mut self) {
        if let Some(subscription) = self.subscription.take() {
            subscription.close().await;
        }
    }

    /// A better prefetch than the present one; `None` if that fits. A growing worker gets some
    /// reserve.
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
    fn note(&mut self, ended: Result<(), WorkerError>, stop: &CancellationToken) {
        if let Err(error) = ended {
            self.0.get_or_insert(error);
            stop.cancel();
        }
    }
}

/// Takes jobs until the worker stops, and waits for those in progress.
async fn serve(handler: &Arc<DeliveryHandler>) -> Ending {
    let shutdown = &handler.shutdown;
    let mut tasks = JoinSet::new();
    let mut ending = Ending::default();
    let mut intake = JobIntake::default();
    let taken = take_jobs(handler, &mut intake, &mut tasks, &mut ending).await;
    // Unsubscribe first, or the queue would redeliver requeued jobs here.
    shutdown.now.run_until_cancelled(intake.close()).await;
    ending.note(taken, &shutdown.drain);
    info!(in_progress = tasks.len(), "the worker takes no more jobs");
    while let Some(task) = tasks.join_next().await {
        ending.note(task.map_err(WorkerError::from).flatten(), &shutdown.drain);
    }
    ending
}

/// Takes jobs until there are no more or the worker stops.
async fn take_jobs(
    handler: &Arc<DeliveryHandler>,
    intake: &mut JobIntake,
    tasks: &mut JoinSet<Result<(), WorkerError>>,
    ending: &mut Ending,
) -> Result<(), WorkerError> {
    let DeliveryHandler { worker, shutdown, .. } = &**handler;
    loop {
        let wanted = jobs_in_progress(worker.concurrency.limit());
        tokio::select! {
            biased;
            () = shutdown.drain.cancelled() => return Ok(()),
            Some(task) = tasks.join_next() => {
                ending.note(task.map_err(WorkerError::from).flatten(), &shutdown.drain);
            }
            delivery = intake.next(&*worker.jobs, wanted), if tasks.len() < wanted => {
                let Some(delivery) = delivery? else { return Ok(()) };
                let span = telemetry::span(&delivery.message);
                let handler = Arc::clone(handler);
                tasks.spawn(async move { handler.handle(delivery).await }.instrument(span));
            }
        }
    }
}

/// Pauses a run for a reason that no delivery of a job reports.
async fn pause(
    run_states: &dyn RunStateProvider,
    warnings: &WarnOnce,
    run: &RunId,
    reason: &str,
) -> Result<(), LedgerError> {
    run_states.pause(run, reason).await?;
    // Otherwise the worker reports the pause when it ends.
    if run_states.holds_jobs() {
        warnings.warn_about_pause(run, reason).await;
    }
    Ok(())
}

/// Number of jobs in progress for a number of calls: an eighth more, so that some jobs prepare or
/// store while the others call. With few calls, jobs keep their order.
fn jobs_in_progress(calls: usize) -> usize {
    calls.saturating_add(calls / 8).min(MAX_DELIVERIES)
}

#[cfg(test)]
pub(crate) mod tests;
