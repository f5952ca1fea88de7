//! Connection settings of a vision API, and errors in them.

use super::{api_key::ApiKey, extra_headers::ExtraHeaders};
use juror_tls::TlsFileError;
use std::{path::PathBuf, time::Duration};

/// Connection settings of a vision API.
#[derive(Clone)]
pub struct HttpSettings {
    /// The base URL as in the SDKs: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The key; none for servers that need none.
    pub key: Option<ApiKey>,
    /// Time limit of a call, connecting included.
    pub timeout: Duration,
    /// Limit on calls in flight: the number of idle connections that are kept.
    pub concurrency: usize,
    /// Proxy for every call; none connects directly. The system's own proxy settings are ignored.
    pub proxy: Option<ProxySettings>,
    /// File of root certificates beside the system's, as PEM.
    pub ca_file: Option<PathBuf>,
    /// Headers that go out with every call.
    pub headers: ExtraHeaders,
}

/// A proxy, and the hosts that bypass it.
#[derive(Clone)]
pub struct ProxySettings {
    /// `http://host:port`, with an account if it needs one; never shown.
    pub url: String,
    /// Hosts that are reached without it, in the notation of `NO_PROXY`.
    pub except: Option<String>,
}

/// Reason why no client can be made of some settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The base URL is invalid.
    #[error("base URL {url:?} is invalid: {reason}")]
    BaseUrl {
        /// The URL as it was given, without secrets.
        url: String,
        /// The problem and the remedy.
        reason: String,
    },
    /// The proxy's URL is invalid.
    #[error("the proxy setting is invalid: {0}")]
    Proxy(String),
    /// The certificates cannot be read.
    #[error(transparent)]
    Certificates(#[from] TlsFileError),
    /// TLS cannot be set up: this machine has no root certificates, for one.
    #[error("HTTPS cannot be set up: {0}; are the system's CA certificates installed?")]
    Tls(String),
}
