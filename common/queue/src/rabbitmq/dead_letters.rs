//! Dead letters, read without removing them.

use super::{
    super::{DeadLetter, DeadLetters, Disposition, Message, Priority, QueueError},
    RabbitQueue, RabbitQueues,
    names::{Route, priority_of},
    shared_connection::SharedConnection,
};
use crate::rabbitmq::{
    connection::{BrokerConnection, OwnChannel},
    message::{self, Envelope},
};
use async_trait::async_trait;
use futures_util::{StreamExt as _, future::BoxFuture};
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
use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
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
    /// Content of the message.
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
        Box::pin(read_all(&self.shared, |dead| {
            Some(StoredDeadLetter {
                message_id: message::message_id(&dead.properties).to_string(),
                priority: priority_of(dead.routing_key.as_str()),
                reason: message::reason(&dead.properties),
                content: content(dead),
            })
        }))
    }
}

#[async_trait]
impl<M: Message> DeadLetters<M> for RabbitQueue<M> {
    /// Unparseable dead letters are left out. They are all held in memory, and a concurrent listing
    /// may see fewer.
    async fn list(&self) -> Result<Vec<DeadLetter<M>>, QueueError> {
        let route = self.route;
        read_all(&self.shared, move |dead| message::dead_letter(dead, route).ok()).await
    }

    async fn replay(&self, message_ids: &BTreeSet<String>) -> Result<usize, QueueError> {
        let is_named = |dead: &Delivery| {
            let id = dead.properties.message_id().as_ref();
            message::belongs_to(&dead.properties, self.route)
                && id.is_some_and(|id| message_ids.contains(id.as_str()))
        };
        self.remove_all(&is_named, true).await
    }

    async fn remove_dead_letters(
        &self,
        is_done: &(dyn for<'m> Fn(&'m M) -> bool + Sync),
    ) -> Result<usize, QueueError> {
        let is_done = |dead: &Delivery| {
            message::dead_letter(dead, self.route).is_ok_and(|dead| is_done(&dead.message))
        };
        self.remove_all(&is_done, false).await
    }
}

impl<M: Message> RabbitQueue<M> {
    /// Removes the dead letters that match, or moves them into their priorities; returns their
    /// number.
    async fn remove_all(
        &self,
        matches: &(dyn Fn(&Delivery) -> bool + Sync),
        is_replay: bool,
    ) -> Result<usize, QueueError> {
        let Self { shared, route, .. } = self;
        let removed = &AtomicUsize::new(0);
        let remove = move |connection| async move {
            let mut scan = DeadLetterScan::start(connection, shared).await?;
            while let Some(dead) = scan.next().await? {
                if !matches(&dead) {
                    continue;
                }
                if is_replay {
                    let (requeue, namespace) = (Disposition::Requeue, &shared.namespace);
                    let letter = Envelope::republished(&dead, *route, &requeue, namespace);
                    shared.publish(letter, *route).await?;
                }
                scan.acknowledge_dead(&dead).await?;
                removed.fetch_add(1, Ordering::Relaxed);
            }
            scan.end().await
        };
        shared.over_connections(remove).await?;
        Ok(removed.load(Ordering::Relaxed))
    }
}

/// One pass over the dead letters. Remaining letters are requeued at its end.
///
/// The letters are streamed by a consumer: a separate get costs a quorum queue a disk write each.
struct DeadLetterScan {
    connection: Arc<BrokerConnection>,
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

impl DeadLetterScan {
    async fn start(
        connection: Arc<BrokerConnection>,
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

/// Reads all dead letters, without those of which `read` makes none.
async fn read_all<T>(
    shared: &SharedConnection,
    read: impl Fn(&Delivery) -> Option<T>,
) -> Result<Vec<T>, QueueError> {
    let read = &read;
    let read_over = async move |connection| {
        let mut letters = Vec::new();
        let mut scan = DeadLetterScan::start(connection, shared).await?;
        while let Some(dead) = scan.next().await? {
            letters.extend(read(&dead));
        }
        scan.end().await?;
        Ok(letters)
    };
    shared.over_connections(read_over).await
}

fn content(dead: &Delivery) -> DeadLetterBody {
    if let Ok(job) = message::dead_letter(dead, Route::Jobs) {
        DeadLetterBody::Job(Box::new(job.message))
    } else if let Ok(result) = message::dead_letter(dead, Route::Results) {
        DeadLetterBody::Result(Box::new(result.message))
    } else {
        DeadLetterBody::Unreadable(dead.data.clone())
    }
}
