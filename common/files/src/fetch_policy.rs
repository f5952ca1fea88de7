//! Hosts and buckets from which files may be read. The settings name them, never a job.

use juror_types::reference::{ObjectReference, ObjectStoreKind, Reference, is_bucket, is_key};
use std::net::IpAddr;
use url::{Host, Url};

/// The hosts and buckets that the settings allow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchPolicy {
    hosts: Vec<AllowedHost>,
    private: Vec<Host>,
    buckets: Vec<AllowedBucket>,
}

/// One entry of `files.hosts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    scheme: &'static str,
    /// True if it matches every host below this one, but not this one itself.
    below: bool,
    host: String,
    port: u16,
}

/// One entry of `files.buckets`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedBucket {
    /// The service that holds the bucket.
    pub service: ObjectStoreKind,
    /// Name of the header.
    pub name: String,
    /// The first segments of allowed keys; empty for all.
    pub prefix: String,
}

/// A source that the settings do not allow, with the setting to change.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum NotAllowed {
    /// A host.
    #[error(
        "files from {origin} are not allowed: if you trust it, add {entry:?} to \
         files.hosts"
    )]
    Host {
        /// Scheme, host and port.
        origin: String,
        /// Entry to add to the setting.
        entry: String,
    },
    /// A bucket, or a part of it.
    #[error(
        "this file of {bucket} is not allowed: add {bucket:?}, or a prefix in it, to \
         files.buckets"
    )]
    Bucket {
        /// The bucket, as in `s3://bucket`.
        bucket: String,
    },
}

/// An invalid value of `[files]`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("setting {key} is {value}: {remedy}")]
#[expect(missing_docs, reason = "the messages name every field")]
pub struct InvalidFileSetting {
    /// The setting, with its section.
    pub key: &'static str,
    pub value: String,
    pub remedy: &'static str,
}

impl InvalidFileSetting {
    pub(crate) fn new(key: &'static str, value: impl ToString, remedy: &'static str) -> Self {
        Self { key, value: value.to_string(), remedy }
    }
}

impl FetchPolicy {
    /// Parses `files.hosts`, `files.private_hosts` and `files.buckets`.
    pub fn parse(
        hosts: &[String],
        private_hosts: &[String],
        buckets: &[String],
    ) -> Result<Self, InvalidFileSetting> {
        let host = "use host, *.host or host:port for HTTPS, and http://host for plain HTTP";
        let private = "use a host's name or an IP address, without a port";
        let bucket = "use s3://bucket or s3://bucket/prefix";
        Ok(Self {
            hosts: parse_all("files.hosts", hosts, AllowedHost::parse, host)?,
            private: parse_all("files.private_hosts", private_hosts, private_host, private)?,
            buckets: parse_all("files.buckets", buckets, AllowedBucket::parse, bucket)?,
        })
    }

    /// The entries of `files.hosts`, in order.
    pub fn hosts(&self) -> &[AllowedHost] {
        &self.hosts
    }

    /// The entries of `files.buckets`, in order.
    pub fn buckets(&self) -> &[AllowedBucket] {
        &self.buckets
    }

    /// Index of the entry that allows this URL.
    pub fn host(&self, url: &Url) -> Result<usize, NotAllowed> {
        let found = self.hosts.iter().position(|entry| entry.covers(url));
        found.ok_or_else(|| {
            let host = url.host_str().unwrap_or_default();
            let scheme = if url.scheme() == "https" { "" } else { "http://" };
            let port = url.port().map_or(String::new(), |port| format!(":{port}"));
            NotAllowed::Host {
                origin: format!("{}://{host}{port}", url.scheme()),
                entry: format!("{scheme}{host}{port}"),
            }
        })
    }

    /// Index of the entry that allows this object.
    pub fn bucket(&self, object: &ObjectReference) -> Result<usize, NotAllowed> {
        let found = self.buckets.iter().position(|entry| entry.covers(object));
        found.ok_or_else(|| NotAllowed::Bucket {
            bucket: format!("{}://{}", object.service.name(), object.bucket),
        })
    }

    /// Checks that a reference is allowed; paths have their own rules.
    pub fn check(&self, reference: &Reference<'_>) -> Result<(), NotAllowed> {
        match reference {
            Reference::Path(_) => Ok(()),
            Reference::Web(url) => self.host(url).map(|_| ()),
            Reference::Object(object) => self.bucket(object).map(|_| ()),
        }
    }

    /// True if this name may resolve to a private address.
    pub fn is_private_host(&self, name: &str) -> bool {
        let name = without_last_dot(name);
        self.private.iter().any(|host| matches!(host, Host::Domain(known) if known == name))
    }

    /// True if this address is allowed although it is private.
    pub fn is_private_address(&self, address: IpAddr) -> bool {
        self.private.contains(&host_of(address))
    }
}

impl AllowedHost {
    /// True for plain HTTP.
    pub fn is_plain(&self) -> bool {
        self.scheme == "http"
    }

    /// Parses `host` or `*.host`, each with or without a port, for HTTPS, and `http://…` for plain
    /// HTTP.
    fn parse(entry: &str) -> Option<Self> {
        let (scheme, rest) = entry.split_once("://").unwrap_or(("https", entry));
        let scheme = ["https", "http"].into_iter().find(|known| *known == scheme)?;
        let below = rest.starts_with("*.");
        let rest = rest.strip_prefix("*.").unwrap_or(rest);
        if rest.contains(['/', '\\', '?', '#', '@', '*']) {
            return None;
        }
        let url = Url::parse(&format!("{scheme}://{rest}")).ok()?;
        let is_name = matches!(url.host()?, Host::Domain(_));
        let host = without_last_dot(url.host_str()?).to_owned();
        let usable = !host.is_empty() && (is_name || !below);
        usable.then_some(Self { scheme, below, host, port: url.port_or_known_default()? })
    }

    fn covers(&self, url: &Url) -> bool {
        let host = without_last_dot(url.host_str().unwrap_or_default());
        let same_host = match self.below {
            false => host == self.host,
            true => host
                .strip_suffix(self.host.as_str())
                .and_then(|rest| rest.strip_suffix('.'))
                .is_some_and(|rest| !rest.is_empty()),
        };
        url.scheme() == self.scheme && url.port_or_known_default() == Some(self.port) && same_host
    }
}

impl AllowedBucket {
    /// Parses `s3://bucket` or `s3://bucket/prefix`; likewise `gs` and `az`.
    pub fn parse(entry: &str) -> Option<Self> {
        let (scheme, rest) = entry.split_once("://")?;
        let service = ObjectStoreKind::from_name(scheme)?;
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let usable = is_bucket(name) && (prefix.is_empty() || is_key(prefix));
        usable.then(|| Self { service, name: name.to_owned(), prefix: prefix.to_owned() })
    }

    fn covers(&self, object: &ObjectReference) -> bool {
        let below = object.key.strip_prefix(self.prefix.as_str());
        let inside = self.prefix.is_empty() || below.is_some_and(|rest| rest.starts_with('/'));
        self.service == object.service && self.name == object.bucket && inside
    }
}

/// Parses the entries of a setting.
fn parse_all<T>(
    key: &'static str,
    entries: &[String],
    parse: impl Fn(&str) -> Option<T>,
    remedy: &'static str,
) -> Result<Vec<T>, InvalidFileSetting> {
    let parse = |entry: &String| {
        parse(entry).ok_or_else(|| InvalidFileSetting::new(key, format!("{entry:?}"), remedy))
    };
    entries.iter().map(parse).collect()
}

/// Parses a name or an address, an IPv6 one with or without brackets.
fn private_host(entry: &str) -> Option<Host> {
    if let Ok(address) = entry.parse() {
        return Some(host_of(address));
    }
    match Host::parse(without_last_dot(entry)).ok()? {
        Host::Domain(name) if name.is_empty() || name.contains(['*', '/']) => None,
        host => Some(host),
    }
}

fn host_of(address: IpAddr) -> Host {
    match address {
        IpAddr::V4(address) => Host::Ipv4(address),
        IpAddr::V6(address) => Host::Ipv6(address),
    }
}

/// The name without the optional trailing dot.
fn without_last_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests;
