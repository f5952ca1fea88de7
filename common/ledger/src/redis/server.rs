//! Address of Redis, parsed from its URL, and connections to it with or without TLS.

use crate::error::LedgerError;
use juror_tls::{TlsClient, TlsConnection, TlsFailure, TlsFiles, TlsSettingNames};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, RedisError, RedisResult,
    aio::{MultiplexedConnection, PubSub},
};
use std::{io, sync::Arc, time::Duration};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// Timeout of a connection attempt.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout of a reply. A write that waits for the disk may take a while.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Address of a server with its credentials.
pub struct Server {
    client: Client,
    /// None for `redis://`.
    tls: Option<TlsClient>,
    address: String,
}

/// An open connection; clones share it.
#[derive(Clone)]
pub struct ServerConnection {
    pub connection: MultiplexedConnection,
    /// The task that reads and writes it, where the library has none of its own.
    _driver: Option<Arc<AbortOnDropHandle<()>>>,
}

impl Server {
    /// Parses `redis://:password@host:6379/0` or, with TLS, `rediss://…`, and reads the files that
    /// TLS needs; does not connect.
    pub fn parse(url: &str, files: &TlsFiles) -> Result<Self, LedgerError> {
        refuse_sentinel(url)?;
        let without_tls = ["rediss", "valkeys"].iter().find_map(|scheme| {
            // The library refuses the scheme without its own TLS.
            url.strip_prefix(scheme)?.strip_prefix("://").map(|rest| format!("redis://{rest}"))
        });
        let client = Client::open(without_tls.as_deref().unwrap_or(url)).map_err(|error| {
            LedgerError::Broken(format!(
                "the URL of Redis is invalid ({}): write it as redis://host:6379, or \
                 rediss://host:6379 with TLS",
                error.detail().unwrap_or("it cannot be parsed")
            ))
        })?;
        let tls = TlsClient::for_url(without_tls.is_some(), files, TlsSettingNames::REDIS)
            .map_err(|error| LedgerError::Broken(error.to_string()))?;
        let scheme = if tls.is_some() { "rediss://" } else { "" };
        let address = format!("{scheme}{}", client.get_connection_info().addr());
        Ok(Self { client, tls, address })
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Connects and logs in.
    pub async fn connect(&self) -> RedisResult<ServerConnection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(REPLY_TIMEOUT));
        let Some(tls) = &self.tls else {
            let connection =
                self.client.get_multiplexed_async_connection_with_config(&config).await?;
            return Ok(ServerConnection { connection, _driver: None });
        };
        let stream = self.open(tls).await?;
        let login = self.client.get_connection_info().redis_settings();
        let logging_in = MultiplexedConnection::new_with_config(login, stream, config);
        let (connection, driver) = match in_time(logging_in).await {
            // Data that was sent meanwhile may have discarded the server's reason.
            Err(cut) if cut.is_connection_dropped() => return Err(self.refusal(tls, cut).await),
            connected => connected?,
        };
        let driver = tokio::spawn(driver);
        let driver = Some(Arc::new(AbortOnDropHandle::new(driver)));
        Ok(ServerConnection { connection, _driver: driver })
    }

    /// A connection for subscriptions.
    pub async fn connect_for_messages(&self) -> RedisResult<PubSub> {
        let Some(tls) = &self.tls else {
            return in_time(self.client.get_async_pubsub()).await;
        };
        let stream = self.open(tls).await?;
        in_time(PubSub::new(self.client.get_connection_info().redis_settings(), stream)).await
    }

    async fn open(&self, tls: &TlsClient) -> RedisResult<TlsConnection> {
        match self.client.get_connection_info().addr() {
            ConnectionAddr::Tcp(host, port) => Ok(tls.connect(host, *port).await?),
            _ => Err(io::Error::from(io::ErrorKind::Unsupported).into()),
        }
    }

    /// The reason for which the server closed a connection, if it sends one to a client that only
    /// listens.
    async fn refusal(&self, tls: &TlsClient, cut: RedisError) -> RedisError {
        let ConnectionAddr::Tcp(host, port) = self.client.get_connection_info().addr() else {
            return cut;
        };
        let refusal = tls.refusal(host, *port).await;
        refusal.filter(|error| tls.explain(error).is_some()).map_or(cut, RedisError::from)
    }

    /// True if connections are encrypted.
    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// The TLS failure behind an error, if there is one.
    pub fn tls_failure(&self, error: &RedisError) -> Option<TlsFailure> {
        self.tls.as_ref().and_then(|tls| tls.explain(error))
    }
}

async fn in_time<T>(connecting: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = || format!("no reply within {} s", CONNECT_TIMEOUT.as_secs());
    timeout(CONNECT_TIMEOUT, connecting)
        .await
        .unwrap_or_else(|_| Err(io::Error::new(io::ErrorKind::TimedOut, late()).into()))
}

fn refuse_sentinel(url: &str) -> Result<(), LedgerError> {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    if !scheme.contains("sentinel") {
        return Ok(());
    }
    Err(LedgerError::Broken(format!(
        "the URL of Redis begins with {scheme}://, and Redis Sentinel is not supported: give the \
         primary itself as redis://host:6379 (`redis-cli -p 26379 SENTINEL \
         get-master-addr-by-name NAME` prints it), or a host name that always resolves to it"
    )))
}
