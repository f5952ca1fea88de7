//! A namespace of a test's own, at the broker that the tests share.

use super::super::test_namespace::{self, TestNamespace};
use lapin::Connection;
use std::ops::Deref;

/// Names that nobody else uses. Dropped, it deletes what was declared under them.
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

/// A connection that knows nothing of the adapter.
pub async fn raw_connection() -> Connection {
    test_namespace::raw_connection(&broker_url()).await
}

/// The broker that the tests share.
pub fn broker_url() -> String {
    format!("amqp://guest:guest@127.0.0.1:{}", juror_services::rabbitmq::shared_port())
}
