//! Acknowledging many deliveries at once.

use super::{Delivery, Disposition, QueueError};
use async_trait::async_trait;
use futures_util::future::join_all;
use std::sync::Arc;

/// Acknowledgement of several deliveries of one subscription in fewer steps than one each.
#[async_trait]
pub trait Batch: Send + Sync {
    /// Acknowledges the deliveries of these numbers.
    async fn acknowledge(&self, numbers: Vec<u64>) -> Result<(), QueueError>;
}

/// A delivery that is to be acknowledged with others.
pub struct Ticket {
    /// Other deliveries that are acknowledged with this one.
    pub batch: Arc<dyn Batch>,
    /// Its number there.
    pub number: u64,
}

/// Acknowledges deliveries, of whatever subscriptions, in as few steps as their adapter can. Each
/// of them is tried; answers the first error.
pub async fn acknowledge_all<M>(
    deliveries: impl IntoIterator<Item = Delivery<M>>,
) -> Result<(), QueueError> {
    let mut batches: Vec<(Arc<dyn Batch>, Vec<u64>)> = Vec::new();
    let mut single = Vec::new();
    // Their places stay taken until they are acknowledged.
    let mut kept = Vec::new();
    for Delivery { mut settle, .. } in deliveries {
        let Some(Ticket { batch, number }) = settle.ticket() else {
            single.push(settle.settle(Disposition::Acknowledge));
            continue;
        };
        kept.push(settle);
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
