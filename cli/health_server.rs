//! The HTTP listener of a fleet's role: metrics, health and readiness.

use crate::exit::Failure;
use juror_app::{fleet::Fleet, settings::Settings};
use juror_telemetry::{Condition, Metrics, Readiness};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// An open listener. The role is ready when its servers can be reached.
pub struct HealthServer {
    listener: TcpListener,
    readiness: Readiness,
    broker: Condition,
    redis: Condition,
}

impl HealthServer {
    /// Opens the listener where the settings say; none if they say nothing.
    pub async fn open(settings: &Settings) -> Result<Option<Self>, Failure> {
        let Some(address) = settings.fleet.listen else { return Ok(None) };
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Failure::error(format!(
                "address {address} cannot be listened on: {error}; choose another one with --listen"
            ))
        })?;
        let readiness = Readiness::new();
        let [broker, redis] = ["broker", "redis"].map(|name| readiness.require(name));
        Ok(Some(Self { listener, readiness, broker, redis }))
    }

    /// Requires something more of this name; unmet until it is said to be met.
    pub fn require(&self, name: &'static str) -> Condition {
        self.readiness.require(name)
    }

    /// Answers requests, if there is a listener, until it is cancelled.
    pub async fn serve(
        health_server: Option<Self>,
        fleet: &Fleet,
        metrics: &Arc<Metrics>,
        cancelled: &CancellationToken,
    ) {
        let Some(Self { listener, readiness, broker, redis }) = health_server else { return };
        let metrics = Arc::clone(metrics);
        tokio::join!(
            juror_telemetry::serve(listener, metrics, readiness, cancelled.clone()),
            broker.keep_looking(cancelled, async || fleet.queues.is_connected()),
            redis.keep_looking(cancelled, async || fleet.backend.is_paused().await.is_ok()),
        );
    }
}
