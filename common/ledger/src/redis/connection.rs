//! Connection to Redis, shared by all callers of a process and re-established when it is lost.
//!
//! A server's run id identifies one start of the server. Whenever it differs from the last one, the
//! process first registers its owners and leases.

use super::{
    failure::{ONE_PRIMARY, explain, explain_connecting, lost_connection, unexpected_reply},
    registration::OwnerRegistration,
    scripts::{self, StepScript},
    server::{Server, ServerConnection},
};
use crate::error::LedgerError;
use futures_util::future::BoxFuture;
use juror_tls::TlsFiles;
use juror_types::id::OwnerId;
use parking_lot::{Mutex, MutexGuard};
use redis::{ErrorKind, RedisError};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use tokio::sync::watch;

/// Timeout of a connection that subscribes to changes.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(15);

/// Connection of one process to Redis.
pub struct Connection {
    server: Server,
    prefix: String,
    process: OwnerId,
    link: tokio::sync::Mutex<RedisLink>,
    /// Number of connection attempts.
    tries: AtomicU64,
    registration: Mutex<OwnerRegistration>,
    changes: watch::Sender<u64>,
    #[cfg(test)]
    pub(super) clock: Option<crate::clock::Clock>,
}

impl Connection {
    /// Parses the URL and reads the files for TLS; does not connect.
    pub fn new(
        url: &str,
        tls: &TlsFiles,
        prefix: String,
        changes: watch::Sender<u64>,
    ) -> Result<Self, LedgerError> {
        Ok(Self {
            server: Server::parse(url, tls)?,
            prefix,
            process: OwnerId::random(),
            link: tokio::sync::Mutex::default(),
            tries: AtomicU64::new(0),
            registration: Mutex::default(),
            changes,
            #[cfg(test)]
            clock: None,
        })
    }

    /// Runs a script. A lost connection is re-established once, and the script repeated: every
    /// script is idempotent.
    pub fn perform<'a>(
        &'a self,
        step: &'a StepScript,
        arguments: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>> {
        Box::pin(async move {
            let link = self.link().await?;
            match self.invoke(&link, step, arguments).await {
                Err(error) if lost_connection(&error) => self.drop_link(&link).await,
                answer => return answer.map_err(|error| explain(&error, self.address())),
            }
            let link = self.link().await?;
            self.invoke(&link, step, arguments)
                .await
                .map_err(|error| explain(&error, self.address()))
        })
    }

    /// Runs a script and parses the first text of its reply; `step` names it in the error of
    /// another reply.
    pub async fn perform_for<T>(
        &self,
        script: &StepScript,
        arguments: &[String],
        step: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, LedgerError> {
        let answer = self.perform(script, arguments).await?;
        answer.first().and_then(|first| parse(first)).ok_or_else(|| unexpected_reply(step))
    }

    /// Runs a script whose reply is 1 or 0.
    pub async fn perform_check(
        &self,
        script: &StepScript,
        arguments: &[String],
    ) -> Result<bool, LedgerError> {
        let answer = self.perform(script, arguments).await?;
        Ok(answer.first().is_some_and(|first| first == "1"))
    }

    /// Runs a plain command.
    pub async fn command<T: redis::FromRedisValue>(
        &self,
        command: &redis::Cmd,
    ) -> Result<T, LedgerError> {
        let mut link = self.link().await?;
        let answer = command.query_async(&mut link.link.connection).await;
        if answer.as_ref().is_err_and(lost_connection) {
            self.drop_link(&link).await;
        }
        answer.map_err(|error| explain(&error, self.address()))
    }

    /// The key of a record.
    pub fn key(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix)
    }

    /// Leases, claims and owners of this process.
    pub fn registration(&self) -> MutexGuard<'_, OwnerRegistration> {
        self.registration.lock()
    }

    /// Wakes waiting callers of this process.
    pub fn notify_waiting(&self) {
        self.changes.send_modify(|change| *change = change.wrapping_add(1));
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Id of this process among the connected ones.
    pub fn process(&self) -> &OwnerId {
        &self.process
    }

    /// Separate connection that receives changes, by which other processes also detect that this
    /// one is alive.
    pub async fn listen(&self) -> Result<redis::aio::PubSub, LedgerError> {
        // This makes the process register with a restarted server even without requests.
        self.link().await?;
        let subscribed = async {
            let mut messages = self.server.connect_for_messages().await?;
            let alive = self.key(&format!("alive:{}", self.process));
            messages.subscribe(&[self.key("changes"), alive]).await?;
            Ok(messages)
        };
        match tokio::time::timeout(SUBSCRIBE_TIMEOUT, subscribed).await {
            Ok(answer) => answer.map_err(|error| explain_connecting(&error, &self.server)),
            Err(_) => Err(LedgerError::Unavailable(format!(
                "Redis at {} sent no reply within {} s",
                self.address(),
                SUBSCRIBE_TIMEOUT.as_secs()
            ))),
        }
    }

    async fn link(&self) -> Result<OpenLink, LedgerError> {
        let tried_before = self.tries.load(Ordering::SeqCst);
        let mut link = self.link.lock().await;
        if let Some(open) = &link.open {
            return Ok(open.clone());
        }
        // An attempt that was made while this caller waited for the lock counts as its own, so that
        // many callers do not wait for one timeout after the other.
        if let Some((number, error)) = &link.failed
            && *number > tried_before
        {
            return Err(error.clone());
        }
        let number = self.tries.fetch_add(1, Ordering::SeqCst) + 1;
        match self.connect(number, &link.known).await {
            Ok(open) => {
                link.known.clone_from(&open.server);
                link.open = Some(open.clone());
                Ok(open)
            }
            Err(error) => {
                let error = explain_connecting(&error, &self.server);
                link.failed = Some((number, error.clone()));
                Err(error)
            }
        }
    }

    /// Connects, and registers unless the server's run id is known.
    async fn connect(&self, number: u64, known: &str) -> Result<OpenLink, RedisError> {
        let mut link = self.server.connect().await?;
        let facts: String = redis::cmd("INFO").query_async(&mut link.connection).await?;
        if let Some(mode) = unsupported_mode(&facts) {
            let detail = format!("{mode}: {ONE_PRIMARY}");
            return Err((ErrorKind::InvalidClientConfig, "unsupported mode", detail).into());
        }
        let server = facts.lines().find_map(|line| line.strip_prefix("run_id:"));
        let open = OpenLink { link, server: server.unwrap_or_default().to_owned(), number };
        if open.server != known {
            let arguments = self.registration().script_arguments();
            self.invoke(&open, &scripts::REGISTER, &arguments).await?;
        }
        Ok(open)
    }

    async fn drop_link(&self, lost: &OpenLink) {
        let mut link = self.link.lock().await;
        // Another caller may have re-established it already.
        if link.open.as_ref().is_some_and(|open| open.number == lost.number) {
            link.open = None;
        }
    }

    async fn invoke(
        &self,
        link: &OpenLink,
        step: &StepScript,
        arguments: &[String],
    ) -> Result<Vec<String>, RedisError> {
        let mut invocation = step.prepare_invoke();
        invocation.arg(&self.prefix).arg(&link.server).arg(self.time()).arg(arguments);
        invocation.invoke_async(&mut link.link.connection.clone()).await
    }

    /// Empty: scripts use the clock of Redis.
    #[cfg(not(test))]
    fn time(&self) -> &'static str {
        ""
    }

    /// The clock of a test.
    #[cfg(test)]
    fn time(&self) -> String {
        self.clock.as_ref().map(|clock| clock().to_string()).unwrap_or_default()
    }
}

#[derive(Default)]
struct RedisLink {
    open: Option<OpenLink>,
    /// Run id of the server that this process registered with last.
    known: String,
    /// The last failed attempt and its error.
    failed: Option<(u64, LedgerError)>,
}

#[derive(Clone)]
struct OpenLink {
    link: ServerConnection,
    server: String,
    /// Number of the attempt that made it; identifies the connection that was lost.
    number: u64,
}

/// A mode in which several servers share the keys or redirect clients, by the server's INFO.
fn unsupported_mode(facts: &str) -> Option<&'static str> {
    facts.lines().find_map(|line| match line.trim_end() {
        "redis_mode:cluster" | "cluster_enabled:1" => Some("it is a node of a Redis Cluster"),
        "redis_mode:sentinel" => Some("it is a Sentinel, not a data server"),
        _ => None,
    })
}
