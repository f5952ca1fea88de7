//! A namespace of a test's own, deleted at its end.

use super::super::{
    RabbitQueues, RabbitSettings, address::Address, names::Namespace, topology::Topology,
};
use crate::event::Events;
use lapin::{
    Connection, ConnectionProperties,
    options::{ExchangeDeleteOptions, QueueDeleteOptions},
};
use std::time::Duration;

/// Names that nobody else uses. Dropped, it deletes what was declared under them.
pub struct Own(String);

impl Own {
    pub fn new() -> Self {
        Self(format!("test-{:016x}", rand::random::<u64>()))
    }

    pub fn name(&self, end: &str) -> String {
        format!("{}.{end}", self.0)
    }

    pub fn settings(&self, url: &str) -> RabbitSettings {
        RabbitSettings {
            url: url.to_owned(),
            namespace: self.0.clone(),
            max_length: None,
            patience: Duration::from_secs(30),
        }
    }

    pub async fn connect(&self, url: &str) -> RabbitQueues {
        RabbitQueues::connect(&self.settings(url), Events::silent()).await.unwrap()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let namespace = self.0.clone();
        // A thread, since this may be dropped in the middle of a runtime that breaks off.
        let deleting = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(delete(&namespace));
        });
        assert!(deleting.join().is_ok() || std::thread::panicking(), "{} is left over", self.0);
    }
}

async fn delete(namespace: &str) {
    let connection = raw_connection().await;
    let channel = connection.create_channel().await.unwrap();
    let topology = Topology::new(&Namespace::parse(namespace).unwrap(), None);
    for queue in topology.queues {
        channel.queue_delete(queue.name, QueueDeleteOptions::default()).await.unwrap();
    }
    for (exchange, _) in topology.exchanges {
        channel.exchange_delete(exchange, ExchangeDeleteOptions::default()).await.unwrap();
    }
    connection.close(200, "done".into()).await.unwrap();
}

/// A connection that knows nothing of the adapter.
pub async fn raw_connection() -> Connection {
    let uri = Address::parse(&broker_url()).unwrap().uri();
    Connection::connect_uri(uri, ConnectionProperties::default()).await.unwrap()
}

/// The broker that the tests share.
pub fn broker_url() -> String {
    format!("amqp://guest:guest@127.0.0.1:{}", juror_services::rabbitmq::shared_port())
}
