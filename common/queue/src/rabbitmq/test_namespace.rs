//! Namespace of a test, deleted at its end.

#![expect(clippy::expect_used, reason = "a test without its broker may break off")]

use super::{RabbitQueues, RabbitSettings, address::Address, names::Namespace, topology::Topology};
use juror_tls::TlsFiles;
use juror_types::event::Events;
use lapin::{
    Connection, ConnectionProperties,
    options::{ExchangeDeleteOptions, QueueDeleteOptions},
};
use std::time::Duration;

/// Exclusive names. Drop deletes the queues and exchanges declared under them.
pub struct TestNamespace {
    name: String,
    url: String,
}

impl TestNamespace {
    /// Creates an exclusive namespace on this broker.
    pub fn new(url: &str) -> Self {
        Self::named(&format!("test-{:016x}", rand::random::<u64>()), url)
    }

    /// Namespace with this name on this broker.
    pub fn named(name: &str, url: &str) -> Self {
        Self { name: name.to_owned(), url: url.to_owned() }
    }

    /// The full name of a queue or an exchange, as in `work.hi`.
    pub fn name(&self, end: &str) -> String {
        format!("{}.{end}", self.name)
    }

    /// Settings with another URL.
    pub fn settings(&self, url: &str) -> RabbitSettings {
        RabbitSettings {
            url: url.to_owned(),
            tls: TlsFiles::default(),
            namespace: self.name.clone(),
            max_length: None,
            max_wait: Duration::from_secs(30),
        }
    }

    /// Connects by another URL.
    pub async fn connect(&self, url: &str) -> RabbitQueues {
        let settings = self.settings(url);
        RabbitQueues::connect(&settings, Events::silent()).await.expect("a connection to RabbitMQ")
    }
}

impl Drop for TestNamespace {
    fn drop(&mut self) {
        let (name, url) = (self.name.clone(), self.url.clone());
        // A thread, since this may be dropped within a failing runtime.
        let deleting = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(delete(&name, &url));
        });
        assert!(deleting.join().is_ok() || std::thread::panicking(), "{} is left over", self.name);
    }
}

/// Connection that bypasses the adapter.
pub async fn raw_connection(url: &str) -> Connection {
    let address = Address::parse(url, &TlsFiles::default()).expect("a URL");
    let connecting = address.connect(ConnectionProperties::default());
    connecting.await.expect("a connection to RabbitMQ")
}

async fn delete(namespace: &str, url: &str) {
    let connection = raw_connection(url).await;
    let channel = connection.create_channel().await.expect("a channel");
    let namespace = Namespace::parse(namespace).expect("a namespace that was used");
    let topology = Topology::new(&namespace, None);
    for queue in topology.queues {
        let deleted = channel.queue_delete(queue.name, QueueDeleteOptions::default()).await;
        deleted.expect("a queue is deleted");
    }
    for (exchange, _) in topology.exchanges {
        let deleted = channel.exchange_delete(exchange, ExchangeDeleteOptions::default()).await;
        deleted.expect("an exchange is deleted");
    }
    connection.close(200, "done".into()).await.expect("a good-bye");
}
