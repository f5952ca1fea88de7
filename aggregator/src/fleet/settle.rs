//! Settles what is committed or set aside, while the next batch is written.

use super::batch::Incoming;
use juror_common::{
    event::{Event, Events},
    queue::{Disposition, QueueError, acknowledge_all},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Deliveries that end, and how.
#[derive(Debug)]
pub(super) enum Settling {
    /// Committed, or committed before.
    Done(Vec<Incoming>),
    /// Not to be committed anywhere, for this reason.
    Aside(Vec<Incoming>, String),
}

/// Settles until nothing more comes, or until it is stopped.
pub(super) async fn settle(
    mut settling: mpsc::Receiver<Settling>,
    events: Events,
    stop: CancellationToken,
) {
    let all = async {
        while let Some(next) = settling.recv().await {
            if let Err(error) = settle_one(next).await {
                // They come again, and are seen to be duplicates or set aside then.
                let warning = format!("results could not be acknowledged: {error}");
                events.emit(Event::Warning(warning)).await;
            }
        }
    };
    stop.run_until_cancelled(all).await;
}

async fn settle_one(settling: Settling) -> Result<(), QueueError> {
    let (batch, reason) = match settling {
        Settling::Done(batch) => (batch, None),
        Settling::Aside(batch, reason) => (batch, Some(reason)),
    };
    let (mut results, mut dead) = (Vec::new(), Vec::new());
    for incoming in batch {
        match incoming {
            Incoming::Result(delivery) => results.push(delivery),
            // It lies among the dead letters in any case.
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
