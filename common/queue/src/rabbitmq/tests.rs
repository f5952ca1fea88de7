//! Tests with a real broker.

mod namespace;
mod proxy;
mod reconnect;
mod rendering_jobs;
mod scenarios;

use super::{
    super::conformance::{Harness, Note, every_queue},
    *,
};
use namespace::{Own, broker_url};
use parking_lot::Mutex;

/// Keeps the requested queues until the end of the suite.
#[derive(Default)]
struct Rabbit(Mutex<Vec<(RabbitQueues, Own)>>);

impl Rabbit {
    async fn queue(&self, max_length: Option<u32>) -> Arc<RabbitQueue<Note>> {
        let own = Own::new();
        let settings = RabbitSettings { max_length, ..own.settings(&broker_url()) };
        let queues = RabbitQueues::connect(&settings, Events::silent()).await.unwrap();
        let queue = queues.queue(Route::Jobs);
        self.0.lock().push((queues, own));
        Arc::new(queue)
    }
}

#[async_trait]
impl Harness for Rabbit {
    type Queue = RabbitQueue<Note>;

    async fn fresh(&self) -> Arc<RabbitQueue<Note>> {
        self.queue(None).await
    }

    async fn cramped(&self) -> Arc<RabbitQueue<Note>> {
        self.queue(Some(10)).await
    }

    fn silence(&self) -> Duration {
        Duration::from_millis(300)
    }

    fn delay(&self) -> Duration {
        Duration::from_secs(1)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queue_conforms() {
    let rabbit = Rabbit::default();
    every_queue(&rabbit).await;
    for (queues, own) in rabbit.0.into_inner() {
        queues.close().await;
        drop(own);
    }
}
