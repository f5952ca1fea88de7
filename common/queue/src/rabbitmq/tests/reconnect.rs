//! Broken connections and an unavailable broker.

use super::{super::super::Delivery, proxy::AmqpProxy, *};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use juror_types::event::Event;
use std::collections::BTreeSet;

fn port() -> u16 {
    juror_services::rabbitmq::shared_port()
}

async fn next(subscription: &mut Box<dyn Subscription<Note>>) -> Delivery<Note> {
    subscription.next().await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repeated_connection_cuts_lose_nothing() {
    const NOTES: usize = 600;
    let (own, proxy) = (Own::new(), AmqpProxy::open(port()).await);
    let queues = own.connect(&proxy.url()).await;
    let queue = queues.queue::<Note>(Route::Jobs);
    let publishing = async {
        let publish =
            |number: usize| queue.publish(Note::new(&number.to_string()), Priority::Normal);
        let mut waiting = (0..NOTES).map(publish).collect::<FuturesUnordered<_>>();
        let mut published = 0;
        while let Some(confirmed) = waiting.next().await {
            confirmed.unwrap();
            published += 1;
            if published % 140 == 0 {
                proxy.cut();
            }
        }
    };
    let receiving = async {
        let mut subscription = queue.subscribe(50).await.unwrap();
        let (mut names, mut received) = (BTreeSet::new(), 0);
        while names.len() < NOTES {
            let delivery = next(&mut subscription).await;
            names.insert(delivery.message.message_id());
            received += 1;
            if received % 250 == 0 {
                proxy.cut();
            }
            delivery.acknowledge().await.unwrap();
        }
    };
    tokio::join!(publishing, receiving);
    queues.close().await;
}

#[tokio::test]
async fn messages_of_a_dead_consumer_are_redelivered_and_marked() {
    let (own, proxy) = (Own::new(), AmqpProxy::open(port()).await);
    let (dying, living) = (own.connect(&proxy.url()).await, own.connect(&broker_url()).await);
    let queue = living.queue::<Note>(Route::Jobs);
    queue.publish(Note::new("one"), Priority::High).await.unwrap();
    let mut dead = dying.queue::<Note>(Route::Jobs).subscribe(10).await.unwrap();
    let held = next(&mut dead).await;
    proxy.shut();
    let mut subscription = queue.subscribe(10).await.unwrap();
    let again = next(&mut subscription).await;
    assert_eq!(((*again.message).clone(), again.priority), (Note::new("one"), Priority::High));
    assert!(again.redelivered);
    // Ending deliveries of the old holder has no effect and is no error.
    held.acknowledge().await.unwrap();
    drop(again);
    next(&mut subscription).await.acknowledge().await.unwrap();
    dying.close().await;
    living.close().await;
}

#[tokio::test]
async fn subscription_resumes_when_the_broker_returns() {
    let (own, proxy) = (Own::new(), AmqpProxy::open(port()).await);
    let (events, mut reported) = Events::channel(100);
    let settings = own.settings(&proxy.url());
    let queues = RabbitQueues::connect(&settings, events).await.unwrap();
    let queue = queues.queue::<Note>(Route::Jobs);
    let mut subscription = queue.subscribe(10).await.unwrap();
    proxy.shut();
    // An idle subscription detects it too.
    assert!(matches!(reported.recv().await, Some(Event::Warning(_))));
    assert!(!queues.is_connected());
    let metrics = juror_telemetry::Metrics::recording();
    metrics.set_queue_depths(&[("work", 1)]);
    assert!(!queues.measure(&metrics).await);
    assert!(!metrics.render().contains("juror_queue_depth{"));
    let publishing = queue.publish(Note::new("meanwhile"), Priority::Normal);
    let returning = async {
        proxy.restore();
        next(&mut subscription).await
    };
    let (published, delivery) = tokio::join!(publishing, returning);
    published.unwrap();
    assert_eq!(*delivery.message, Note::new("meanwhile"));
    delivery.acknowledge().await.unwrap();
    queues.close().await;
}

#[tokio::test]
async fn late_broker_is_waited_for() {
    let (own, proxy) = (Own::new(), AmqpProxy::open(port()).await);
    proxy.shut();
    let (events, mut reported) = Events::channel(100);
    let settings = own.settings(&proxy.url());
    let arriving = async {
        let Some(Event::Warning(warning)) = reported.recv().await else {
            panic!("a warning expected")
        };
        assert!(warning.contains("retrying"), "{warning}");
        proxy.restore();
    };
    let (queues, ()) = tokio::join!(RabbitQueues::connect(&settings, events), arriving);
    queues.unwrap().close().await;
}

#[tokio::test]
async fn unreachable_broker_is_an_error_that_names_it() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let settings = RabbitSettings {
        url: format!("amqp://guest:guest@{address}"),
        tls: TlsFiles::default(),
        namespace: "unused".to_owned(),
        max_length: None,
        max_wait: Duration::ZERO,
    };
    let away = RabbitQueues::connect(&settings, Events::silent()).await.err().unwrap();
    assert!(matches!(away, QueueError::Unavailable(_)), "{away:?}");
    assert!(away.to_string().contains(&address.to_string()), "{away}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_broker_loses_nothing() {
    let starting = tokio::task::spawn_blocking(juror_services::rabbitmq::Broker::start);
    let mut broker = starting.await.unwrap();
    let url = format!("amqp://guest:guest@127.0.0.1:{}", broker.port());
    let queues = Own::new().connect(&url).await;
    let queue = queues.queue::<Note>(Route::Jobs);
    queue.publish(Note::new("before"), Priority::Normal).await.unwrap();
    let mut subscription = queue.subscribe(10).await.unwrap();
    let held = next(&mut subscription).await;
    let restarting = tokio::task::spawn_blocking(move || {
        broker.restart();
        broker
    });
    queue.publish(Note::new("meanwhile"), Priority::High).await.unwrap();
    let broker = restarting.await.unwrap();
    held.acknowledge().await.unwrap();
    let mut names = BTreeSet::new();
    while names.len() < 2 {
        let delivery = next(&mut subscription).await;
        names.insert(delivery.message.message_id());
        delivery.acknowledge().await.unwrap();
    }
    queues.close().await;
    tokio::task::spawn_blocking(|| drop(broker)).await.unwrap();
}
