//! The HTTP listener of a fleet's role: metrics, health and readiness.

use crate::{exit::AppError, interactive::listen};
use juror_app::{fleet::Fleet, settings::Settings};
use juror_telemetry::{Condition, Metrics, Readiness};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Metrics and readiness of a role. The role is ready when its servers are available.
pub struct RoleHealth {
    /// Metrics, which nothing records without a listener.
    pub metrics: Arc<Metrics>,
    /// None without a listener.
    served: Option<ServedReadiness>,
}

struct ServedReadiness {
    readiness: Readiness,
    broker: Condition,
    redis: Condition,
}

impl RoleHealth {
    /// Opens the listener, if the settings have an address, and serves requests while the role
    /// connects and works: a role that waits for its servers is alive and not ready.
    pub async fn serve(
        settings: &Settings,
        role: impl AsyncFnOnce(Self) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let Some(address) = settings.fleet.listen else {
            return role(Self { metrics: Arc::new(Metrics::silent()), served: None }).await;
        };
        let listener = listen(address).await?;
        let (metrics, readiness) = (Arc::new(Metrics::recording()), Readiness::new());
        let [broker, redis] = ["broker", "redis"].map(|name| readiness.require(name));
        let ended = CancellationToken::new();
        let serving = juror_telemetry::serve(
            listener,
            Arc::clone(&metrics),
            readiness.clone(),
            ended.clone(),
        );
        let served = Some(ServedReadiness { readiness, broker, redis });
        let working = async {
            let outcome = role(Self { metrics, served }).await;
            ended.cancel();
            outcome
        };
        let (outcome, ()) = tokio::join!(working, serving);
        outcome
    }

    /// Adds a condition of readiness, unmet at first; `None` without a listener.
    pub fn require(&self, name: &'static str) -> Option<Condition> {
        self.served.as_ref().map(|served| served.readiness.require(name))
    }

    /// Checks the role's servers, if there is a listener, until cancelled.
    pub async fn watch(&self, fleet: &Fleet, cancelled: &CancellationToken) {
        let Some(ServedReadiness { broker, redis, .. }) = &self.served else { return };
        tokio::join!(
            broker.keep_looking(cancelled, async || fleet.queues.is_connected()),
            redis.keep_looking(cancelled, async || fleet
                .backend
                .is_admission_suspended()
                .await
                .is_ok()),
        );
    }
}
