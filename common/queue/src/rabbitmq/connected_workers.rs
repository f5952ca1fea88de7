//! Connected workers of a fleet, as its broker counts them.

use super::{
    super::{Priority, QueueError},
    RabbitQueues, RabbitSettings,
    address::Address,
    connection::BrokerConnection,
    names::Namespace,
    topology::Topology,
};
use futures_util::future::BoxFuture;

/// Numbers of connected workers, without stopping ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectedWorkers {
    /// Number of workers.
    pub all: u32,
    /// Number of workers that render.
    pub rendering: u32,
}

impl RabbitQueues {
    /// The workers of this fleet. Does not wait for an unreachable broker.
    ///
    /// # Errors
    /// The broker is unreachable, or a queue is gone.
    pub fn workers(&self) -> BoxFuture<'_, Result<ConnectedWorkers, QueueError>> {
        Box::pin(
            async move { workers(&*self.shared.connection_now()?, &self.shared.namespace).await },
        )
    }
}

/// The workers of a fleet to which this process is not connected; none where nothing is declared
/// yet. Declares nothing.
///
/// # Errors
/// The broker cannot be reached, or refuses.
pub fn connected_workers(
    settings: &RabbitSettings,
) -> BoxFuture<'_, Result<ConnectedWorkers, QueueError>> {
    Box::pin(async move {
        let address = Address::parse(&settings.url, &settings.tls)?;
        let namespace = Namespace::parse(&settings.namespace)?;
        let connection = BrokerConnection::connect(&address, &Topology::default()).await?;
        let workers = workers(&connection, &namespace).await.unwrap_or_default();
        connection.close().await;
        Ok(workers)
    })
}

async fn workers(
    connection: &BrokerConnection,
    namespace: &Namespace,
) -> Result<ConnectedWorkers, QueueError> {
    let channel = connection.channel().await?;
    let mut consumers = [0; 2];
    for (count, needs_rendering) in consumers.iter_mut().zip([false, true]) {
        let name = namespace.work(Priority::Normal, needs_rendering);
        *count = connection.inspect(&channel, name).await?.consumer_count();
    }
    connection.during(channel.close(200, "done".into())).await?;
    let [all, rendering] = consumers;
    Ok(ConnectedWorkers { all, rendering })
}
