//! Unacknowledged deliveries of one channel by their tags, and acknowledgement of many in one
//! frame.

use super::super::{QueueError, acknowledge_many::Batch};
use crate::rabbitmq::connection::{BrokerConnection, OwnChannel};
use async_trait::async_trait;
use lapin::{
    Consumer,
    options::{BasicAckOptions, BasicCancelOptions},
};
use parking_lot::Mutex;
use std::{collections::BTreeSet, sync::Arc};

/// A channel, kept open while it has unacknowledged deliveries, and their tags.
pub(super) struct Tags {
    pub(super) connection: Arc<BrokerConnection>,
    channel: OwnChannel,
    /// Tags of deliveries that were handed out and whose end is not sent yet. A frame that
    /// acknowledges all up to a tag must not include any of these.
    out: Mutex<BTreeSet<u64>>,
}

impl Tags {
    pub(super) fn new(connection: Arc<BrokerConnection>, channel: OwnChannel) -> Self {
        Self { connection, channel, out: Mutex::default() }
    }

    pub(super) fn add(&self, tag: u64) {
        self.out.lock().insert(tag);
    }

    /// Cancels a consumer of the channel; returns when the broker has confirmed it.
    pub(super) async fn cancel(&self, consumer: &Consumer) -> lapin::Result<()> {
        self.channel.basic_cancel(consumer.tag(), BasicCancelOptions::default()).await
    }

    /// Marks a delivery whose end is being sent.
    pub(super) fn ended(&self, tag: u64) {
        self.out.lock().remove(&tag);
    }

    /// Sends the acknowledgements of these tags (ascending): one frame for all up to the last
    /// possible one, and one for each beyond.
    async fn send(&self, tags: &[u64]) -> Result<(), QueueError> {
        let reach = reach(&self.out.lock(), tags);
        if let Some(last) = reach {
            self.send_one(last, true).await?;
        }
        for tag in tags.iter().filter(|tag| Some(**tag) > reach) {
            self.send_one(*tag, false).await?;
        }
        Ok(())
    }

    async fn send_one(&self, tag: u64, multiple: bool) -> Result<(), QueueError> {
        let options = BasicAckOptions { multiple };
        self.connection.during(self.channel.basic_ack(tag, options)).await
    }
}

#[async_trait]
impl Batch for Tags {
    async fn acknowledge(&self, mut tags: Vec<u64>) -> Result<(), QueueError> {
        tags.sort_unstable();
        if let Err(error) = self.send(&tags).await {
            // As for a single delivery: they are redelivered, which is no error of the caller.
            tracing::debug!(%error, "the deliveries' connection is lost; they will be redelivered");
        }
        self.out.lock().retain(|tag| tags.binary_search(tag).is_err());
        Ok(())
    }
}

/// The last of these tags (ascending) below which no other tag is unacknowledged.
fn reach(out: &BTreeSet<u64>, tags: &[u64]) -> Option<u64> {
    let mut others = out.iter().filter(|tag| tags.binary_search(tag).is_err());
    let bound = others.next().copied().unwrap_or(u64::MAX);
    tags.iter().copied().take_while(|tag| *tag < bound).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiple_acknowledgement_ends_before_the_first_unacknowledged_delivery() {
        let out = BTreeSet::from([3, 4, 5, 7, 8]);
        assert_eq!(reach(&out, &[3, 4, 5, 7, 8]), Some(8));
        assert_eq!(reach(&out, &[3, 4, 7, 8]), Some(4));
        assert_eq!(reach(&out, &[4, 5]), None);
        assert_eq!(reach(&out, &[]), None);
    }
}
