//! Tests of broker-specific behavior.

use super::{
    super::super::{DeadLetters as _, Delivery, Disposition, HeldMessages as _, acknowledge_all},
    namespace::raw_connection,
    *,
};
use juror_types::{
    id::{Digest, RunId},
    item::Item,
    job::RubricReference,
    outcome::Outcome,
};
use lapin::{
    BasicProperties,
    options::{BasicPublishOptions, QueueDeleteOptions},
};

pub(super) fn job(name: &str) -> Job {
    let item = Item { id: name.to_owned(), ..Item::default() };
    let digest = Digest::from_content(b"rubric");
    let rubric = RubricReference { id: "semantic".to_owned(), version: 1, digest };
    Job::new(&RunId::new("run"), item, 0, rubric, None)
}

pub(super) async fn next<M>(subscription: &mut Box<dyn Subscription<M>>) -> Delivery<M>
where
    M: Message,
{
    subscription.next().await.unwrap().unwrap()
}

#[tokio::test]
async fn unroutable_job_is_an_error_that_names_the_exchange() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let queue = queues.queue::<Note>(Route::Jobs);
    let raw = raw_connection().await;
    let channel = raw.create_channel().await.unwrap();
    let name = own.name("work.hi");
    channel.queue_delete(name.into(), QueueDeleteOptions::default()).await.unwrap();
    let publishing = (0..200).map(|number| {
        let priority = if number % 3 == 0 { Priority::High } else { Priority::Normal };
        let publish = queue.publish(Note::new(&number.to_string()), priority);
        async move { (priority, publish.await) }
    });
    for (priority, published) in futures_util::future::join_all(publishing).await {
        match priority {
            Priority::Normal => published.unwrap(),
            Priority::High => {
                let refused = published.unwrap_err();
                assert!(matches!(refused, QueueError::Refused(_)), "{refused:?}");
                assert!(refused.to_string().contains(&own.name("jobs")), "{refused}");
            }
        }
    }
    raw.close(200, "done".into()).await.unwrap();
    queues.close().await;
}

#[tokio::test]
async fn queue_with_other_arguments_is_refused_by_name() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let settings = RabbitSettings { max_length: Some(5), ..own.settings(&broker_url()) };
    let refused = RabbitQueues::connect(&settings, Events::silent()).await.err().unwrap();
    assert!(matches!(refused, QueueError::Refused(_)), "{refused:?}");
    assert!(refused.to_string().contains(&own.name("work")), "{refused}");
    assert!(refused.to_string().contains("delete it"), "{refused}");
    queues.close().await;
}

#[tokio::test]
async fn wrong_password_is_refused_and_not_retried() {
    let own = Own::new();
    let url = broker_url().replace("guest:guest", "guest:wrong");
    let refused = RabbitQueues::connect(&own.settings(&url), Events::silent()).await.err().unwrap();
    assert!(matches!(refused, QueueError::Refused(_)), "{refused:?}");
    assert!(!refused.to_string().contains("wrong"), "{refused}");
}

#[tokio::test]
async fn unreadable_message_is_dead_lettered_and_delivery_continues() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let raw = raw_connection().await;
    let channel = raw.create_channel().await.unwrap();
    let options = BasicPublishOptions::default();
    let (exchange, properties) = (own.name("jobs").into(), BasicProperties::default());
    channel.basic_publish(exchange, "work".into(), options, b"{", properties).await.unwrap();
    raw.close(200, "done".into()).await.unwrap();
    let jobs = queues.jobs();
    jobs.publish(job("good"), Priority::Normal).await.unwrap();
    let mut subscription = jobs.subscribe(1).await.unwrap();
    let delivery = next(&mut subscription).await;
    assert_eq!(delivery.message.item.id, "good");
    // The aggregator receives it too and ignores it; the next one is a dead letter.
    let mut poison = queues.poison(1).await.unwrap();
    delivery.end(Disposition::DeadLetter("killed five workers".into())).await.unwrap();
    let dead = next(&mut poison).await;
    assert_eq!(dead.message.message.item.id, "good");
    assert_eq!(dead.message.reason, "killed five workers");
    dead.acknowledge().await.unwrap();
    assert_eq!(jobs.list().await.unwrap().len(), 1);
    let [unread, kept] = queues.dead_letters().await.unwrap().try_into().unwrap();
    assert_eq!(unread.content, DeadLetterBody::Unreadable(b"{".to_vec()));
    assert!(unread.reason.contains("it cannot be parsed"), "{}", unread.reason);
    assert_eq!(
        (kept.message_id.as_str(), kept.priority),
        (job("good").job_id.as_str(), Priority::Normal)
    );
    assert_eq!(kept.content, DeadLetterBody::Job(Box::new(job("good"))));
    // A completed dead letter is deleted, even if it is the only one.
    assert_eq!(jobs.remove_dead_letters(&|job| job.item.id == "good").await.unwrap(), 1);
    assert_eq!(queues.dead_letters().await.unwrap().len(), 1);
    drop((subscription, poison));
    queues.close().await;
}

#[tokio::test]
async fn ten_minute_delay_is_released_into_its_priority() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let jobs = queues.jobs();
    let mut subscription = jobs.subscribe(2).await.unwrap();
    for priority in [Priority::Normal, Priority::High] {
        jobs.publish(job(&format!("{priority:?}")), priority).await.unwrap();
        let delivery = next(&mut subscription).await;
        delivery.end(Disposition::RetryAfter(Duration::from_secs(600))).await.unwrap();
    }
    assert_eq!(jobs.release_held().await.unwrap(), 2);
    for _ in 0..2 {
        let delivery = next(&mut subscription).await;
        assert_eq!(delivery.message.item.id, format!("{:?}", delivery.priority));
        delivery.acknowledge().await.unwrap();
    }
    assert_eq!(jobs.release_held().await.unwrap(), 0);
    drop(subscription);
    queues.close().await;
}

#[tokio::test]
async fn job_of_another_version_is_kept_for_compatible_workers() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let raw = raw_connection().await;
    let channel = raw.create_channel().await.unwrap();
    let newer = br#"{"schema": 2, "run_id": "nightly", "shape": "another"}"#;
    let (exchange, options) = (own.name("jobs").into(), BasicPublishOptions::default());
    let properties = BasicProperties::default();
    channel.basic_publish(exchange, "work".into(), options, newer, properties).await.unwrap();
    raw.close(200, "done".into()).await.unwrap();
    let words = message::other_version(newer).unwrap();
    assert!(words.contains("run nightly") && words.contains("schema 2"), "{words}");
    assert!(words.contains("reads schema 1"), "{words}");
    assert_eq!(message::other_version(br#"{"schema": 1, "run_id": "nightly"}"#), None);
    let jobs = queues.jobs();
    jobs.publish(job("good"), Priority::Normal).await.unwrap();
    let mut subscription = jobs.subscribe(1).await.unwrap();
    next(&mut subscription).await.acknowledge().await.unwrap();
    assert!(queues.dead_letters().await.unwrap().is_empty());
    let depths = queues.depths().await.unwrap();
    assert!(depths.contains(&("hold.10m", 1)), "{depths:?}");
    drop(subscription);
    queues.close().await;
}

#[tokio::test]
async fn results_use_their_own_queue_and_are_never_delayed() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let results = queues.results();
    let result = JobResult::empty(&job("one"), Outcome::Scored);
    results.publish(result.clone(), Priority::Normal).await.unwrap();
    let mut subscription = results.subscribe(10).await.unwrap();
    let delivery = next(&mut subscription).await;
    let delayed = delivery.end(Disposition::RetryAfter(Duration::ZERO)).await;
    assert!(matches!(delayed, Err(QueueError::Refused(_))), "{delayed:?}");
    let delivery = next(&mut subscription).await;
    assert!(delivery.redelivered);
    delivery.end(Disposition::DeadLetter("of no run".into())).await.unwrap();
    let dead = results.list().await.unwrap();
    assert_eq!(dead.len(), 1);
    assert_eq!((&dead[0].message, dead[0].reason.as_str()), (&result, "of no run"));
    assert!(queues.jobs().list().await.unwrap().is_empty());
    let [kept] = queues.dead_letters().await.unwrap().try_into().unwrap();
    assert_eq!(kept.content, DeadLetterBody::Result(Box::new(result.clone())));
    assert_eq!(results.replay(&[result.message_id()].into()).await.unwrap(), 1);
    let delivery = next(&mut subscription).await;
    assert_eq!(*delivery.message, result);
    delivery.acknowledge().await.unwrap();
    queues.close().await;
}

#[tokio::test]
async fn batch_acknowledgement_leaves_unsettled_results_between() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let results = queues.results();
    let mut subscription = results.subscribe(100).await.unwrap();
    let mut deliveries = Vec::new();
    for number in 0..20 {
        let result = JobResult::empty(&job(&number.to_string()), Outcome::Scored);
        results.publish(result, Priority::Normal).await.unwrap();
        deliveries.push(next(&mut subscription).await);
    }
    let after = deliveries.split_off(15);
    let kept = deliveries.remove(7);
    acknowledge_all(deliveries).await.unwrap();
    kept.end(Disposition::Requeue).await.unwrap();
    let again = next(&mut subscription).await;
    assert_eq!((again.message.screenshot_id.as_str(), again.redelivered), ("7", true));
    acknowledge_all(after.into_iter().chain([again])).await.unwrap();
    // Unacknowledged messages are redelivered to the next connection, before later ones.
    queues.close().await;
    let queues = own.connect(&broker_url()).await;
    let last = JobResult::empty(&job("last"), Outcome::Scored);
    queues.results().publish(last, Priority::Normal).await.unwrap();
    let mut subscription = queues.results().subscribe(100).await.unwrap();
    let delivery = next(&mut subscription).await;
    assert_eq!(delivery.message.screenshot_id, "last");
    delivery.acknowledge().await.unwrap();
    queues.close().await;
}

#[tokio::test]
async fn ended_subscription_frees_the_single_active_consumer() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let results = queues.results();
    for number in 0..3 {
        // Results have a single active consumer, so the previous one must be gone.
        let mut subscription = results.subscribe(10).await.unwrap();
        let result = JobResult::empty(&job(&number.to_string()), Outcome::Scored);
        results.publish(result.clone(), Priority::Normal).await.unwrap();
        let delivery = next(&mut subscription).await;
        assert_eq!(*delivery.message, result);
        drop(subscription);
        delivery.acknowledge().await.unwrap();
    }
    queues.close().await;
}

#[tokio::test]
async fn dead_letter_order_survives_repeated_listing() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let queue = queues.queue::<Note>(Route::Jobs);
    let mut subscription = queue.subscribe(1).await.unwrap();
    for name in ["one", "two", "three"] {
        queue.publish(Note::new(name), Priority::Normal).await.unwrap();
        let delivery = next(&mut subscription).await;
        delivery.end(Disposition::DeadLetter(name.to_owned())).await.unwrap();
    }
    // Beyond the default delivery limit of a version 4 broker.
    for _ in 0..25 {
        let dead = queue.list().await.unwrap();
        let reasons = dead.iter().map(|dead| dead.reason.as_str()).collect::<Vec<_>>();
        assert_eq!(reasons, ["one", "two", "three"]);
    }
    assert_eq!(queue.replay(&["two".to_owned()].into()).await.unwrap(), 1);
    assert_eq!(queue.list().await.unwrap().len(), 2);
    queues.close().await;
}

#[tokio::test]
async fn depths_count_ready_messages_of_each_queue() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let queue = queues.queue::<Note>(Route::Jobs);
    for name in ["one", "two", "three"] {
        queue.publish(Note::new(name), Priority::Normal).await.unwrap();
    }
    queue.publish(Note::new("four"), Priority::High).await.unwrap();
    let depths = queues.depths().await.unwrap();
    let known = |depths: &[(&str, u32)], queue: &str| {
        depths.iter().find(|(name, _)| *name == queue).map(|(_, ready)| *ready)
    };
    assert_eq!(depths.len(), 12, "{depths:?}");
    assert_eq!(known(&depths, "work"), Some(3));
    assert_eq!(known(&depths, "work.hi"), Some(1));
    assert_eq!(known(&depths, "results"), Some(0));

    let mut subscription = queue.subscribe(10).await.unwrap();
    let later = Disposition::RetryAfter(Duration::from_secs(600));
    next(&mut subscription).await.end(later).await.unwrap();
    let metrics = juror_telemetry::Metrics::recording();
    assert!(queues.measure(&metrics).await);
    let text = metrics.render();
    for sample in ["{queue=\"hold.10m\"} 1\n", "{queue=\"dead\"} 0\n"] {
        assert!(text.contains(sample), "{text}");
    }
    drop(subscription);
    queues.close().await;
}

#[tokio::test]
async fn closing_ends_all_waiters() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let queue = queues.queue::<Note>(Route::Jobs);
    let mut subscription = queue.subscribe(1).await.unwrap();
    queue.publish(Note::new("one"), Priority::Normal).await.unwrap();
    let out = next(&mut subscription).await;
    let mut idle = queue.subscribe(1).await.unwrap();
    let (ended, ()) = tokio::join!(idle.next(), queues.close());
    assert!(matches!(ended, Err(QueueError::Closed)), "{ended:?}");
    assert!(matches!(queue.subscribe(1).await.err(), Some(QueueError::Closed)));
    let late = queue.publish(Note::new("two"), Priority::Normal).await;
    assert!(matches!(late, Err(QueueError::Closed)), "{late:?}");
    // It will be redelivered, although its holder completed it.
    out.acknowledge().await.unwrap();
}

#[tokio::test]
async fn ended_subscription_requeues_none_of_its_messages() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let queue = queues.queue::<Note>(Route::Jobs);
    let mut subscription = queue.subscribe(10).await.unwrap();
    for number in 0..10 {
        queue.publish(Note::new(&number.to_string()), Priority::Normal).await.unwrap();
    }
    // One message is unacknowledged, so that the channel stays open.
    let out = next(&mut subscription).await;
    subscription.close().await;
    loop {
        let depths = queues.depths().await.unwrap();
        let ready = |name| depths.iter().find(|(queue, _)| *queue == name).unwrap().1;
        assert_eq!(ready("dead"), 0, "they came back until their delivery limit");
        if ready("work") == 9 {
            break;
        }
    }
    out.acknowledge().await.unwrap();
    queues.close().await;
}
