//! Conformance suite of a queue. An adapter's tests run [`every_queue`] through a [`Harness`].

mod dead_letters;
mod redelivery;

use super::{DeadLetters, Delivery, Message, Priority, Queue, Subscription, acknowledge_all};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

/// Setup of the queue under test.
#[async_trait]
pub trait Harness: Sync {
    /// The kind of queue.
    type Queue: Queue<Note> + DeadLetters<Note> + 'static;

    /// An unshared queue with capacity for at least 100 messages.
    async fn fresh(&self) -> Arc<Self::Queue>;

    /// An unshared queue whose capacity is far below 100 messages.
    async fn cramped(&self) -> Arc<Self::Queue>;

    /// Time without a message after which the suite assumes that none comes.
    fn silence(&self) -> Duration;

    /// A delay that the queue supports.
    fn delay(&self) -> Duration;
}

/// The suite's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note(String);

impl Note {
    /// Creates a note with this name.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl Message for Note {
    fn message_id(&self) -> String {
        self.0.clone()
    }

    fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }
}

/// Runs all checks.
pub async fn every_queue(harness: &impl Harness) {
    acknowledged_message_is_never_redelivered(harness).await;
    batch_acknowledgement_affects_no_other_message(harness).await;
    priorities_keep_order_and_high_comes_first(harness).await;
    high_priority_is_drained_first(harness).await;
    redelivery::dropped_delivery_is_redelivered_and_marked(harness).await;
    redelivery::requeued_message_is_redelivered_and_marked(harness).await;
    redelivery::delayed_retry_keeps_its_priority_and_frees_its_slot(harness).await;
    redelivery::shorter_delay_is_delivered_before_a_longer_one(harness).await;
    dead_letters::dead_letter_keeps_its_reason_until_replayed(harness).await;
    dead_letters::completed_dead_letter_is_deleted_and_no_other(harness).await;
    prefetch_limits_unacknowledged_messages(harness).await;
    several_subscriptions_share_the_messages(harness).await;
    ended_subscription_requeues_its_messages(harness).await;
    redelivery::both_priorities_survive_a_delay(harness).await;
    full_queue_blocks_publishers_until_space_is_free(harness).await;
}

async fn acknowledged_message_is_never_redelivered(harness: &impl Harness) {
    let queue = harness.fresh().await;
    let mut subscription = queue.subscribe(10).await.unwrap();
    publish(&*queue, "one", Priority::Normal).await;
    let delivery = expect_next(&mut subscription).await;
    assert_eq!((delivery.message.0.as_str(), delivery.redelivered), ("one", false));
    delivery.acknowledge().await.unwrap();
    expect_silence(harness, &mut subscription).await;
}

async fn batch_acknowledgement_affects_no_other_message(harness: &impl Harness) {
    let queue = harness.fresh().await;
    let mut subscription = queue.subscribe(10).await.unwrap();
    let mut deliveries = Vec::new();
    for (number, priority) in
        [(0, Priority::Normal), (1, Priority::High), (2, Priority::Normal), (3, Priority::High)]
    {
        publish(&*queue, &number.to_string(), priority).await;
        deliveries.push(expect_next(&mut subscription).await);
    }
    let kept = deliveries.remove(1);
    acknowledge_all(deliveries).await.unwrap();
    drop(kept);
    let again = expect_next(&mut subscription).await;
    assert_eq!(again.message.0, "1");
    acknowledge_all([again]).await.unwrap();
    expect_silence(harness, &mut subscription).await;
}

async fn priorities_keep_order_and_high_comes_first(harness: &impl Harness) {
    let queue = harness.fresh().await;
    publish(&*queue, "one", Priority::Normal).await;
    publish(&*queue, "two", Priority::Normal).await;
    publish(&*queue, "urgent", Priority::High).await;
    let mut subscription = queue.subscribe(1).await.unwrap();
    for (name, priority) in
        [("urgent", Priority::High), ("one", Priority::Normal), ("two", Priority::Normal)]
    {
        let delivery = expect_next(&mut subscription).await;
        assert_eq!((delivery.message.0.as_str(), delivery.priority), (name, priority));
        delivery.acknowledge().await.unwrap();
    }
}

async fn high_priority_is_drained_first(harness: &impl Harness) {
    let queue = harness.fresh().await;
    for number in 0..20 {
        publish(&*queue, &format!("ordinary {number}"), Priority::Normal).await;
        publish(&*queue, &format!("urgent {number}"), Priority::High).await;
    }
    let mut subscription = queue.subscribe(3).await.unwrap();
    let mut out = Vec::new();
    let mut priorities = Vec::new();
    for _ in 0..40 {
        // First one free slot at a time, then all of them.
        if out.len() == 3 {
            let ended = if priorities.len() < 10 { 1 } else { 3 };
            for delivery in out.drain(..ended).collect::<Vec<Delivery<Note>>>() {
                delivery.acknowledge().await.unwrap();
            }
        }
        let delivery = expect_next(&mut subscription).await;
        priorities.push(delivery.priority);
        out.push(delivery);
    }
    assert_eq!(priorities, [[Priority::High; 20], [Priority::Normal; 20]].concat());
}

async fn prefetch_limits_unacknowledged_messages(harness: &impl Harness) {
    let queue = harness.fresh().await;
    for number in 0..3 {
        publish(&*queue, &number.to_string(), Priority::Normal).await;
    }
    let mut subscription = queue.subscribe(2).await.unwrap();
    let first = expect_next(&mut subscription).await;
    let _second = expect_next(&mut subscription).await;
    expect_silence(harness, &mut subscription).await;
    first.acknowledge().await.unwrap();
    assert_eq!(expect_next(&mut subscription).await.message.0, "2");
}

async fn several_subscriptions_share_the_messages(harness: &impl Harness) {
    let queue = harness.fresh().await;
    let mut subscriptions = Vec::new();
    for _ in 0..4 {
        subscriptions.push(queue.subscribe(5).await.unwrap());
    }
    let publishing = async {
        for number in 0..80 {
            publish(&*queue, &number.to_string(), Priority::Normal).await;
        }
    };
    let (received, mut names) = mpsc::channel(80);
    let done = CancellationToken::new();
    let receiving = subscriptions.into_iter().map(|mut subscription| {
        let (received, done) = (received.clone(), done.clone());
        tokio::spawn(async move {
            while let Some(next) = done.run_until_cancelled(subscription.next()).await {
                let delivery = next.unwrap().expect("the queue is not closed");
                received.send(delivery.message.0.clone()).await.unwrap();
                delivery.acknowledge().await.unwrap();
            }
            subscription
        })
    });
    let receiving = receiving.collect::<Vec<_>>();
    publishing.await;
    let mut distinct = BTreeSet::new();
    while distinct.len() < 80 {
        assert!(distinct.insert(names.recv().await.unwrap()), "a message came twice");
    }
    done.cancel();
    for receiver in receiving {
        let mut subscription = receiver.await.unwrap();
        expect_silence(harness, &mut subscription).await;
    }
}

async fn ended_subscription_requeues_its_messages(harness: &impl Harness) {
    let queue = harness.fresh().await;
    let mut leaving = queue.subscribe(10).await.unwrap();
    let mut staying = queue.subscribe(10).await.unwrap();
    for number in 0..5 {
        publish(&*queue, &number.to_string(), Priority::Normal).await;
    }
    let taken = expect_next(&mut leaving).await;
    drop(leaving);
    drop(taken);
    let mut names = BTreeSet::new();
    while names.len() < 5 {
        let delivery = expect_next(&mut staying).await;
        names.insert(delivery.message.0.clone());
        delivery.acknowledge().await.unwrap();
    }
}

async fn full_queue_blocks_publishers_until_space_is_free(harness: &impl Harness) {
    let queue = harness.cramped().await;
    let mut numbers = 0..100;
    // A slow publish counts as a waiting one, which is harmless.
    let mut waiting = loop {
        let number = numbers.next().expect("the queue takes a hundred messages at once");
        let mut publishing = queue.publish(Note(number.to_string()), Priority::Normal);
        match timeout(harness.silence(), &mut publishing).await {
            Ok(published) => published.unwrap(),
            Err(_) => break publishing,
        }
    };
    let mut subscription = queue.subscribe(10).await.unwrap();
    let receiving = async {
        let mut names = BTreeSet::new();
        while names.len() < numbers.start {
            let delivery = expect_next(&mut subscription).await;
            names.insert(delivery.message.0.clone());
            delivery.acknowledge().await.unwrap();
        }
    };
    let (published, ()) = tokio::join!(&mut waiting, receiving);
    published.unwrap();
}

async fn publish(queue: &impl Queue<Note>, name: &str, priority: Priority) {
    queue.publish(Note::new(name), priority).await.unwrap();
}

async fn expect_next(subscription: &mut Box<dyn Subscription<Note>>) -> Delivery<Note> {
    subscription.next().await.unwrap().expect("the queue ended too early")
}

async fn expect_silence(harness: &impl Harness, subscription: &mut Box<dyn Subscription<Note>>) {
    if let Ok(next) = timeout(harness.silence(), subscription.next()).await {
        panic!("nothing should come, and this came: {next:?}");
    }
}
