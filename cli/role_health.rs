//! The HTTP listener of a fleet's role: metrics, health and readiness.

use crate::exit::Failure;
use juror_app::{fleet::Fleet, settings::Settings};
use juror_telemetry::{Condition, Metrics, Readiness};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// An open listener. The role is ready when its servers are available.
pub struct HealthServer {
    listener: TcpListener,
    readiness: Readiness,
    broker: Condition,
    redis: Condition,
}

impl HealthServer {
    /// Opens the listener, if the settings have an address.
    pub async fn open(settings: &Settings) -> Result<Option<Self>, Failure> {
        let Some(address) = settings.fleet.listen else { return Ok(None) };
        let listener = TcpListener::bind(address).await.map_err(|error| {
            Failure::error(format!(
                "cannot listen on {address}: {error}; choose another address with --listen"
            ))
        })?;
        let readiness = Readiness::new();
        let [broker, redis] = ["broker", "redis"].map(|name| readiness.require(name));
        Ok(Some(Self { listener, readiness, broker, redis }))
    }

    /// Adds a condition of readiness, unmet at first.
    pub fn require(&self, name: &'static str) -> Condition {
        self.readiness.require(name)
    }

    /// Serves requests, if there is a listener, until cancelled.
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
