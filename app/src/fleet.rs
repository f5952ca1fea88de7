//! Connections to the fleet's servers.

pub mod aggregator_role;
mod batch_folder;
pub mod cancel;
mod context_factory;
pub mod enqueue;
pub mod publish;
pub mod replay;
pub mod retry_plan;
mod run_changes;
mod run_state_cache;
pub mod run_to_publish;
pub mod worker_role;

use crate::{
    error::AppError,
    settings::{Layer, Settings},
};
use futures_util::future::BoxFuture;
use juror_ledger::{
    budgets,
    error::LedgerError,
    redis::{RedisLedger, RedisSettings},
};
use juror_queue::rabbitmq::{ConnectedWorkers, RabbitQueues, RabbitSettings, connected_workers};
use juror_types::{
    event::{Event, Events},
    run::RunRecord,
};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};

/// Interval of connection attempts to an unavailable Redis.
const CONNECT_INTERVAL: Duration = Duration::from_millis(500);

/// Connections to RabbitMQ and Redis, to be closed when all roles have ended.
pub struct Fleet {
    /// Jobs and results.
    pub queues: RabbitQueues,
    /// Admission, claims, results and the status of runs.
    pub backend: Arc<RedisLedger>,
}

impl Fleet {
    /// Connects to both; waits for unavailable ones up to `fleet.connect_timeout_seconds`.
    pub fn open(settings: &Settings, events: Events) -> BoxFuture<'_, Result<Self, AppError>> {
        Box::pin(async move {
            let backend = await_backend(settings, &events).await?;
            // An error here is retried by the ledger's later operations.
            let difference = budgets::zone_difference(&*backend, &settings.budget).await;
            if let Ok(Some(difference)) = difference {
                events.emit(Event::Warning(difference)).await;
            }
            let queues = match open_queues(settings, events).await {
                Ok(queues) => queues,
                Err(failure) => {
                    backend.close().await;
                    return Err(failure);
                }
            };
            Ok(Self { queues, backend })
        })
    }

    /// Closes both connections.
    pub async fn close(self) {
        self.queues.close().await;
        self.backend.close().await;
    }
}

/// Message that refuses to keep the inputs of a fleet's run.
pub const KEEPS_NO_INPUTS: &str = "a fleet's run cannot keep inputs, since workers do not write into \
the runs directory: omit --keep-inputs, or set run.keep_inputs = false \
(JUROR_RUN_KEEP_INPUTS=false)";

/// Connects to Redis.
pub async fn open_backend(settings: &Settings) -> Result<Arc<RedisLedger>, AppError> {
    open_backend_of(settings, &settings.fleet.namespace).await
}

/// Connects to Redis for the fleet of this namespace.
pub fn open_backend_of<'a>(
    settings: &'a Settings,
    namespace: &'a str,
) -> BoxFuture<'a, Result<Arc<RedisLedger>, AppError>> {
    Box::pin(async move {
        let redis = redis_settings(settings)?;
        let redis = RedisSettings { namespace: namespace.to_owned(), ..redis };
        Ok(Arc::new(RedisLedger::open(redis).await?))
    })
}

/// Connects to RabbitMQ; waits for an unavailable one up to `fleet.connect_timeout_seconds`.
pub async fn open_queues(settings: &Settings, events: Events) -> Result<RabbitQueues, AppError> {
    let max_wait = Duration::from_secs(settings.fleet.connect_timeout_seconds);
    open_queues_within(settings, max_wait, events).await
}

/// Connects to RabbitMQ; waits for an unavailable one up to `max_wait`.
pub fn open_queues_within(
    settings: &Settings,
    max_wait: Duration,
    events: Events,
) -> BoxFuture<'_, Result<RabbitQueues, AppError>> {
    Box::pin(async move {
        let rabbit = rabbit_settings(settings, max_wait)?;
        RabbitQueues::connect(&rabbit, events).await.map_err(AppError::from)
    })
}

/// The connected workers of the fleet. Declares no queues.
pub fn workers(settings: &Settings) -> BoxFuture<'_, Result<ConnectedWorkers, AppError>> {
    Box::pin(async move {
        let rabbit = rabbit_settings(settings, Duration::ZERO)?;
        connected_workers(&rabbit).await.map_err(AppError::from)
    })
}

/// The setting of the namespace in a run's record, empty for a run without a fleet; an error if
/// another one is requested.
pub fn namespace_of(
    record: Option<&RunRecord>,
    requested: Option<&str>,
) -> Result<Layer, AppError> {
    let Some((run, backend)) =
        record.and_then(|record| Some((&record.run_id, record.fleet.as_ref()?)))
    else {
        return Ok(Layer::default());
    };
    match requested {
        Some(requested) if requested != backend => Err(AppError::invalid(format!(
            "run {run} belongs to the fleet {backend}, not {requested}: omit --namespace"
        ))),
        _ => Ok(Layer::default().with("fleet.namespace", Some(backend.as_str()))),
    }
}

/// The address in a setting, or an error with the remedy.
pub fn require(key: &str, url: Option<&String>) -> Result<String, AppError> {
    url.cloned().ok_or_else(|| {
        AppError::invalid(format!(
            "a fleet needs the setting fleet.{key}: give --{key} URL, or set JUROR_FLEET_{}",
            key.to_uppercase()
        ))
    })
}

/// Connects to Redis; waits for an unavailable one up to `fleet.connect_timeout_seconds`.
async fn await_backend(settings: &Settings, events: &Events) -> Result<Arc<RedisLedger>, AppError> {
    let redis = redis_settings(settings)?;
    let max_wait = Duration::from_secs(settings.fleet.connect_timeout_seconds);
    let deadline = Instant::now() + max_wait;
    let mut is_warned = false;
    loop {
        let reason = match RedisLedger::open(redis.clone()).await {
            Err(LedgerError::Unavailable(reason)) if Instant::now() < deadline => reason,
            opened => return Ok(Arc::new(opened?)),
        };
        if !std::mem::replace(&mut is_warned, true) {
            let seconds = max_wait.as_secs();
            let warning = format!("{reason}; retrying for at most {seconds} s");
            events.emit(Event::Warning(warning)).await;
        }
        sleep(CONNECT_INTERVAL).await;
    }
}

fn redis_settings(settings: &Settings) -> Result<RedisSettings, AppError> {
    let fleet = &settings.fleet;
    Ok(RedisSettings {
        namespace: fleet.namespace.clone(),
        allow_volatile: fleet.allow_volatile_redis,
        replies_kept: days(fleet.reply_cache_ttl_days),
        results_kept: days(fleet.results_retention_days),
        tls: fleet.redis_tls(),
        ..RedisSettings::new(require("redis", fleet.redis.as_ref())?)
    })
}

fn days(days: u32) -> Duration {
    Duration::from_secs(u64::from(days) * 24 * 60 * 60)
}

fn rabbit_settings(settings: &Settings, max_wait: Duration) -> Result<RabbitSettings, AppError> {
    let fleet = &settings.fleet;
    Ok(RabbitSettings {
        url: require("broker", fleet.broker.as_ref())?,
        tls: fleet.broker_tls(),
        namespace: fleet.namespace.clone(),
        max_length: fleet.max_queue_length,
        max_wait,
    })
}
