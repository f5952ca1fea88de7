//! One connection to Redis, shared by all callers of a process and made anew when it is lost.
//!
//! A connection reaches one life of a server: its run id. Whenever that is another than before,
//! the process first says who it is and what it holds.

use super::{
    failure::{ONE_PRIMARY, explain, explain_connecting, lost_connection},
    scripts::{self, StepScript},
    server::{Server, ServerConnection},
};
use crate::error::LedgerError;
use crate::redis::registration::OwnerRegistration;
use futures_util::future::BoxFuture;
use juror_tls::TlsFiles;
use juror_types::id::OwnerId;
use redis::{ErrorKind, RedisError};
use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

/// Time limit for a connection that hears of changes.
const SUBSCRIBING: Duration = Duration::from_secs(15);

/// Redis as one process sees it.
pub struct Connection {
    server: Server,
    prefix: String,
    process: OwnerId,
    link: tokio::sync::Mutex<RedisLink>,
    /// Connections that were tried.
    tries: AtomicU64,
    presence: Mutex<OwnerRegistration>,
    changes: watch::Sender<u64>,
    #[cfg(test)]
    pub(super) clock: Option<crate::clock::Clock>,
}

#[derive(Default)]
struct RedisLink {
    open: Option<OpenLink>,
    /// The last life of the server that we have checked in with.
    known: String,
    /// The last try that failed, and why.
    failed: Option<(u64, LedgerError)>,
}

#[derive(Clone)]
struct OpenLink {
    link: ServerConnection,
    server: String,
    /// Number of the attempt that made it; identifies the connection that was lost.
    number: u64,
}

impl Connection {
    /// Reads the URL and the files for TLS; connects to nothing yet.
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
            presence: Mutex::default(),
            changes,
            #[cfg(test)]
            clock: None,
        })
    }

    /// Runs a script. A connection that turns out to be lost is made anew once, and the script
    /// asked again: no step does harm if it is done twice.
    pub fn perform<'a>(
        &'a self,
        step: &'a StepScript,
        arguments: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>> {
        Box::pin(async move {
            let link = self.link().await?;
            match self.invoke(&link, step, arguments).await {
                Err(error) if lost_connection(&error) => self.forget(&link).await,
                answer => return answer.map_err(|error| explain(&error, self.address())),
            }
            let link = self.link().await?;
            self.invoke(&link, step, arguments)
                .await
                .map_err(|error| explain(&error, self.address()))
        })
    }

    /// Runs a plain command.
    pub async fn command<T: redis::FromRedisValue>(
        &self,
        command: &redis::Cmd,
    ) -> Result<T, LedgerError> {
        let mut link = self.link().await?;
        let answer = command.query_async(&mut link.link.connection).await;
        if answer.as_ref().is_err_and(lost_connection) {
            self.forget(&link).await;
        }
        answer.map_err(|error| explain(&error, self.address()))
    }

    /// The name of a record.
    pub fn key(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix)
    }

    /// Leases, claims and owner of this process.
    pub fn presence(&self) -> MutexGuard<'_, OwnerRegistration> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes those of this process who wait.
    pub fn announce(&self) {
        self.changes.send_modify(|change| *change = change.wrapping_add(1));
    }

    /// Host and port.
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Names this process among those that are connected.
    pub fn process(&self) -> &OwnerId {
        &self.process
    }

    /// A connection of its own that hears of changes, and by which others see that this process
    /// lives.
    pub async fn listen(&self) -> Result<redis::aio::PubSub, LedgerError> {
        // So that a restarted server hears of us even while nobody asks for anything.
        self.link().await?;
        let subscribed = async {
            let mut messages = self.server.connect_for_messages().await?;
            let alive = self.key(&format!("alive:{}", self.process));
            messages.subscribe(&[self.key("changes"), alive]).await?;
            Ok(messages)
        };
        match tokio::time::timeout(SUBSCRIBING, subscribed).await {
            Ok(answer) => answer.map_err(|error| explain_connecting(&error, &self.server)),
            Err(_) => Err(LedgerError::Unavailable(format!(
                "Redis at {} does not answer within {} s",
                self.address(),
                SUBSCRIBING.as_secs()
            ))),
        }
    }

    async fn link(&self) -> Result<OpenLink, LedgerError> {
        let tried_before = self.tries.load(Ordering::SeqCst);
        let mut link = self.link.lock().await;
        if let Some(open) = &link.open {
            return Ok(open.clone());
        }
        // A try that was made while we waited for our turn is as good as one of our own: a crowd
        // of callers must not wait for one timeout after the other.
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

    /// Connects, and checks in unless this life of the server is known.
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
            let introduction = self.presence().introduction();
            self.invoke(&open, &scripts::CHECK_IN, &introduction).await?;
        }
        Ok(open)
    }

    async fn forget(&self, lost: &OpenLink) {
        let mut link = self.link.lock().await;
        // Somebody else may have made it anew already.
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

    /// Empty: Redis has its own clock.
    #[cfg(not(test))]
    fn time(&self) -> &'static str {
        ""
    }

    /// A test may tell the time.
    #[cfg(test)]
    fn time(&self) -> String {
        self.clock.as_ref().map(|clock| clock().to_string()).unwrap_or_default()
    }
}

/// A mode in which several servers share the keys or tell of others, by what a server says of
/// itself.
fn unsupported_mode(facts: &str) -> Option<&'static str> {
    facts.lines().find_map(|line| match line.trim_end() {
        "redis_mode:cluster" | "cluster_enabled:1" => Some("it is a node of a Redis Cluster"),
        "redis_mode:sentinel" => Some("it is a Sentinel and no Redis"),
        _ => None,
    })
}
