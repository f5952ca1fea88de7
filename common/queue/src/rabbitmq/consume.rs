//! Receiving. A subscription has its own channel with a consumer for each priority, and opens them
//! again over the next connection when they fail.

use super::{
    super::{
        AdapterDelivery as _, Delivery, Disposition, Message, Priority, QueueError, Subscription,
    },
    names::{Route, key},
    open_delivery::{OpenDelivery, REQUEUE},
    shared_connection::SharedConnection,
    unacknowledged_tags::Tags,
};
use crate::rabbitmq::{
    connection::BrokerConnection,
    message,
    priority_window::{OutstandingDelivery, PriorityWindow},
};
use async_trait::async_trait;
use futures_util::{FutureExt as _, StreamExt as _};
use lapin::{
    Consumer,
    options::{BasicConsumeOptions, BasicQosOptions},
    types::{FieldTable, ShortString},
};
use std::{future::poll_fn, sync::Arc, task::Poll, time::Duration};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep_until},
};

/// Time for which jobs of another schema version are held.
const OTHER_VERSION_DELAY: Duration = Duration::from_secs(10 * 60);

/// Parses a delivered message; the error is a message.
pub(super) type Decode<M> = fn(&lapin::message::Delivery) -> Result<M, String>;

pub(super) struct RabbitSubscription<M> {
    shared: Arc<SharedConnection>,
    route: Route,
    renders: bool,
    prefetch: u16,
    /// A permit for each further unacknowledged delivery.
    slots: Arc<Semaphore>,
    decode: Decode<M>,
    live: Option<OpenConsumers>,
    /// The last warning about jobs of another version.
    last_warning: Option<String>,
}

impl<M: Message> RabbitSubscription<M> {
    /// Subscribes, including messages that need rendering if `renders`; returns when the broker has
    /// accepted it.
    pub(super) async fn open(
        shared: Arc<SharedConnection>,
        (route, renders): (Route, bool),
        prefetch: usize,
        decode: Decode<M>,
    ) -> Result<Self, QueueError> {
        let prefetch = u16::try_from(prefetch.max(1)).unwrap_or(u16::MAX);
        let slots = Arc::new(Semaphore::new(prefetch.into()));
        let mut subscription = Self {
            shared,
            route,
            renders,
            prefetch,
            slots,
            decode,
            live: None,
            last_warning: None,
        };
        subscription.live = Some(subscription.resubscribe().await?);
        Ok(subscription)
    }

    /// Holds a job of another version for a worker of that version, or for this one after its
    /// update.
    async fn keep(&mut self, open: OpenDelivery, words: String) -> Result<(), QueueError> {
        if self.last_warning.as_ref() != Some(&words) {
            tracing::warn!("jobs are held for 10 minutes: {words}");
            self.last_warning = Some(words);
        }
        Box::new(open).end(Disposition::RetryAfter(OTHER_VERSION_DELAY)).await
    }

    async fn resubscribe(&self) -> Result<OpenConsumers, QueueError> {
        let queues = self.shared.namespace.queues(self.route, self.renders);
        let open = |connection| OpenConsumers::open(connection, &queues, self.prefetch);
        self.shared.over_connections(open).await
    }
}

#[async_trait]
impl<M: Message> Subscription<M> for RabbitSubscription<M> {
    async fn next(&mut self) -> Result<Option<Delivery<M>>, QueueError> {
        let Ok(slot) = Arc::clone(&self.slots).acquire_owned().await else { return Ok(None) };
        loop {
            let live = match &mut self.live {
                Some(live) => live,
                None => {
                    let live = self.resubscribe().await?;
                    self.live.insert(live)
                }
            };
            let Some((priority, counted, delivery)) = live.next().await else {
                self.live = None;
                continue;
            };
            let decoded = (self.decode)(&delivery);
            let redelivered = delivery.redelivered || message::was_delivered(&delivery.properties);
            let mut open =
                OpenDelivery::new(&self.shared, &live.tags, delivery, self.route, counted);
            match decoded {
                Ok(message) => {
                    open.delivery.routing_key = key(priority, message.needs_rendering()).into();
                    open.slot = Some(slot);
                    let message = Arc::new(message);
                    return Ok(Some(Delivery::new(message, priority, redelivered, Box::new(open))));
                }
                Err(problem) => match message::other_version(&open.delivery.data) {
                    Some(words) if self.route == Route::Jobs => self.keep(open, words).await?,
                    _ => dead_letter(open, self.route, problem).await?,
                },
            }
        }
    }

    async fn close(mut self: Box<Self>) {
        let Some(live) = self.live.take() else { return };
        if let Err(error) = live.close().await {
            // Messages that were sent here are redelivered.
            tracing::debug!(%error, "a subscription ended with its connection");
        }
    }
}

/// Consumers over one connection.
struct OpenConsumers {
    connection: Arc<BrokerConnection>,
    tags: Arc<Tags>,
    /// Consumers, those of the preferred priority first.
    consumers: Vec<QueueConsumer>,
}

/// The consumer of one queue.
struct QueueConsumer {
    priority: Priority,
    /// State of its queue, if it is the preferred one.
    preference: Option<Arc<PriorityWindow>>,
    consumer: Consumer,
}

impl OpenConsumers {
    async fn open(
        connection: Arc<BrokerConnection>,
        queues: &[(Priority, ShortString)],
        prefetch: u16,
    ) -> Result<Self, QueueError> {
        let channel = connection.channel().await?;
        let mut consumers = Vec::new();
        for (priority, queue) in queues.iter().cloned() {
            let preference =
                (priority == Priority::High).then(|| Arc::new(PriorityWindow::new(prefetch)));
            let prefetch = preference.as_ref().map_or(prefetch, |preference| preference.prefetch());
            // Applies to each later consumer separately.
            connection.during(channel.basic_qos(prefetch, BasicQosOptions::default())).await?;
            let options = BasicConsumeOptions::default();
            let arguments = FieldTable::default();
            let consuming = channel.basic_consume(queue, "".into(), options, arguments);
            let consumer = connection.during(consuming).await?;
            consumers.push(QueueConsumer { priority, preference, consumer });
        }
        let tags = Arc::new(Tags::new(Arc::clone(&connection), channel));
        Ok(Self { connection, tags, consumers })
    }

    /// The next delivery with its priority, and its count as outstanding if its queue is preferred;
    /// `None` when the connection has ended.
    async fn next(
        &mut self,
    ) -> Option<(Priority, Option<OutstandingDelivery>, lapin::message::Delivery)> {
        loop {
            let preferences = self.consumers.iter().filter_map(|queue| queue.preference.as_ref());
            let preferred = preferences.clone().count();
            let stale_since = preferences.filter_map(|preference| preference.stale_since()).min();
            let reached = if stale_since.is_some() { preferred } else { self.consumers.len() };
            let (consumers, _) = self.consumers.split_at_mut(reached);
            let (at, delivered) = tokio::select! {
                biased;
                _ = self.connection.closed() => return None,
                delivered = first_of(consumers) => delivered,
                () = sleep_until(stale_since.unwrap_or_else(Instant::now)), if stale_since.is_some() => continue,
            };
            match delivered {
                // A delivery that can no longer be ended is redelivered.
                Some(Ok(delivery)) if delivery.acker.usable() => {
                    let (priority, counted) = self.take_turn(at, preferred)?;
                    return Some((priority, counted, delivery));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    self.connection.fail(&error);
                    return None;
                }
                None => {
                    let queue = "a subscribed queue was deleted".to_owned();
                    self.connection.fail_as(QueueError::Unavailable(queue));
                    return None;
                }
            }
        }
    }

    /// Counts a delivery of this consumer, and moves the consumer behind the others of its
    /// priority.
    fn take_turn(
        &mut self,
        at: usize,
        preferred: usize,
    ) -> Option<(Priority, Option<OutstandingDelivery>)> {
        let QueueConsumer { priority, preference, .. } = self.consumers.get(at)?;
        let taken = (*priority, preference.as_ref().map(PriorityWindow::count));
        let end = if at < preferred { preferred } else { self.consumers.len() };
        self.consumers.get_mut(at..end)?.rotate_left(1);
        Some(taken)
    }

    /// Cancels the consumers, waits for the broker's confirmation, and then requeues their messages
    /// that were not handed out, so that none comes back here.
    async fn close(mut self) -> Result<(), QueueError> {
        for QueueConsumer { consumer, .. } in &self.consumers {
            self.connection.during(self.tags.cancel(consumer)).await?;
        }
        for delivery in self.undelivered() {
            self.connection.during(delivery.acker.nack(REQUEUE)).await?;
        }
        self.consumers.clear();
        Ok(())
    }

    /// Messages that were sent here and not handed out.
    fn undelivered(&mut self) -> Vec<lapin::message::Delivery> {
        let mut undelivered = Vec::new();
        for QueueConsumer { consumer, .. } in &mut self.consumers {
            while let Some(Some(Ok(delivery))) = consumer.next().now_or_never() {
                undelivered.push(delivery);
            }
        }
        undelivered
    }
}

impl Drop for OpenConsumers {
    /// Cancels the consumers, then requeues their messages that were not handed out. The frames of
    /// a channel arrive in the order in which they were written: a message that returned to a queue
    /// before its consumer is cancelled would be sent here again, up to its delivery limit.
    /// Messages in transit are requeued with the channel, after the last unacknowledged delivery.
    fn drop(&mut self) {
        if self.connection.is_over() {
            return;
        }
        for QueueConsumer { consumer, .. } in &self.consumers {
            // One poll hands the frame to the connection.
            let _ = self.tags.cancel(consumer).now_or_never();
        }
        for delivery in self.undelivered() {
            let _ = delivery.acker.nack(REQUEUE).now_or_never();
        }
    }
}

/// Dead-letters a message that this program cannot parse, so that it does not stop the others.
async fn dead_letter(open: OpenDelivery, route: Route, problem: String) -> Result<(), QueueError> {
    tracing::warn!(kind = route.kind(), "a message is dead-lettered: {problem}");
    let disposition = match route {
        Route::Jobs | Route::Results => Disposition::DeadLetter(problem),
        // The message is among the dead letters already.
        Route::Poison => Disposition::Acknowledge,
    };
    Box::new(open).end(disposition).await
}

/// The next delivery of the first consumer that has one, with the consumer's index.
async fn first_of(
    consumers: &mut [QueueConsumer],
) -> (usize, Option<lapin::Result<lapin::message::Delivery>>) {
    poll_fn(|context| {
        for (at, queue) in consumers.iter_mut().enumerate() {
            if let Poll::Ready(delivered) = queue.consumer.poll_next_unpin(context) {
                return Poll::Ready((at, delivered));
            }
        }
        Poll::Pending
    })
    .await
}
