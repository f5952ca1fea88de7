//! Who may read and who may write.
//!
//! A server that only this machine can reach is open to it. Any other demands a token: as a bearer
//! token from programs, and through a log-in form, as a cookie, from browsers.

mod attempts;
mod guard;
mod headers;
mod host;
mod intake;
mod origin;
mod secret;
mod session;

pub use guard::guard;
pub use headers::secure;
pub use intake::take_in;
pub use origin::announces_json;
pub use secret::{InvalidSecret, Secret};
pub use session::routes;

use attempts::Attempts;
use axum::http::{HeaderMap, header};
use std::net::SocketAddr;

/// Decides about every request.
#[derive(Debug)]
pub struct Access {
    listen: SocketAddr,
    read: Option<Secret>,
    write: Option<Secret>,
    hosts: Vec<String>,
    secure_cookies: bool,
    attempts: Attempts,
}

/// Why a server may not start as it is set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    /// Others could reach it and nothing would hold them back.
    #[error(
        "{listen} can be reached from other machines, so a token has to protect it: set serve.read_token_file or serve.write_token_file, or listen on 127.0.0.1"
    )]
    Unprotected {
        /// The address.
        listen: SocketAddr,
    },
    /// Whoever may read could write.
    #[error("the read token and the write token are the same: take two")]
    SameTokens,
    /// A name that no browser would send.
    #[error(
        "{0:?} is not a host: write a name or an address, with its port if that is not the usual one"
    )]
    InvalidHost(String),
}

/// What whoever asks may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitor {
    /// See runs.
    pub may_read: bool,
    /// Begin, continue and cancel runs.
    pub may_write: bool,
    /// How this is known.
    pub pass: Pass,
}

/// How a visitor is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Not at all.
    None,
    /// By a bearer token.
    Bearer,
    /// By the cookie of a log-in.
    Cookie,
}

/// The address of whoever asks, as an extension of its requests.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

impl Access {
    /// Checks that a server at this address, once it is bound, may be opened with these tokens.
    /// The read token reads; the write token reads and writes; with a read token alone nobody
    /// writes. `hosts` are further names under which the server is reached.
    pub fn new(
        listen: SocketAddr,
        read_token: Option<Secret>,
        write_token: Option<Secret>,
        hosts: Vec<String>,
    ) -> Result<Self, AccessError> {
        if !listen.ip().is_loopback() && read_token.is_none() && write_token.is_none() {
            return Err(AccessError::Unprotected { listen });
        }
        if let (Some(read), Some(write)) = (&read_token, &write_token)
            && read == write
        {
            return Err(AccessError::SameTokens);
        }
        if let Some(host) = hosts.iter().find(|host| !host::is_host(host)) {
            return Err(AccessError::InvalidHost(host.clone()));
        }
        let hosts = hosts.iter().map(|host| host.to_ascii_lowercase()).collect();
        let (read, write) = (read_token, write_token);
        let attempts = Attempts::default();
        Ok(Self { listen, read, write, hosts, secure_cookies: false, attempts })
    }

    /// Browsers are to send the cookie over HTTPS alone, whatever a proxy says of its scheme.
    pub fn with_secure_cookies(self) -> Self {
        Self { secure_cookies: true, ..self }
    }

    /// Whether there is no token: whoever reaches the server may do everything.
    pub fn is_open(&self) -> bool {
        self.read.is_none() && self.write.is_none()
    }

    /// What the sender of these headers may do.
    pub fn visitor(&self, headers: &HeaderMap) -> Visitor {
        if let Some(token) = bearer(headers) {
            return self.known(Pass::Bearer, |secret| secret.is(token));
        }
        match session::cookie(headers) {
            Some(cookie) => self.known(Pass::Cookie, |secret| secret.is_cookie(cookie)),
            None => self.known(Pass::None, |_| false),
        }
    }

    fn known(&self, pass: Pass, is: impl Fn(&Secret) -> bool) -> Visitor {
        if self.is_open() {
            return Visitor { may_read: true, may_write: true, pass: Pass::None };
        }
        let may_write = self.write.as_ref().is_some_and(&is);
        let may_read = self.read.as_ref().is_some_and(&is) || may_write;
        Visitor { may_read, may_write, pass: if may_read { pass } else { Pass::None } }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests;
