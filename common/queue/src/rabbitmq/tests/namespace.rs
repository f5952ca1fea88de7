//! Namespace of a test on the shared broker.

use super::super::test_namespace::{self, TestNamespace};
use lapin::Connection;
use std::ops::Deref;

/// Exclusive names. Drop deletes the queues and exchanges declared under them.
pub struct Own(TestNamespace);

impl Own {
    pub fn new() -> Self {
        Self(TestNamespace::new(&broker_url()))
    }
}

impl Deref for Own {
    type Target = TestNamespace;

    fn deref(&self) -> &TestNamespace {
        &self.0
    }
}

/// Connection that bypasses the adapter.
pub async fn raw_connection() -> Connection {
    test_namespace::raw_connection(&broker_url()).await
}

/// The shared broker.
pub fn broker_url() -> String {
    format!("amqp://guest:guest@127.0.0.1:{}", juror_services::rabbitmq::shared_port())
}
