//! Rendering jobs, and receivers with and without a renderer.

use super::{
    super::super::{Delivery, Disposition},
    namespace::raw_connection,
    scenarios::{job, next},
    *,
};
use juror_types::evidence::EvidenceMode;
use lapin::{
    BasicProperties,
    options::{BasicPublishOptions, QueueDeclareOptions},
    types::FieldTable,
};

fn measured(name: &str) -> Job {
    Job { evidence: EvidenceMode::Facts, ..job(name) }
}

fn name(delivery: &Delivery<Job>) -> String {
    delivery.message.item.id.clone()
}

#[tokio::test]
async fn rendering_jobs_go_to_rendering_workers_after_a_delay_too() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let (drawing, plain) = (queues.jobs(), queues.jobs_without_rendering());
    drawing.publish(measured("drawn"), Priority::High).await.unwrap();
    drawing.publish(job("plain"), Priority::Normal).await.unwrap();
    let mut without = plain.subscribe(10).await.unwrap();
    assert_eq!(queues.workers().await.unwrap(), ConnectedWorkers { all: 1, rendering: 0 });
    let delivery = next(&mut without).await;
    assert_eq!(name(&delivery), "plain");
    delivery.acknowledge().await.unwrap();
    let mut with = drawing.subscribe(10).await.unwrap();
    assert_eq!(queues.workers().await.unwrap(), ConnectedWorkers { all: 2, rendering: 1 });
    let settings = own.settings(&broker_url());
    let seen = connected_workers(&settings).await.unwrap();
    assert_eq!(seen, ConnectedWorkers { all: 2, rendering: 1 });
    let delivery = next(&mut with).await;
    assert_eq!((name(&delivery), delivery.priority), ("drawn".to_owned(), Priority::High));
    delivery.end(Disposition::RetryAfter(Duration::from_secs(1))).await.unwrap();
    let delivery = next(&mut with).await;
    assert_eq!((name(&delivery), delivery.priority), ("drawn".to_owned(), Priority::High));
    delivery.acknowledge().await.unwrap();
    drop((without, with));
    queues.close().await;
}

#[tokio::test]
async fn rendering_job_without_renderers_is_delivered_to_others_and_requeued() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let raw = raw_connection().await;
    let channel = raw.create_channel().await.unwrap();
    // As after a long wait.
    let properties = BasicProperties::default().with_expiration("1".into());
    let payload = serde_json::to_vec(&measured("drawn")).unwrap();
    let (exchange, options) = (own.name("jobs"), BasicPublishOptions::default());
    let publishing =
        channel.basic_publish(exchange.into(), "draw.hi".into(), options, &payload, properties);
    publishing.await.unwrap().await.unwrap();
    let mut without = queues.jobs_without_rendering().subscribe(10).await.unwrap();
    let delivery = next(&mut without).await;
    assert_eq!((name(&delivery), delivery.priority), ("drawn".to_owned(), Priority::High));
    delivery.end(Disposition::RetryAfter(Duration::from_secs(1))).await.unwrap();
    let mut with = queues.jobs().subscribe(10).await.unwrap();
    let delivery = next(&mut with).await;
    assert_eq!((name(&delivery), delivery.priority), ("drawn".to_owned(), Priority::High));
    delivery.acknowledge().await.unwrap();
    raw.close(200, "done".into()).await.unwrap();
    drop((without, with));
    queues.close().await;
}

#[tokio::test]
async fn neither_kind_of_job_starves_the_other() {
    let own = Own::new();
    let queues = own.connect(&broker_url()).await;
    let jobs = queues.jobs();
    for number in 0..20 {
        jobs.publish(measured(&format!("drawn-{number}")), Priority::Normal).await.unwrap();
        jobs.publish(job(&format!("plain-{number}")), Priority::Normal).await.unwrap();
    }
    let mut subscription = jobs.subscribe(1).await.unwrap();
    let mut taken = Vec::new();
    for _ in 0..20 {
        let delivery = next(&mut subscription).await;
        taken.push(name(&delivery));
        delivery.acknowledge().await.unwrap();
    }
    // A message that was not delivered here yet may miss a turn.
    for kind in ["plain", "drawn"] {
        let count = taken.iter().filter(|name| name.starts_with(kind)).count();
        assert!(count >= 5, "{kind}: {taken:?}");
    }
    drop(subscription);
    queues.close().await;
}

#[tokio::test]
async fn counting_workers_of_an_unused_fleet_declares_nothing() {
    let own = Own::new();
    let settings = own.settings(&broker_url());
    assert_eq!(connected_workers(&settings).await.unwrap(), ConnectedWorkers::default());
    let raw = raw_connection().await;
    let channel = raw.create_channel().await.unwrap();
    let passive = QueueDeclareOptions { passive: true, ..Default::default() };
    let asking = channel.queue_declare(own.name("work").into(), passive, FieldTable::default());
    assert!(asking.await.is_err(), "it is declared");
}

#[tokio::test]
async fn workers_are_counted_once_the_queues_are_connected() {
    let own = Own::new();
    // On a single thread, no other task has run since the connection.
    let queues = own.connect(&broker_url()).await;
    assert!(queues.is_connected());
    assert_eq!(queues.workers().await.unwrap(), ConnectedWorkers::default());
    queues.close().await;
}
