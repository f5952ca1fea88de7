//! Dead letters, read without taking them away.

use super::{
    super::{DeadLetter, DeadLetters, Disposition, Message, Priority, QueueError},
    RabbitQueue, RabbitQueues,
    names::{Route, priority_of},
    shared::Shared,
};
use crate::rabbitmq::{
    connection::{BrokerConnection, OwnChannel},
    message,
    message::{Envelope, Received},
};
use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use juror_types::{job::Job, outcome::JobResult};
use lapin::{
    Consumer,
    message::Delivery,
    options::{
        BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicGetOptions,
        BasicNackOptions, BasicQosOptions,
    },
    types::{FieldTable, ShortString},
};
use std::{collections::BTreeSet, time::Duration};
use tokio::time::timeout;

/// Name of the consumer of one pass, which is the only one of its channel.
const CONSUMER: &str = "dead-letters";
/// Longest wait for a streamed letter before the broker is asked whether there is another one.
const STREAM_PAUSE: Duration = Duration::from_millis(100);

/// A dead letter of whatever kind, for a person to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDeadLetter {
    /// The id that it traveled under; empty if it had none.
    pub message_id: String,
    /// The priority that it came by.
    pub priority: Priority,
    /// Reason of its dead-lettering, in plain words.
    pub reason: String,
    /// Its content.
    pub content: DeadLetterBody,
}

/// Content of a dead letter.
#[derive(Clone, Debug, PartialEq)]
pub enum DeadLetterBody {
    /// A job.
    Job(Box<Job>),
    /// A result.
    Result(Box<JobResult>),
    /// Neither, as far as this program can tell.
    Unreadable(Vec<u8>),
}

impl RabbitQueues {
    /// Every dead letter of whatever kind, oldest first. They all lie in memory, and whoever lists
    /// at the same time may see fewer.
    pub fn dead_letters(&self) -> BoxFuture<'_, Result<Vec<StoredDeadLetter>, QueueError>> {
        Box::pin(async move {
            loop {
                let link = self.shared.link().await?;
                match kept_letters(&link, &self.shared).await {
                    Err(QueueError::Unavailable(_)) => {}
                    settled => return settled,
                }
            }
        })
    }
}

async fn kept_letters(
    link: &BrokerConnection,
    shared: &Shared,
) -> Result<Vec<StoredDeadLetter>, QueueError> {
    let mut letters = Vec::new();
    let mut reading = Reading::start(link, shared).await?;
    while let Some(dead) = reading.next().await? {
        let message_id = dead.properties.message_id().clone().unwrap_or_default();
        letters.push(StoredDeadLetter {
            message_id: message_id.to_string(),
            priority: priority_of(dead.routing_key.as_str()),
            reason: message::reason(&dead.properties),
            content: content(&dead),
        });
    }
    reading.end().await?;
    Ok(letters)
}

fn content(dead: &Delivery) -> DeadLetterBody {
    let of = |route| message::belongs_to(&dead.properties, route);
    if of(Route::Jobs)
        && let Ok(job) = message::decode(&dead.data)
    {
        return DeadLetterBody::Job(Box::new(job));
    }
    if of(Route::Results)
        && let Ok(result) = message::decode(&dead.data)
    {
        return DeadLetterBody::Result(Box::new(result));
    }
    DeadLetterBody::Unreadable(dead.data.clone())
}

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

    async fn replay(&self, message_ids: &BTreeSet<String>) -> Result<usize, QueueError> {
        let mut replayed = 0;
        loop {
            let link = self.shared.link().await?;
            match self.replay_over(&link, message_ids, &mut replayed).await {
                Err(QueueError::Unavailable(_)) => {}
                settled => return settled.map(|()| replayed),
            }
        }
    }

    async fn forget(
        &self,
        is_done: &(dyn for<'m> Fn(&'m M) -> bool + Sync),
    ) -> Result<usize, QueueError> {
        let mut forgotten = 0;
        loop {
            let link = self.shared.link().await?;
            match self.forget_over(&link, is_done, &mut forgotten).await {
                Err(QueueError::Unavailable(_)) => {}
                settled => return settled.map(|()| forgotten),
            }
        }
    }
}

impl<M: Message> RabbitQueue<M> {
    async fn list_over(&self, link: &BrokerConnection) -> Result<Vec<DeadLetter<M>>, QueueError> {
        let mut letters = Vec::new();
        let mut reading = Reading::start(link, &self.shared).await?;
        while let Some(dead) = reading.next().await? {
            if let Some(message) = self.message_of(&dead) {
                let priority = priority_of(dead.routing_key.as_str());
                let reason = message::reason(&dead.properties);
                let is_undelivered = message::is_undelivered(&dead.properties);
                letters.push(DeadLetter { message, priority, reason, is_undelivered });
            }
        }
        reading.end().await?;
        Ok(letters)
    }

    async fn replay_over(
        &self,
        link: &BrokerConnection,
        message_ids: &BTreeSet<String>,
        replayed: &mut usize,
    ) -> Result<(), QueueError> {
        let mut reading = Reading::start(link, &self.shared).await?;
        while let Some(dead) = reading.next().await? {
            let id = dead.properties.message_id().as_ref();
            if !message::belongs_to(&dead.properties, self.route)
                || id.is_none_or(|id| !message_ids.contains(id.as_str()))
            {
                continue;
            }
            self.send_again(&dead).await?;
            *replayed += 1;
            reading.take_off(&dead).await?;
        }
        reading.end().await
    }

    async fn forget_over(
        &self,
        link: &BrokerConnection,
        is_done: &(dyn for<'m> Fn(&'m M) -> bool + Sync),
        forgotten: &mut usize,
    ) -> Result<(), QueueError> {
        let mut reading = Reading::start(link, &self.shared).await?;
        while let Some(dead) = reading.next().await? {
            if self.message_of(&dead).is_some_and(|message| is_done(&message)) {
                reading.take_off(&dead).await?;
                *forgotten += 1;
            }
        }
        reading.end().await
    }

    /// The message, if it is one of this queue's and can be read.
    fn message_of(&self, dead: &Delivery) -> Option<M> {
        let ours = message::belongs_to(&dead.properties, self.route);
        message::decode(&dead.data).ok().filter(|_| ours)
    }

    async fn send_again(&self, dead: &Delivery) -> Result<(), QueueError> {
        let received = Received {
            payload: dead.data.clone().into(),
            message_id: dead.properties.message_id().clone().unwrap_or_default(),
            routing_key: dead.routing_key.clone(),
            route: self.route,
        };
        let namespace = &self.shared.namespace;
        let letter = Envelope::onward(&received, &Disposition::Requeue, namespace);
        self.shared.publish(letter, self.route).await
    }
}

/// One pass over the dead letters. What is not taken off in it goes back to where it was.
///
/// Letters are streamed by a consumer: asking for each one costs a quorum queue a write to disk.
struct Reading<'a> {
    link: &'a BrokerConnection,
    channel: OwnChannel,
    queue: ShortString,
    stream: Consumer,
    /// Letters that may still be streamed before the prefetch is used up.
    streamable: u16,
    /// The last letter that was read, unless it was taken off.
    current: Option<u64>,
    /// The last one before it that was not.
    kept: Option<u64>,
}

impl<'a> Reading<'a> {
    async fn start(link: &'a BrokerConnection, shared: &Shared) -> Result<Self, QueueError> {
        let (queue, channel) = (shared.namespace.dead(), link.channel().await?);
        link.during(channel.basic_qos(u16::MAX, BasicQosOptions::default())).await?;
        let consuming = channel.basic_consume(
            queue.clone(),
            CONSUMER.into(),
            BasicConsumeOptions::default(),
            FieldTable::default(),
        );
        let stream = link.during(consuming).await?;
        let streamable = u16::MAX;
        Ok(Self { link, channel, queue, stream, streamable, current: None, kept: None })
    }

    async fn next(&mut self) -> Result<Option<Delivery>, QueueError> {
        let mut found = self.streamed(STREAM_PAUSE).await?;
        if found.is_none() {
            let getting = self.channel.basic_get(self.queue.clone(), BasicGetOptions::default());
            found = self.link.during(getting).await?.map(|message| message.delivery);
        }
        if found.is_none() {
            // What was streamed before the answer that nothing is left.
            found = self.streamed(Duration::ZERO).await?;
        }
        self.kept = self.current.take().or(self.kept);
        self.current = found.as_ref().map(|dead| dead.delivery_tag);
        Ok(found)
    }

    /// The next letter of the stream, if it comes within this time.
    async fn streamed(&mut self, within: Duration) -> Result<Option<Delivery>, QueueError> {
        if self.streamable == 0 {
            return Ok(None);
        }
        let Ok(Some(delivery)) = timeout(within, self.stream.next()).await else { return Ok(None) };
        self.streamable -= 1;
        delivery.map(Some).map_err(|error| self.link.fail(&error))
    }

    /// Takes the letter off that was read last.
    async fn take_off(&mut self, dead: &Delivery) -> Result<(), QueueError> {
        self.current = None;
        self.link.during(dead.acker.ack(BasicAckOptions::default())).await.map(drop)
    }

    async fn end(self) -> Result<(), QueueError> {
        // Before anything goes back, or it would be streamed here again.
        let cancelling = self.channel.basic_cancel(CONSUMER.into(), BasicCancelOptions::default());
        self.link.during(cancelling).await?;
        // A tag that was acknowledged would end the channel.
        if let Some(tag) = self.current.or(self.kept) {
            let all = BasicNackOptions { multiple: true, requeue: true };
            self.link.during(self.channel.basic_nack(tag, all)).await?;
        }
        self.link.during(self.channel.close(200, "done".into())).await
    }
}
