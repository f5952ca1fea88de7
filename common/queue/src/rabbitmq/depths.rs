//! Numbers of ready messages in each queue.

use super::{super::QueueError, RabbitQueues};
use futures_util::future::BoxFuture;
use juror_telemetry::Metrics;

impl RabbitQueues {
    /// True if the broker is connected.
    pub fn is_connected(&self) -> bool {
        self.shared.connection_now().is_ok()
    }

    /// Number of ready messages in each queue, by its name without the namespace; unacknowledged
    /// ones do not count. Does not wait for an unreachable broker. A missing queue ends the
    /// connection, and the next one declares it again.
    pub fn depths(&self) -> BoxFuture<'_, Result<Vec<(&'static str, u32)>, QueueError>> {
        Box::pin(async move {
            let connection = self.shared.connection_now()?;
            let channel = connection.channel().await?;
            let mut depths = Vec::new();
            for (end, name) in self.shared.namespace.every_queue() {
                depths.push((end, connection.inspect(&channel, name).await?.message_count()));
            }
            connection.during(channel.close(200, "done".into())).await?;
            Ok(depths)
        })
    }

    /// Records the depths as metrics; returns false if the broker is unreachable.
    pub async fn measure(&self, metrics: &Metrics) -> bool {
        let depths = self.depths().await;
        metrics.set_queue_depths(depths.as_deref().unwrap_or_default());
        depths.is_ok()
    }
}
