//! Receives results and dead jobs, as fast as they are committed.

use super::incoming::Incoming;
use juror_queue::{DeadLetter, Delivery, Message, QueueError, Subscription};
use juror_types::{job::Job, outcome::JobResult};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Receives from both until no more come, until the receiver is gone, or until it is stopped;
/// messages that were not passed on are requeued with the subscriptions.
pub(super) async fn receive(
    results: Box<dyn Subscription<JobResult>>,
    dead: Box<dyn Subscription<DeadLetter<Job>>>,
    sender: mpsc::Sender<Incoming>,
    drain: CancellationToken,
) -> Result<(), QueueError> {
    // If one of them fails, the other is stopped.
    tokio::try_join!(
        receive_one(results, sender.clone(), drain.clone(), Incoming::Result),
        receive_one(dead, sender, drain, Incoming::Dead),
    )
    .map(drop)
}

/// Receives from one subscription in the same way.
pub(super) async fn receive_one<M: Message>(
    mut subscription: Box<dyn Subscription<M>>,
    sender: mpsc::Sender<Incoming>,
    drain: CancellationToken,
    make: fn(Delivery<M>) -> Incoming,
) -> Result<(), QueueError> {
    loop {
        let delivery = tokio::select! {
            biased;
            () = drain.cancelled() => return Ok(()),
            // The committer has failed and reports its own error.
            () = sender.closed() => return Ok(()),
            delivery = subscription.next() => delivery?,
        };
        let Some(delivery) = delivery else { return Ok(()) };
        if sender.send(make(delivery)).await.is_err() {
            return Ok(());
        }
    }
}
