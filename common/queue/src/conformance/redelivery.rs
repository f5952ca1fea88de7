//! Checks of immediate and delayed redeliveries.

use super::{Harness, expect_next, expect_silence, publish};
use crate::{Disposition, Priority, Queue};
use std::collections::BTreeSet;
use tokio::time::Instant;

pub(super) async fn dropped_delivery_is_redelivered_and_marked(harness: &impl Harness) {
    let queue = harness.fresh().await;
    publish(&*queue, "one", Priority::High).await;
    let mut subscription = queue.subscribe(1).await.unwrap();
    drop(expect_next(&mut subscription).await);
    let again = expect_next(&mut subscription).await;
    assert!(again.redelivered);
    assert_eq!(again.priority, Priority::High);
    // An end that is not awaited has no effect.
    drop(again.end(Disposition::Acknowledge));
    expect_next(&mut subscription).await.acknowledge().await.unwrap();
}

pub(super) async fn requeued_message_is_redelivered_and_marked(harness: &impl Harness) {
    let queue = harness.fresh().await;
    publish(&*queue, "one", Priority::Normal).await;
    let mut subscription = queue.subscribe(1).await.unwrap();
    let delivery = expect_next(&mut subscription).await;
    delivery.end(Disposition::Requeue).await.unwrap();
    let again = expect_next(&mut subscription).await;
    assert!(again.redelivered);
    again.acknowledge().await.unwrap();
    expect_silence(harness, &mut subscription).await;
}

pub(super) async fn delayed_retry_keeps_its_priority_and_frees_its_slot(harness: &impl Harness) {
    let queue = harness.fresh().await;
    publish(&*queue, "later", Priority::High).await;
    publish(&*queue, "meanwhile", Priority::Normal).await;
    let mut subscription = queue.subscribe(1).await.unwrap();
    let delivery = expect_next(&mut subscription).await;
    let ended_at = Instant::now();
    delivery.end(Disposition::RetryAfter(harness.delay())).await.unwrap();
    let meanwhile = expect_next(&mut subscription).await;
    assert_eq!(meanwhile.message.0, "meanwhile");
    meanwhile.acknowledge().await.unwrap();
    let again = expect_next(&mut subscription).await;
    assert_eq!((again.message.0.as_str(), again.priority), ("later", Priority::High));
    assert!(again.redelivered);
    assert!(ended_at.elapsed() >= harness.delay(), "a retry came before its time");
    again.acknowledge().await.unwrap();
}

pub(super) async fn shorter_delay_is_delivered_before_a_longer_one(harness: &impl Harness) {
    let queue = harness.fresh().await;
    publish(&*queue, "long", Priority::Normal).await;
    publish(&*queue, "short", Priority::Normal).await;
    let mut subscription = queue.subscribe(2).await.unwrap();
    let long = expect_next(&mut subscription).await;
    let short = expect_next(&mut subscription).await;
    long.end(Disposition::RetryAfter(harness.delay() * 100)).await.unwrap();
    let waiting = expect_next(&mut subscription);
    let ending = short.end(Disposition::RetryAfter(harness.delay()));
    let (first, ended) = tokio::join!(waiting, ending);
    ended.unwrap();
    assert_eq!(first.message.0, "short");
    first.acknowledge().await.unwrap();
}

pub(super) async fn both_priorities_survive_a_delay(harness: &impl Harness) {
    let queue = harness.fresh().await;
    let priorities = [("ordinary", Priority::Normal), ("urgent", Priority::High)];
    for (name, priority) in priorities {
        publish(&*queue, name, priority).await;
    }
    let mut subscription = queue.subscribe(2).await.unwrap();
    for _ in priorities {
        let delivery = expect_next(&mut subscription).await;
        delivery.end(Disposition::RetryAfter(harness.delay())).await.unwrap();
    }
    let mut came = BTreeSet::new();
    for _ in priorities {
        let delivery = expect_next(&mut subscription).await;
        assert!(delivery.redelivered);
        came.insert((delivery.message.0.clone(), delivery.priority == Priority::High));
        delivery.acknowledge().await.unwrap();
    }
    assert_eq!(came, BTreeSet::from([("ordinary".into(), false), ("urgent".into(), true)]));
}
