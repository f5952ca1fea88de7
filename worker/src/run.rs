//! The worker's role: take jobs, judge as many at once as is good, publish results. The only place
//! that spawns.

use crate::{context::Context, evaluate::evaluate, interruption::Interruption};
use juror_common::{
    event::Event,
    job::Job,
    queue::{Delivery, Disposition, Lane, QueueError},
    shutdown::Shutdown,
};
use std::sync::Arc;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

/// Most deliveries that a worker ever holds.
const MOST_DELIVERIES: usize = 640;

/// How a worker's work ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Why the run is paused, if it is: no call can succeed until a person does something.
    pub paused: Option<String>,
}

/// Why a worker could not go on. Jobs in hand were given back.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The ledger or the queue gave up.
    #[error(transparent)]
    Interrupted(#[from] Interruption),
    /// The queue gave up.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A job's task ended by a panic: a defect of this program.
    #[error("a job's task broke off, which is a defect of this program: {0}")]
    Task(#[from] JoinError),
}

/// Works until the queue is closed and empty, or until `shutdown.drain`; then what is in hand is
/// finished. With `shutdown.now` it is given back, and calls in flight are cancelled.
pub async fn run(context: Arc<Context>, shutdown: Shutdown) -> Result<Ended, WorkerError> {
    let mut jobs = context.jobs.subscribe(MOST_DELIVERIES).await?;
    let mut tasks = JoinSet::new();
    // Stops this worker alone: on a pause or an error, what is in hand is still finished.
    let stop = Shutdown { drain: shutdown.drain.child_token(), now: shutdown.now.clone() };
    let mut ending = Ending::default();
    loop {
        let has_room = tasks.len() < jobs_in_hand(context.concurrency.limit());
        tokio::select! {
            biased;
            () = stop.drain.cancelled() => break,
            Some(task) = tasks.join_next() => ending.note(task, &stop.drain),
            delivery = jobs.next(), if has_room => {
                let Some(delivery) = delivery? else { break };
                tasks.spawn(work(delivery, Arc::clone(&context), stop.clone()));
            }
        }
    }
    while let Some(task) = tasks.join_next().await {
        ending.note(task, &stop.drain);
    }
    let ended = ending.into_result()?;
    if let Some(reason) = &ended.paused {
        context.events.emit(Event::Paused { reason: reason.clone() }).await;
    }
    Ok(ended)
}

/// An eighth more than there may be calls: while so many are in flight, the others are made ready
/// for theirs, or are being stored. With few calls at once, jobs keep their order.
fn jobs_in_hand(calls: usize) -> usize {
    calls.saturating_add(calls / 8).min(MOST_DELIVERIES)
}

/// One delivery: judged, its result published, then acknowledged; given back if it was interrupted.
async fn work(
    delivery: Delivery<Job>,
    context: Arc<Context>,
    shutdown: Shutdown,
) -> Result<(), WorkerError> {
    let evaluated = evaluate(&delivery.message, &context, &shutdown).await;
    match evaluated {
        Ok(result) => match context.results.publish(result, Lane::Work).await {
            Ok(()) => Ok(delivery.acknowledge().await?),
            // At a hard stop nobody may be left to take it. It is stored: whoever claims the job
            // next publishes it.
            Err(_) if shutdown.now.is_cancelled() => Err(Interruption::Stopping.into()),
            Err(error) => Err(error.into()),
        },
        Err(Interruption::Overtaken) => Ok(delivery.acknowledge().await?),
        Err(interruption) => {
            delivery.settle(Disposition::GiveBack).await?;
            Err(interruption.into())
        }
    }
}

/// What is known of the end while tasks come home.
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
