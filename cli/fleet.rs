//! The fleet's servers, as the settings name them.

use crate::{
    args::{FleetFlags, GlobalFlags},
    exit::Failure,
    finish,
};
use juror_app::settings::{Layer, Settings};
use juror_ledger::{
    error::LedgerError,
    redis::{RedisLedger, RedisSettings},
};
use juror_queue::{
    QueueError,
    rabbitmq::{RabbitQueues, RabbitSettings},
};
use juror_types::{
    event::{Event, Events},
    run::RunRecord,
};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};

/// How long to wait before a Redis that is away is tried again.
const BETWEEN_TRIES: Duration = Duration::from_millis(500);

/// Connections to both servers. Close it when all roles have ended.
pub struct Fleet {
    /// Jobs and results.
    pub queues: RabbitQueues,
    /// Admission, claims, results and the status of runs.
    pub backend: Arc<RedisLedger>,
}

impl Fleet {
    /// Connects to both; waits for those that are not up yet.
    pub async fn open(settings: &Settings, events: Events) -> Result<Self, Failure> {
        let backend = await_backend(settings, &events).await?;
        let queues = match open_queues(settings, events).await {
            Ok(queues) => queues,
            Err(failure) => {
                backend.close().await;
                return Err(failure);
            }
        };
        Ok(Self { queues, backend })
    }

    /// Closes both connections.
    pub async fn close(self) {
        self.queues.close().await;
        self.backend.close().await;
    }
}

/// Why a run of a fleet cannot keep its inputs.
pub const KEEPS_NO_INPUTS: &str = "a fleet's run keeps no inputs, since workers do not write into \
     the runs directory: leave --keep-inputs out, or set run.keep_inputs = false \
     (JUROR_RUN_KEEP_INPUTS=false)";

/// Refuses settings by which inputs would be kept.
pub fn refuse_kept_inputs(settings: &Settings) -> Result<(), Failure> {
    match settings.run.keep_inputs {
        true => Err(Failure::usage(KEEPS_NO_INPUTS)),
        false => Ok(()),
    }
}

/// Connects to Redis.
pub async fn open_backend(settings: &Settings) -> Result<Arc<RedisLedger>, Failure> {
    let backend = RedisLedger::open(redis_settings(settings)?).await;
    Ok(Arc::new(backend.map_err(backend_failure)?))
}

/// Connects to Redis; waits for one that is not up yet, as for RabbitMQ.
async fn await_backend(settings: &Settings, events: &Events) -> Result<Arc<RedisLedger>, Failure> {
    let redis = redis_settings(settings)?;
    let max_wait = Duration::from_secs(settings.fleet.connect_timeout_seconds);
    let deadline = Instant::now() + max_wait;
    let mut told = false;
    loop {
        let reason = match RedisLedger::open(redis.clone()).await {
            Err(LedgerError::Unavailable(reason)) if Instant::now() < deadline => reason,
            opened => return Ok(Arc::new(opened.map_err(backend_failure)?)),
        };
        if !std::mem::replace(&mut told, true) {
            let seconds = max_wait.as_secs();
            let words = format!("{reason}; waiting for it, at most {seconds} s");
            events.emit(Event::Warning(words)).await;
        }
        sleep(BETWEEN_TRIES).await;
    }
}

fn redis_settings(settings: &Settings) -> Result<RedisSettings, Failure> {
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

/// Connects to RabbitMQ; waits for one that is not up yet.
pub async fn open_queues(settings: &Settings, events: Events) -> Result<RabbitQueues, Failure> {
    let fleet = &settings.fleet;
    let rabbit = RabbitSettings {
        url: require("broker", fleet.broker.as_ref())?,
        tls: fleet.broker_tls(),
        namespace: fleet.namespace.clone(),
        max_length: fleet.max_queue_length,
        max_wait: Duration::from_secs(fleet.connect_timeout_seconds),
    };
    RabbitQueues::connect(&rabbit, events).await.map_err(queue_failure)
}

/// The namespace of the fleet that a run belongs to, as a setting: a run knows its backend.
pub fn namespace_of(
    record: Option<&RunRecord>,
    flags: &FleetFlags,
) -> Result<Option<Layer>, Failure> {
    let Some((run, backend)) =
        record.and_then(|record| Some((&record.run_id, record.fleet.as_ref()?)))
    else {
        return Ok(None);
    };
    match &flags.namespace {
        Some(asked) if asked != backend => Err(Failure::usage(format!(
            "run {run} belongs to the fleet {backend}, not {asked}: leave --namespace out"
        ))),
        _ => Ok(Some(Layer::of("fleet", "namespace", backend.as_str()))),
    }
}

/// The flags by which the next command finds the same run. Addresses are not among them: they may
/// hold passwords.
pub fn location_flags(global: &GlobalFlags, flags: &FleetFlags) -> String {
    let namespace = flags.namespace.as_ref().map(|name| format!(" --namespace {name}"));
    finish::location_flags(global) + &namespace.unwrap_or_default()
}

/// What only a person can mend exits with 2.
pub fn backend_failure(error: LedgerError) -> Failure {
    match error {
        LedgerError::Broken(_) => Failure::usage(error),
        LedgerError::Unavailable(_) => Failure::error(error),
    }
}

/// What only a person can mend exits with 2.
pub fn queue_failure(error: QueueError) -> Failure {
    match error {
        QueueError::Refused(_) => Failure::usage(error),
        QueueError::Closed | QueueError::Unavailable(_) => Failure::error(error),
    }
}

/// The address that this setting gives.
pub fn require(key: &str, url: Option<&String>) -> Result<String, Failure> {
    url.cloned().ok_or_else(|| {
        Failure::usage(format!(
            "a fleet needs the setting fleet.{key}: give --{key} URL, or set JUROR_FLEET_{}",
            key.to_uppercase()
        ))
    })
}
