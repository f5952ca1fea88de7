//! `[fleet]`: the servers of a fleet, and how its parts behave.

use juror_tls::TlsFiles;
use serde::Deserialize;
use std::{net::SocketAddr, path::PathBuf};

/// `[fleet]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FleetSettings {
    /// Address of RabbitMQ, with its account; never shown.
    pub broker: Option<String>,
    /// Address of Redis, with its account; never shown.
    pub redis: Option<String>,
    /// File of root certificates beside the system's, for RabbitMQ.
    pub broker_ca_file: Option<PathBuf>,
    /// File of the client's certificate for RabbitMQ.
    pub broker_client_certificate_file: Option<PathBuf>,
    /// File of that certificate's key.
    pub broker_client_key_file: Option<PathBuf>,
    /// File of root certificates beside the system's, for Redis.
    pub redis_ca_file: Option<PathBuf>,
    /// File of the client's certificate for Redis.
    pub redis_client_certificate_file: Option<PathBuf>,
    /// File of that certificate's key.
    pub redis_client_key_file: Option<PathBuf>,
    /// Prefix of every exchange, queue and key.
    pub namespace: String,
    /// Permission to put a finite budget on a Redis that may forget it.
    pub allow_volatile_redis: bool,
    /// Jobs of each priority in the queue at which publishing pauses.
    pub max_queue_length: Option<u32>,
    /// Longest wait for an unavailable broker at the start, in seconds.
    pub connect_timeout_seconds: u64,
    /// Time that a stopping worker may take to finish what it has in hand, in seconds.
    pub drain_timeout_seconds: u64,
    /// For how many days after their last use the results of a closed run are kept in Redis.
    pub results_retention_days: u32,
    /// For how many days a judge's reply is kept in Redis.
    pub reply_cache_ttl_days: u32,
    /// Address on which metrics and health are served.
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
