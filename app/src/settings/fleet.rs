//! `[fleet]`: servers and behavior of a fleet.

use juror_tls::TlsFiles;
use serde::Deserialize;
use std::{net::SocketAddr, path::PathBuf};

/// `[fleet]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FleetSettings {
    /// URL of RabbitMQ, with its password; never printed.
    pub broker: Option<String>,
    /// URL of Redis, with its password; never printed.
    pub redis: Option<String>,
    /// File of root certificates for RabbitMQ, in addition to the system's.
    pub broker_ca_file: Option<PathBuf>,
    /// File of the client's certificate for RabbitMQ.
    pub broker_client_certificate_file: Option<PathBuf>,
    /// File of that certificate's key.
    pub broker_client_key_file: Option<PathBuf>,
    /// File of root certificates for Redis, in addition to the system's.
    pub redis_ca_file: Option<PathBuf>,
    /// File of the client's certificate for Redis.
    pub redis_client_certificate_file: Option<PathBuf>,
    /// File of that certificate's key.
    pub redis_client_key_file: Option<PathBuf>,
    /// Prefix of every exchange, queue and key.
    pub namespace: String,
    /// True if budgets are accepted on a Redis that may lose recorded costs.
    pub allow_volatile_redis: bool,
    /// Number of queued jobs of a priority at which publishing pauses.
    pub max_queue_length: Option<u32>,
    /// Time limit of the first connection to an unavailable server, in seconds.
    pub connect_timeout_seconds: u64,
    /// Time that a stopping worker may take to finish its jobs, in seconds.
    pub drain_timeout_seconds: u64,
    /// Days to keep the results of a closed run in Redis after their last use.
    pub results_retention_days: u32,
    /// Days to keep a judge's reply in Redis.
    pub reply_cache_ttl_days: u32,
    /// Address of the listener for metrics and health.
    pub listen: Option<SocketAddr>,
}

impl FleetSettings {
    /// Files for TLS to RabbitMQ.
    pub fn broker_tls(&self) -> TlsFiles {
        TlsFiles {
            ca: self.broker_ca_file.clone(),
            client_certificate: self.broker_client_certificate_file.clone(),
            client_key: self.broker_client_key_file.clone(),
        }
    }

    /// Files for TLS to Redis.
    pub fn redis_tls(&self) -> TlsFiles {
        TlsFiles {
            ca: self.redis_ca_file.clone(),
            client_certificate: self.redis_client_certificate_file.clone(),
            client_key: self.redis_client_key_file.clone(),
        }
    }
}
