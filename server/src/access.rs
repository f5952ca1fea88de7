//! Read and write access.
//!
//! A server on a loopback address is open. Any other requires a token: programs send it as a bearer
//! token; browsers log in with a form and send a session cookie.

mod access_token;
mod authorization;
mod host;
mod login;
mod login_limiter;
mod origin;
mod proxies;
mod session_store;

pub use access_token::Secret;
pub use proxies::TrustedProxies;
pub(crate) use {
    authorization::authorize, host::named_port as host_port, login::cookie_value, login::routes,
    origin::announces_json,
};

use axum::http::{HeaderMap, header};
use login_limiter::LoginLimiter;
use session_store::{AccessScope, Sessions};
use std::net::SocketAddr;

/// Access control of requests.
#[derive(Debug)]
pub struct Access {
    listen: SocketAddr,
    read: Option<Secret>,
    write: Option<Secret>,
    hosts: Vec<String>,
    proxies: TrustedProxies,
    attempts: LoginLimiter,
    sessions: Sessions,
}

/// Error in the settings of access.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum AccessError {
    /// An address that other machines can reach, without a token.
    #[error(
        "{listen} can be reached from other machines, so a token is required: set serve.read_token_file or serve.write_token_file, or listen on 127.0.0.1"
    )]
    Unprotected { listen: SocketAddr },
    /// A host name of a proxy, without a token.
    #[error(
        "serve.hosts has {0:?}, so other machines reach this server through a proxy and a token is required: set serve.read_token_file or serve.write_token_file, or empty serve.hosts"
    )]
    UnprotectedHost(String),
    /// The same token for reading and writing.
    #[error("the read token and the write token are the same: use different ones")]
    SameTokens,
    /// An invalid host name.
    #[error(
        "{0:?} is not a host: write a name or an address, with its port if that is not the usual one"
    )]
    InvalidHost(String),
    /// An invalid address or network of a proxy.
    #[error("serve.trusted_proxies: {0:?} is neither an address nor a network such as 10.0.0.0/8")]
    InvalidProxy(String),
}

/// Permissions of a requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// Permission to view runs.
    pub may_read: bool,
    /// Permission to start, resume and cancel runs.
    pub may_write: bool,
    /// Credential of the requester.
    pub credential: Credential,
}

/// Credential of a requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// No credential.
    None,
    /// Bearer token.
    Bearer,
    /// Session cookie.
    Cookie,
}

/// Address of the client, as an extension of its requests.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

impl Access {
    /// Access control of a server at this bound address. The read token permits reading, the write
    /// token reading and writing. `hosts` are additional host names of the server.
    pub fn new(
        listen: SocketAddr,
        read_token: Option<Secret>,
        write_token: Option<Secret>,
        hosts: Vec<String>,
    ) -> Result<Self, AccessError> {
        let is_open = read_token.is_none() && write_token.is_none();
        if is_open && !listen.ip().is_loopback() {
            return Err(AccessError::Unprotected { listen });
        }
        if !is_open && read_token == write_token {
            return Err(AccessError::SameTokens);
        }
        if let Some(host) = hosts.iter().find(|host| !host::is_host(host)) {
            return Err(AccessError::InvalidHost(host.clone()));
        }
        if let Some(host) = hosts.first().filter(|_| is_open) {
            return Err(AccessError::UnprotectedHost(host.clone()));
        }
        Ok(Self {
            listen,
            read: read_token,
            write: write_token,
            hosts: hosts.iter().map(|host| host.to_ascii_lowercase()).collect(),
            proxies: TrustedProxies::default(),
            attempts: LoginLimiter::default(),
            sessions: Sessions::default(),
        })
    }

    /// Sets proxies whose `X-Forwarded-For` identifies the clients whose log-ins are limited.
    pub fn with_trusted_proxies(self, proxies: TrustedProxies) -> Self {
        Self { proxies, ..self }
    }

    /// True if there is no token, so that every client may read and write.
    pub fn is_open(&self) -> bool {
        self.read.is_none() && self.write.is_none()
    }

    /// Permissions of a request with these headers.
    pub fn visitor(&self, headers: &HeaderMap) -> Visitor {
        if let Some(token) = bearer(headers) {
            return self.known(Credential::Bearer, self.scope_of(token));
        }
        let session = login::session_cookie(self, headers);
        self.known(Credential::Cookie, session.and_then(|id| self.sessions.scope(id)))
    }

    /// Scope of a token. Both tokens are always compared, so that the time reveals nothing.
    fn scope_of(&self, token: &str) -> Option<AccessScope> {
        let is = |secret: &Option<Secret>| secret.as_ref().is_some_and(|secret| secret.is(token));
        match (is(&self.write), is(&self.read)) {
            (true, _) => Some(AccessScope::Write),
            (false, true) => Some(AccessScope::Read),
            (false, false) => None,
        }
    }

    fn known(&self, credential: Credential, scope: Option<AccessScope>) -> Visitor {
        if self.is_open() {
            return Visitor { may_read: true, may_write: true, credential: Credential::None };
        }
        let may_write = scope == Some(AccessScope::Write);
        let credential = if scope.is_some() { credential } else { Credential::None };
        Visitor { may_read: scope.is_some(), may_write, credential }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests;
