//! Early delivery of messages in the hold queues.

use super::{
    super::{Disposition, HeldMessages, Message, QueueError},
    RabbitQueue,
};
use crate::rabbitmq::{
    connection::{BrokerConnection, OwnChannel},
    message::Envelope,
};
use async_trait::async_trait;
use futures_util::future::try_join_all;
use lapin::{
    options::{BasicAckOptions, BasicGetOptions},
    types::ShortString,
};
use std::time::Duration;

/// Number of messages that are moved at a time.
const BATCH: u32 = 256;
/// Minimum delay of a hold queue that is released early; shorter ones end soon anyway.
const MIN_HOLD: Duration = Duration::from_secs(30);

#[async_trait]
impl<M: Message> HeldMessages for RabbitQueue<M> {
    async fn release_held(&self) -> Result<usize, QueueError> {
        let mut released = 0;
        let holds = self.shared.namespace.holds().filter(|(time, _)| *time >= MIN_HOLD);
        for (_, queue) in holds {
            released += self.release_from(queue).await?;
        }
        Ok(released)
    }
}

impl<M: Message> RabbitQueue<M> {
    /// Moves the messages that are in a hold queue now; later ones stay.
    async fn release_from(&self, queue: ShortString) -> Result<usize, QueueError> {
        let connection = self.shared.connection().await?;
        let channel = connection.channel().await?;
        let mut left = connection.inspect(&channel, queue.clone()).await?.message_count();
        let mut released = 0;
        while left > 0 {
            let moved = self.move_batch(&connection, &channel, &queue, left.min(BATCH)).await?;
            if moved == 0 {
                break;
            }
            left = left.saturating_sub(moved);
            released += moved as usize;
        }
        connection.during(channel.close(200, "done".into())).await?;
        Ok(released)
    }

    /// Publishes messages of a hold queue into their priorities, and then acknowledges them.
    async fn move_batch(
        &self,
        connection: &BrokerConnection,
        channel: &OwnChannel,
        queue: &ShortString,
        at_most: u32,
    ) -> Result<u32, QueueError> {
        let mut held = Vec::new();
        for _ in 0..at_most {
            let getting = channel.basic_get(queue.clone(), BasicGetOptions::default());
            let Some(message) = connection.during(getting).await? else { break };
            held.push(message);
        }
        let Some(last) = held.last().map(|message| message.delivery_tag) else { return Ok(0) };
        let count = u32::try_from(held.len()).unwrap_or(at_most);
        let publishing = held.into_iter().map(|message| {
            let namespace = &self.shared.namespace;
            let requeue = Disposition::Requeue;
            let letter = Envelope::republished(&message, self.route, &requeue, namespace);
            self.shared.publish(letter, self.route)
        });
        try_join_all(publishing).await?;
        let acknowledging = channel.basic_ack(last, BasicAckOptions { multiple: true });
        connection.during(acknowledging).await?;
        Ok(count)
    }
}
