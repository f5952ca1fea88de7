//! The fleet's backend: ledger, claims, results, reply cache and run status in one Redis.
//!
//! The ledger implements both [`crate::admission::Admission`] and [`crate::job_store::JobStore`],
//! so that a bill and its result are written in one step, a Lua script. The scripts compute the
//! names of keys, so a Redis Cluster is not supported; replicas are.

mod admission;
mod batches;
mod budget_gauges;
mod budgets;
pub(crate) mod connection;
mod durability;
mod encoding;
pub(crate) mod failure;
mod fleet_backend;
mod job_state;
pub(crate) mod job_store;
mod pubsub;
mod reconciliation;
mod registration;
mod runs;
pub(crate) mod scripts;
pub(crate) mod server;
#[cfg(any(test, feature = "conformance"))]
pub mod test_server;
mod token_counting;

pub use durability::DurabilityRisk;
pub use fleet_backend::{FleetBackend, RunsDirectory};
pub use job_state::JobState;
pub use reconciliation::{JournalCost, JournalCosts, LedgerState, Reconciliation};
pub use runs::{RunProgress, RunStatus};

use crate::error::LedgerError;
use connection::Connection;
use futures_util::future::BoxFuture;
use juror_tls::TlsFiles;
use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};
use token_counting::CountingCache;
use tokio::{
    sync::{Mutex, watch},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// Time for which an ended lease is kept: within it a repeated settlement books nothing, and a late
/// bill replaces the presumed cost.
pub(crate) const LEASE_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// Address of the fleet's backend, and retention times of its data.
#[derive(Clone)]
pub struct RedisSettings {
    /// As in `redis://:password@host:6379/0`, or `rediss://…` with TLS.
    pub url: String,
    /// Files for TLS, with `rediss://` alone.
    pub tls: TlsFiles,
    /// Prefix of every key: 1 to 100 ASCII letters, digits, `.`, `_` or `-`.
    pub namespace: String,
    /// True if a finite budget is allowed on a Redis that may lose data.
    pub allow_volatile: bool,
    /// Retention of cached replies.
    pub replies_kept: Duration,
    /// Retention of claims, results and status of a closed run after their last use.
    pub results_kept: Duration,
}

impl RedisSettings {
    /// The namespace `juror`, on a Redis that must not lose data; replies are kept for 30 days and
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

/// An open backend in Redis, shared by `Arc` and closed by [`RedisLedger::close`].
pub struct RedisLedger {
    pub(crate) connection: Arc<Connection>,
    pub(crate) settings: RedisSettings,
    pub(crate) changes: watch::Receiver<u64>,
    /// Held while leases of unknown state are released, so that none of them is requested
    /// meanwhile.
    pub(crate) clearing: Mutex<()>,
    /// Token counting of each endpoint, as the last decisions returned it.
    pub(crate) counting: CountingCache,
    /// True if this process has seen the ledger in use: if it is gone, the server was emptied.
    pub(crate) seen_in_use: AtomicBool,
    stop: CancellationToken,
    listener: Mutex<Option<JoinHandle<()>>>,
}

impl RedisLedger {
    /// Connects to Redis. Writes nothing there.
    ///
    /// # Errors
    /// [`LedgerError::Unavailable`] if it cannot be reached; [`LedgerError::Broken`] if the URL,
    /// the namespace or the password is invalid.
    pub fn open(settings: RedisSettings) -> BoxFuture<'static, Result<Self, LedgerError>> {
        Box::pin(async move {
            let (sender, changes) = watch::channel(0);
            let connection = connection(&settings, sender)?;
            Self::start(connection, settings, changes).await
        })
    }

    async fn start(
        connection: Connection,
        settings: RedisSettings,
        changes: watch::Receiver<u64>,
    ) -> Result<Self, LedgerError> {
        let _: String = connection.command(&redis::cmd("PING")).await?;
        let connection = Arc::new(connection);
        let stop = CancellationToken::new();
        let listening = pubsub::listen(connection.clone(), stop.clone());
        let listener = Mutex::new(Some(tokio::spawn(listening)));
        let clearing = Mutex::default();
        let seen_in_use = AtomicBool::new(false);
        let counting = CountingCache::default();
        Ok(Self { connection, settings, changes, clearing, counting, seen_in_use, stop, listener })
    }

    /// Host and port of the server.
    pub fn address(&self) -> &str {
        self.connection.address()
    }

    /// Stops the subscription and waits for its end. Remaining leases are presumed spent once their
    /// owner's heartbeat is old.
    pub async fn close(&self) {
        self.stop.cancel();
        if let Some(listener) = self.listener.lock().await.take() {
            // It can only have been cancelled with its runtime.
            let _ended = listener.await;
        }
    }

    /// The server's version, as in `7.0.15`.
    pub async fn version(&self) -> Result<String, LedgerError> {
        let facts: String = self.connection.command(redis::cmd("INFO").arg("server")).await?;
        let version = facts.lines().find_map(|line| line.strip_prefix("redis_version:"));
        version.map(str::to_owned).ok_or_else(|| failure::unexpected_reply("read its version"))
    }

    #[cfg(test)]
    async fn open_with_clock(
        settings: RedisSettings,
        clock: crate::clock::Clock,
    ) -> Result<Self, LedgerError> {
        let (sender, changes) = watch::channel(0);
        let mut connection = connection(&settings, sender)?;
        connection.clock = Some(clock);
        Self::start(connection, settings, changes).await
    }
}

impl Drop for RedisLedger {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn connection(
    settings: &RedisSettings,
    changes: watch::Sender<u64>,
) -> Result<Connection, LedgerError> {
    Connection::new(&settings.url, &settings.tls, prefix(&settings.namespace)?, changes)
}

fn prefix(namespace: &str) -> Result<String, LedgerError> {
    // Key patterns contain it, in which some characters have a meaning.
    let fits = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    if (1..=100).contains(&namespace.len()) && namespace.chars().all(fits) {
        return Ok(namespace.to_owned());
    }
    Err(LedgerError::Broken(format!(
        "the namespace {namespace:?} is invalid: use 1 to 100 ASCII letters, digits, '.', '_' or '-'"
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
