//! Dead letters, read without taking them away.

use super::{
    super::{DeadLetter, DeadLetters, Disposition, Message, QueueError},
    RabbitQueue, envelope,
    envelope::{Letter, Received},
    link::Link,
    names::lane_of,
};
use async_trait::async_trait;
use lapin::{
    Channel,
    message::BasicGetMessage,
    options::{BasicAckOptions, BasicGetOptions, BasicNackOptions},
};

#[async_trait]
impl<M: Message> DeadLetters<M> for RabbitQueue<M> {
    /// Dead letters that this program cannot read are left out. They all lie in memory, and
    /// whoever lists at the same time may see fewer.
    async fn list(&self) -> Result<Vec<DeadLetter<M>>, QueueError> {
        loop {
            let link = self.shared.link().await?;
            match self.list_over(&link).await {
                Err(QueueError::Unavailable(_)) => {}
                settled => return settled,
            }
        }
    }

    async fn replay(&self, message_id: &str) -> Result<usize, QueueError> {
        let mut replayed = 0;
        loop {
            let link = self.shared.link().await?;
            match self.replay_over(&link, message_id, &mut replayed).await {
                Err(QueueError::Unavailable(_)) => {}
                settled => return settled.map(|()| replayed),
            }
        }
    }
}

impl<M: Message> RabbitQueue<M> {
    async fn list_over(&self, link: &Link) -> Result<Vec<DeadLetter<M>>, QueueError> {
        let mut letters = Vec::new();
        let mut reading = Reading::start(link).await?;
        while let Some(dead) = reading.next(self).await? {
            let message = envelope::decode(&dead.data);
            if envelope::belongs_to(&dead.properties, self.route)
                && let Ok(message) = message
            {
                let lane = lane_of(dead.routing_key.as_str());
                letters.push(DeadLetter {
                    message,
                    lane,
                    reason: envelope::reason(&dead.properties),
                });
            }
        }
        reading.end().await?;
        Ok(letters)
    }

    async fn replay_over(
        &self,
        link: &Link,
        message_id: &str,
        replayed: &mut usize,
    ) -> Result<(), QueueError> {
        let mut reading = Reading::start(link).await?;
        while let Some(dead) = reading.next(self).await? {
            let id = dead.properties.message_id().as_ref();
            if !envelope::belongs_to(&dead.properties, self.route)
                || id.is_none_or(|id| id.as_str() != message_id)
            {
                continue;
            }
            self.send_again(&dead).await?;
            *replayed += 1;
            link.during(dead.acker.ack(BasicAckOptions::default())).await?;
        }
        reading.end().await
    }

    async fn send_again(&self, dead: &BasicGetMessage) -> Result<(), QueueError> {
        let received = Received {
            payload: dead.data.clone().into(),
            message_id: dead.properties.message_id().clone().unwrap_or_default(),
            lane: lane_of(dead.routing_key.as_str()),
            route: self.route,
        };
        let namespace = &self.shared.namespace;
        let letter = Letter::onward(&received, &Disposition::GiveBack, namespace);
        self.shared.publish(letter, self.route).await
    }
}

/// One pass over the dead letters. What is not acknowledged in it goes back to where it was.
struct Reading<'a> {
    link: &'a Link,
    channel: Channel,
    last_tag: Option<u64>,
}

impl<'a> Reading<'a> {
    async fn start(link: &'a Link) -> Result<Self, QueueError> {
        Ok(Self { link, channel: link.channel().await?, last_tag: None })
    }

    async fn next<M>(
        &mut self,
        queue: &RabbitQueue<M>,
    ) -> Result<Option<BasicGetMessage>, QueueError> {
        let name = queue.shared.namespace.dead();
        let got =
            self.link.during(self.channel.basic_get(name, BasicGetOptions::default())).await?;
        self.last_tag = got.as_ref().map(|dead| dead.delivery_tag).or(self.last_tag);
        Ok(got)
    }

    async fn end(self) -> Result<(), QueueError> {
        if let Some(tag) = self.last_tag {
            let all = BasicNackOptions { multiple: true, requeue: true };
            self.link.during(self.channel.basic_nack(tag, all)).await?;
        }
        self.link.during(self.channel.close(200, "done".into())).await
    }
}
