//! Settlement of committed and dead-lettered deliveries, while the next batch is written.

use super::incoming::Incoming;
use juror_queue::{Disposition, QueueError, acknowledge_all};
use juror_types::event::{Event, Events};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Deliveries to settle.
#[derive(Debug)]
pub(super) enum DeliverySettlement {
    /// Committed, or committed before.
    Done(Vec<Incoming>),
    /// To be dead-lettered, for this reason.
    DeadLetter(Vec<Incoming>, String),
}

/// Settles until the channel is closed, or until it is stopped.
pub(super) async fn settle(
    mut settling: mpsc::Receiver<DeliverySettlement>,
    events: Events,
    stop: CancellationToken,
) {
    let all = async {
        while let Some(next) = settling.recv().await {
            if let Err(error) = settle_one(next).await {
                // They are redelivered, and then recognized as duplicates or dead-lettered.
                let warning = format!("results could not be acknowledged: {error}");
                events.emit(Event::Warning(warning)).await;
            }
        }
    };
    stop.run_until_cancelled(all).await;
}

async fn settle_one(settling: DeliverySettlement) -> Result<(), QueueError> {
    let (batch, reason) = match settling {
        DeliverySettlement::Done(batch) => (batch, None),
        DeliverySettlement::DeadLetter(batch, reason) => (batch, Some(reason)),
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
        delivery.settle(Disposition::DeadLetter(reason.clone())).await?;
    }
    Ok(())
}
