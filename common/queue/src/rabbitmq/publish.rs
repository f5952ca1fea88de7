//! Publishing with confirms. One publisher per process keeps every message until the broker has
//! confirmed it, over as many connections as that takes.

use super::{super::QueueError, backoff::Backoff};
use crate::rabbitmq::{connection::BrokerConnection, message::Envelope};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use juror_types::event::{Event, Events};
use lapin::{Channel, Confirmation, message::BasicReturnMessage, options::BasicPublishOptions};
use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::sleep,
};

/// A message to publish, with the reply channel of its caller.
pub(super) struct PublishRequest {
    pub(super) letter: Envelope,
    pub(super) done: oneshot::Sender<Result<(), QueueError>>,
}

/// Messages to publish, and those not confirmed yet, oldest first.
pub(super) struct Publisher {
    requests: mpsc::Receiver<PublishRequest>,
    outstanding: BTreeMap<u64, Outstanding>,
    last_number: u64,
    /// Number of messages that were refused by full queues and not accepted since.
    pausing: usize,
    events: Events,
}

impl Publisher {
    pub(super) fn new(requests: mpsc::Receiver<PublishRequest>, events: Events) -> Self {
        Self { requests, outstanding: BTreeMap::new(), last_number: 0, pausing: 0, events }
    }

    /// Publishes over this connection until it fails, unconfirmed messages first.
    pub(super) async fn serve(&mut self, connection: &BrokerConnection) -> QueueError {
        let channel = match connection.confirming_channel().await {
            Ok(channel) => channel,
            Err(failure) => return failure,
        };
        let mut attempts = FuturesUnordered::new();
        // Returned messages by number. A return comes before its own confirm, but the library
        // attaches it to the next confirm of any message.
        let mut returned = HashMap::new();
        for (number, outstanding) in &self.outstanding {
            let letter = outstanding.request.letter.clone();
            attempts.push(attempt(&channel, *number, letter, Duration::ZERO));
        }
        loop {
            tokio::select! {
                biased;
                Some((number, answer)) = attempts.next() => {
                    let confirmation = match answer {
                        Ok(confirmation) => confirmation,
                        Err(error) => return connection.fail(&error),
                    };
                    if let Some((letter, pause)) =
                        self.confirmed(number, confirmation, &mut returned).await
                    {
                        attempts.push(attempt(&channel, number, letter, pause));
                    }
                }
                Some(request) = self.requests.recv() => {
                    self.last_number += 1;
                    let letter = request.letter.clone();
                    attempts.push(attempt(&channel, self.last_number, letter, Duration::ZERO));
                    let outstanding = Outstanding { request, refusals: Backoff::for_full_queue() };
                    self.outstanding.insert(self.last_number, outstanding);
                }
                else => return connection.closed().await,
            }
        }
    }

    /// Refuses new messages and fails the waiting ones.
    pub(super) fn end(mut self, reason: &QueueError) {
        self.requests.close();
        let waiting = std::iter::from_fn(|| self.requests.try_recv().ok());
        let outstanding = std::mem::take(&mut self.outstanding).into_values();
        for request in outstanding.map(|outstanding| outstanding.request).chain(waiting) {
            // A caller that stopped waiting needs no reply.
            let _ = request.done.send(Err(reason.clone()));
        }
    }

    /// Handles a confirmation; returns the message to publish again and its pause, if any.
    async fn confirmed(
        &mut self,
        number: u64,
        confirmation: Confirmation,
        returned: &mut HashMap<u64, String>,
    ) -> Option<(Envelope, Duration)> {
        let accepted = confirmation.is_ack();
        if let Some(message) = confirmation.take_message() {
            returned.extend(number_of(&message).zip(Some(message.reply_text.to_string())));
        }
        if !accepted && !returned.contains_key(&number) {
            return self.refused(number).await;
        }
        let outstanding = self.outstanding.remove(&number)?;
        if outstanding.refusals.is_used() {
            self.pausing = self.pausing.saturating_sub(1);
        }
        let Envelope { exchange, routing_key, .. } = &outstanding.request.letter;
        let outcome = match returned.remove(&number) {
            None => Ok(()),
            Some(reason) => Err(QueueError::Refused(format!(
                "exchange {exchange:?} routes to no queue by the key {routing_key:?} ({reason}); \
                 restart this process, which declares missing queues"
            ))),
        };
        // A caller that stopped waiting needs no reply.
        let _ = outstanding.request.done.send(outcome);
        None
    }

    /// Handles a message that a queue refused: it is full, or cannot write now.
    async fn refused(&mut self, number: u64) -> Option<(Envelope, Duration)> {
        let outstanding = self.outstanding.get_mut(&number)?;
        let first = !outstanding.refusals.is_used();
        if outstanding.request.done.is_closed() {
            self.pausing = self.pausing.saturating_sub(usize::from(!first));
            self.outstanding.remove(&number);
            return None;
        }
        let letter = outstanding.request.letter.clone();
        let pause = outstanding.refusals.next();
        if first {
            self.pausing += 1;
            if self.pausing == 1 {
                let exchange = &letter.exchange;
                let warning = format!(
                    "the queue behind {exchange} is full or has \
                     no leader: publishing pauses until it accepts messages"
                );
                self.events.emit(Event::Warning(warning)).await;
            }
        }
        Some((letter, pause))
    }
}

struct Outstanding {
    request: PublishRequest,
    refusals: Backoff,
}

/// The broker's confirmation of a message, with its number.
type NumberedConfirmation = (u64, lapin::Result<Confirmation>);

/// Publishes one message after a pause and waits for its confirmation.
async fn attempt(
    channel: &Channel,
    number: u64,
    letter: Envelope,
    pause: Duration,
) -> NumberedConfirmation {
    if !pause.is_zero() {
        sleep(pause).await;
    }
    let options = BasicPublishOptions { mandatory: true, ..Default::default() };
    let properties = letter.properties(number);
    let Envelope { exchange, routing_key, payload, .. } = letter;
    let publishing =
        channel.basic_publish(exchange, routing_key, options, &payload, properties).await;
    match publishing {
        Ok(confirm) => (number, confirm.await),
        Err(error) => (number, Err(error)),
    }
}

fn number_of(returned: &BasicReturnMessage) -> Option<u64> {
    returned.delivery.properties.correlation_id().as_ref()?.as_str().parse().ok()
}
