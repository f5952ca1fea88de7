//! Acknowledgement of committed deliveries, and dead-lettering of others, while the next batch is
//! written.

use super::incoming::Incoming;
use juror_queue::{Disposition, QueueError, acknowledge_all};
use juror_types::event::{Event, Events};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Deliveries to end.
#[derive(Debug)]
pub(super) enum DeliveriesToEnd {
    /// Committed, or committed before.
    Done(Vec<Incoming>),
    /// To be dead-lettered, for this reason.
    DeadLetter(Vec<Incoming>, String),
}

/// Ends deliveries until the channel is closed, or until it is stopped.
pub(super) async fn end_deliveries(
    mut ending: mpsc::Receiver<DeliveriesToEnd>,
    events: Events,
    stop: CancellationToken,
) {
    let all = async {
        while let Some(next) = ending.recv().await {
            if let Err(error) = end_batch(next).await {
                // They are redelivered, and then recognized as duplicates or dead-lettered.
                let warning = format!("results could not be acknowledged: {error}");
                events.emit(Event::Warning(warning)).await;
            }
        }
    };
    stop.run_until_cancelled(all).await;
}

async fn end_batch(ending: DeliveriesToEnd) -> Result<(), QueueError> {
    let (batch, reason) = match ending {
        DeliveriesToEnd::Done(batch) => (batch, None),
        DeliveriesToEnd::DeadLetter(batch, reason) => (batch, Some(reason)),
    };
    let (mut results, mut dead) = (Vec::new(), Vec::new());
    for incoming in batch {
        match incoming {
            Incoming::Result(delivery) => results.push(delivery),
            // The job stays in the dead-letter queue.
            Incoming::Dead(delivery) => dead.push(delivery),
        }
    }
    acknowledge_all(dead).await?;
    let Some(reason) = reason else { return acknowledge_all(results).await };
    for delivery in results {
        delivery.end(Disposition::DeadLetter(reason.clone())).await?;
    }
    Ok(())
}
