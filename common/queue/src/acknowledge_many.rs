//! Acknowledgement of several deliveries in one step.

use super::{Delivery, Disposition, QueueError};
use async_trait::async_trait;
use futures_util::future::join_all;
use std::sync::Arc;

/// Acknowledges several deliveries of one subscription in fewer steps than one each.
#[async_trait]
pub trait Batch: Send + Sync {
    /// Acknowledges the deliveries with these numbers.
    async fn acknowledge(&self, numbers: Vec<u64>) -> Result<(), QueueError>;
}

/// A delivery that is acknowledged together with others.
pub struct Ticket {
    /// The batch of its subscription.
    pub batch: Arc<dyn Batch>,
    /// Number in the batch.
    pub number: u64,
}

/// Acknowledges deliveries of any subscriptions in as few steps as their adapter allows. Tries all
/// of them; returns the first error.
pub async fn acknowledge_all<M>(
    deliveries: impl IntoIterator<Item = Delivery<M>>,
) -> Result<(), QueueError> {
    let mut batches: Vec<(Arc<dyn Batch>, Vec<u64>)> = Vec::new();
    let mut single = Vec::new();
    // Their slots stay taken until they are acknowledged.
    let mut kept = Vec::new();
    for Delivery { mut adapter, .. } in deliveries {
        let Some(Ticket { batch, number }) = adapter.ticket() else {
            single.push(adapter.end(Disposition::Acknowledge));
            continue;
        };
        kept.push(adapter);
        match batches.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &batch)) {
            Some((_, numbers)) => numbers.push(number),
            None => batches.push((batch, vec![number])),
        }
    }
    let batches =
        batches.iter_mut().map(|(batch, numbers)| batch.acknowledge(std::mem::take(numbers)));
    let (together, alone) = tokio::join!(join_all(batches), join_all(single));
    drop(kept);
    together.into_iter().chain(alone).collect()
}
