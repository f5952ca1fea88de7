//! Check of the host header, against DNS rebinding: a foreign site whose name points to this
//! machine could otherwise read an open server.

use super::Access;
use axum::http::{HeaderMap, header};
use std::net::IpAddr;

impl Access {
    /// True if the server serves the host of a request. With tokens and without `serve.hosts` it
    /// serves any: a foreign page has no token.
    pub(super) fn knows_host(&self, headers: &HeaderMap) -> bool {
        let Some(host) = named(headers) else { return false };
        if !self.is_open() && self.hosts.is_empty() {
            return true;
        }
        let (name, _) = split(&host);
        let is_own_address = |address: IpAddr| address.is_loopback() || address == self.listen.ip();
        self.hosts.iter().any(|known| *known == host || known == name)
            || name == "localhost"
            || address(name).is_some_and(is_own_address)
    }
}

/// True if text can be a host, with or without a port.
pub fn is_host(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    !text.is_empty() && text.bytes().all(plain)
}

/// The single host of a request, in lower case.
pub fn named(headers: &HeaderMap) -> Option<String> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next()?.to_str().ok()?;
    (hosts.next().is_none() && is_host(host)).then(|| host.to_ascii_lowercase())
}

/// The port in the host header, if there is one.
pub fn named_port(headers: &HeaderMap) -> Option<u16> {
    split(&named(headers)?).1?.parse().ok()
}

/// Splits a host into name and port.
fn split(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    }
}

fn address(name: &str) -> Option<IpAddr> {
    let inner = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    inner.unwrap_or(name).parse().ok()
}
