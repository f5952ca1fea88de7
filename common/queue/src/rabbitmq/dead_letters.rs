//! Dead letters, read without removing them.

use super::{
    super::{DeadLetter, DeadLetters, Disposition, Message, Priority, QueueError},
    RabbitQueue, RabbitQueues,
    names::{Route, priority_of},
    shared_connection::SharedConnection,
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

/// Name of the consumer of one scan, the only one of its channel.
const CONSUMER: &str = "dead-letters";
/// Maximum wait for a streamed message before another one is requested from the broker.
const STREAM_PAUSE: Duration = Duration::from_millis(100);

/// A dead letter of any kind.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDeadLetter {
    /// Message id; empty if it has none.
    pub message_id: String,
    /// The priority by which it came.
    pub priority: Priority,
    /// Reason of its dead-lettering, as a message.
    pub reason: String,
    /// Content.
    pub content: DeadLetterBody,
}

/// Content of a dead letter.
#[derive(Clone, Debug, PartialEq)]
pub enum DeadLetterBody {
    /// A job.
    Job(Box<Job>),
    /// A result.
    Result(Box<JobResult>),
    /// Neither, or not parseable.
    Unreadable(Vec<u8>),
}

impl RabbitQueues {
    /// All dead letters of any kind, oldest first. They are all held in memory, and a concurrent
    /// listing may see fewer.
    pub fn dead_letters(&self) -> BoxFuture<'_, Result<Vec<StoredDeadLetter>, QueueError>> {
        Box::pin(async move {
            loop {
                let connection = self.shared.connection().await?;
                match read_dead_letters(&connection, &self.shared).await {
                    Err(QueueError::Unavailable(_)) => {}
                    ended => return ended,
                }
            }
        })
    }
}

#[async_trait]
impl<M: Message> DeadLetters<M> for RabbitQueue<M> {
    /// Unparseable dead letters are left out. They are all held in memory, and a concurrent listing
    /// may see fewer.
    async fn list(&self) -> Result<Vec<DeadLetter<M>>, QueueError> {
        loop {
            let connection = self.shared.connection().await?;
            match self.list_over(&connection).await {
                Err(QueueError::Unavailable(_)) => {}
                ended => return ended,
            }
        }
    }

    async fn replay(&self, message_ids: &BTreeSet<String>) -> Result<usize, QueueError> {
        let mut replayed = 0;
        loop {
            let connection = self.shared.connection().await?;
            match self.replay_over(&connection, message_ids, &mut replayed).await {
                Err(QueueError::Unavailable(_)) => {}
                ended => return ended.map(|()| replayed),
            }
        }
    }

    async fn remove_dead_letters(
        &self,
        is_done: &(dyn for<'m> Fn(&'m M) -> bool + Sync),
    ) -> Result<usize, QueueError> {
        let mut forgotten = 0;
        loop {
            let connection = self.shared.connection().await?;
            match self.remove_over(&connection, is_done, &mut forgotten).await {
                Err(QueueError::Unavailable(_)) => {}
                ended => return ended.map(|()| forgotten),
            }
        }
    }
}

impl<M: Message> RabbitQueue<M> {
    async fn list_over(
        &self,
        connection: &BrokerConnection,
    ) -> Result<Vec<DeadLetter<M>>, QueueError> {
        let mut letters = Vec::new();
        let mut scan = DeadLetterScan::start(connection, &self.shared).await?;
        while let Some(dead) = scan.next().await? {
            if let Some(message) = self.message_of(&dead) {
                let priority = priority_of(dead.routing_key.as_str());
                let reason = message::reason(&dead.properties);
                let is_undelivered = message::is_undelivered(&dead.properties);
                letters.push(DeadLetter { message, priority, reason, is_undelivered });
            }
        }
        scan.end().await?;
        Ok(letters)
    }

    async fn replay_over(
        &self,
        connection: &BrokerConnection,
        message_ids: &BTreeSet<String>,
        replayed: &mut usize,
    ) -> Result<(), QueueError> {
        let mut scan = DeadLetterScan::start(connection, &self.shared).await?;
        while let Some(dead) = scan.next().await? {
            let id = dead.properties.message_id().as_ref();
            if !message::belongs_to(&dead.properties, self.route)
                || id.is_none_or(|id| !message_ids.contains(id.as_str()))
            {
                continue;
            }
            self.send_again(&dead).await?;
            *replayed += 1;
            scan.acknowledge_dead(&dead).await?;
        }
        scan.end().await
    }

    async fn remove_over(
        &self,
        connection: &BrokerConnection,
        is_done: &(dyn for<'m> Fn(&'m M) -> bool + Sync),
        forgotten: &mut usize,
    ) -> Result<(), QueueError> {
        let mut scan = DeadLetterScan::start(connection, &self.shared).await?;
        while let Some(dead) = scan.next().await? {
            if self.message_of(&dead).is_some_and(|message| is_done(&message)) {
                scan.acknowledge_dead(&dead).await?;
                *forgotten += 1;
            }
        }
        scan.end().await
    }

    /// The message, if it belongs to this queue and can be parsed.
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
        let letter = Envelope::republished(&received, &Disposition::Requeue, namespace);
        self.shared.publish(letter, self.route).await
    }
}

/// One pass over the dead letters. Remaining letters are requeued at its end.
///
/// The letters are streamed by a consumer: a separate get costs a quorum queue a disk write each.
struct DeadLetterScan<'a> {
    connection: &'a BrokerConnection,
    channel: OwnChannel,
    queue: ShortString,
    stream: Consumer,
    /// Remaining prefetch of the stream.
    streamable: u16,
    /// Tag of the last letter, unless it was removed.
    current: Option<u64>,
    /// Tag of the last letter before it that was not removed.
    kept: Option<u64>,
}

impl<'a> DeadLetterScan<'a> {
    async fn start(
        connection: &'a BrokerConnection,
        shared: &SharedConnection,
    ) -> Result<Self, QueueError> {
        let (queue, channel) = (shared.namespace.dead(), connection.channel().await?);
        connection.during(channel.basic_qos(u16::MAX, BasicQosOptions::default())).await?;
        let consuming = channel.basic_consume(
            queue.clone(),
            CONSUMER.into(),
            BasicConsumeOptions::default(),
            FieldTable::default(),
        );
        let stream = connection.during(consuming).await?;
        let streamable = u16::MAX;
        Ok(Self { connection, channel, queue, stream, streamable, current: None, kept: None })
    }

    async fn next(&mut self) -> Result<Option<Delivery>, QueueError> {
        let mut found = self.streamed(STREAM_PAUSE).await?;
        if found.is_none() {
            let getting = self.channel.basic_get(self.queue.clone(), BasicGetOptions::default());
            found = self.connection.during(getting).await?.map(|message| message.delivery);
        }
        if found.is_none() {
            // Letters that were streamed before the reply that the queue is empty.
            found = self.streamed(Duration::ZERO).await?;
        }
        self.kept = self.current.take().or(self.kept);
        self.current = found.as_ref().map(|dead| dead.delivery_tag);
        Ok(found)
    }

    /// The next streamed letter, if it comes within this time.
    async fn streamed(&mut self, within: Duration) -> Result<Option<Delivery>, QueueError> {
        if self.streamable == 0 {
            return Ok(None);
        }
        let Ok(Some(delivery)) = timeout(within, self.stream.next()).await else { return Ok(None) };
        self.streamable -= 1;
        delivery.map(Some).map_err(|error| self.connection.fail(&error))
    }

    /// Removes the letter that was read last.
    async fn acknowledge_dead(&mut self, dead: &Delivery) -> Result<(), QueueError> {
        self.current = None;
        self.connection.during(dead.acker.ack(BasicAckOptions::default())).await.map(drop)
    }

    async fn end(self) -> Result<(), QueueError> {
        // The consumer ends before letters are requeued, which would otherwise be streamed here
        // again.
        let cancelling = self.channel.basic_cancel(CONSUMER.into(), BasicCancelOptions::default());
        self.connection.during(cancelling).await?;
        // An acknowledged tag would close the channel.
        if let Some(tag) = self.current.or(self.kept) {
            let all = BasicNackOptions { multiple: true, requeue: true };
            self.connection.during(self.channel.basic_nack(tag, all)).await?;
        }
        self.connection.during(self.channel.close(200, "done".into())).await
    }
}

async fn read_dead_letters(
    connection: &BrokerConnection,
    shared: &SharedConnection,
) -> Result<Vec<StoredDeadLetter>, QueueError> {
    let mut letters = Vec::new();
    let mut scan = DeadLetterScan::start(connection, shared).await?;
    while let Some(dead) = scan.next().await? {
        let message_id = dead.properties.message_id().clone().unwrap_or_default();
        letters.push(StoredDeadLetter {
            message_id: message_id.to_string(),
            priority: priority_of(dead.routing_key.as_str()),
            reason: message::reason(&dead.properties),
            content: content(&dead),
        });
    }
    scan.end().await?;
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
