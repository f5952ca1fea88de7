//! The fleet's home: ledger, claims, results, verdict cache and run status in one Redis.
//!
//! One object is both [`crate::admission::Admission`] and [`crate::store::Store`], so that a bill
//! and the result that it belongs to are written in one step, which is one Lua script. The scripts
//! name keys that they compute, so a Redis Cluster will not do; replicas will.

pub(crate) mod connection;
mod durability;
pub(crate) mod failure;
mod measure;
mod news;
mod presence;
pub(crate) mod scripts;
pub(crate) mod server;
#[cfg(any(test, feature = "conformance"))]
pub mod test_server;

pub use durability::Weakness;

use crate::{admission::AdmissionError, tls::TlsFiles};
use connection::Connection;
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};
use tokio::{
    sync::{Mutex, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// How long an ended lease is remembered: in this time settling it again books nothing, and a late
/// bill replaces what was presumed.
pub(crate) const LEASE_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Where the fleet's home is, and how long it keeps what may be forgotten.
#[derive(Clone)]
pub struct RedisSettings {
    /// As in `redis://:password@host:6379/0`, or `rediss://…` with TLS.
    pub url: String,
    /// Files for TLS, with `rediss://` alone.
    pub tls: TlsFiles,
    /// Begins the name of every key: 1 to 100 ASCII letters, digits, `.`, `_` or `-`.
    pub namespace: String,
    /// Whether a finite budget may be put on a Redis that may forget it.
    pub allow_volatile: bool,
    /// How long a judge's reply is remembered.
    pub replies_kept: Duration,
    /// How long claims, results and status of a closed run are kept after their last use.
    pub results_kept: Duration,
}

impl RedisSettings {
    /// The namespace `juror`, on a Redis that must not forget; replies are kept for 30 days and
    /// results for 7.
    pub fn new(url: impl Into<String>) -> Self {
        const DAY: u64 = 24 * 60 * 60;
        Self {
            url: url.into(),
            tls: TlsFiles::default(),
            namespace: "juror".to_owned(),
            allow_volatile: false,
            replies_kept: Duration::from_secs(30 * DAY),
            results_kept: Duration::from_secs(7 * DAY),
        }
    }
}

/// An open home in Redis. Share it by `Arc`, and [`RedisHome::close`] it in the end.
pub struct RedisHome {
    pub(crate) connection: Arc<Connection>,
    pub(crate) settings: RedisSettings,
    pub(crate) changes: watch::Receiver<u64>,
    /// Held while doubtful leases are given back, so that nobody asks for one of them anew.
    pub(crate) clearing: Mutex<()>,
    /// Whether this process has seen the ledger in use: without a trace of it, it was emptied.
    pub(crate) seen_in_use: AtomicBool,
    stop: CancellationToken,
    listener: Mutex<Option<JoinHandle<()>>>,
}

impl RedisHome {
    /// Connects to Redis. Writes nothing there.
    ///
    /// # Errors
    /// [`AdmissionError::Unavailable`] if it cannot be reached; [`AdmissionError::Broken`] if URL,
    /// namespace or password are not usable.
    pub async fn open(settings: RedisSettings) -> Result<Self, AdmissionError> {
        let (sender, changes) = watch::channel(0);
        let connection = connection(&settings, sender)?;
        Self::start(connection, settings, changes).await
    }

    async fn start(
        connection: Connection,
        settings: RedisSettings,
        changes: watch::Receiver<u64>,
    ) -> Result<Self, AdmissionError> {
        let _: String = connection.command(&redis::cmd("PING")).await?;
        let connection = Arc::new(connection);
        let stop = CancellationToken::new();
        let listening = news::listen(connection.clone(), stop.clone());
        let listener = Mutex::new(Some(tokio::spawn(listening)));
        let clearing = Mutex::default();
        let seen_in_use = AtomicBool::new(false);
        Ok(Self { connection, settings, changes, clearing, seen_in_use, stop, listener })
    }

    /// Host and port of the server.
    pub fn address(&self) -> &str {
        self.connection.address()
    }

    /// Stops listening and waits for that. What leases remain are presumed spent once their
    /// owner's heartbeat is old.
    pub async fn close(&self) {
        self.stop.cancel();
        if let Some(listener) = self.listener.lock().await.take() {
            // It can only have been cancelled with its runtime.
            let _ended = listener.await;
        }
    }

    /// The server's version, as in `7.0.15`.
    pub async fn version(&self) -> Result<String, AdmissionError> {
        let facts: String = self.connection.command(redis::cmd("INFO").arg("server")).await?;
        let version = facts.lines().find_map(|line| line.strip_prefix("redis_version:"));
        version.map(str::to_owned).ok_or_else(|| failure::odd_answer("tell its version"))
    }

    /// The first setting by which the server may forget what was spent; none if it may not.
    pub async fn weakness(&self) -> Result<Option<Weakness>, AdmissionError> {
        durability::weakness(&self.connection).await
    }

    /// Refuses a finite budget on a server that may forget it.
    pub(crate) async fn require_durable(&self) -> Result<(), AdmissionError> {
        durability::require_durable(&self.connection).await
    }

    #[cfg(test)]
    async fn open_with_clock(
        settings: RedisSettings,
        clock: crate::sqlite::Clock,
    ) -> Result<Self, AdmissionError> {
        let (sender, changes) = watch::channel(0);
        let mut connection = connection(&settings, sender)?;
        connection.clock = Some(clock);
        Self::start(connection, settings, changes).await
    }
}

impl Drop for RedisHome {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn connection(
    settings: &RedisSettings,
    changes: watch::Sender<u64>,
) -> Result<Connection, AdmissionError> {
    Connection::new(&settings.url, &settings.tls, prefix(&settings.namespace)?, changes)
}

fn prefix(namespace: &str) -> Result<String, AdmissionError> {
    // Patterns are made of it, in which some characters have a meaning.
    let fits = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    if (1..=100).contains(&namespace.len()) && namespace.chars().all(fits) {
        return Ok(namespace.to_owned());
    }
    Err(AdmissionError::Broken(format!(
        "the namespace {namespace:?} is not usable: take 1 to 100 ASCII letters, digits, '.', '_' or '-'"
    )))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod run_tests;

#[cfg(test)]
mod differential_tests;

#[cfg(test)]
mod limits_tests;

#[cfg(test)]
mod outage_tests;
