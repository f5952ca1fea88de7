//! Connection settings of a vision API, errors in them, and the client with these connections, proxy
//! and certificates.

use super::credentials::{ApiKey, ExtraHeaders};
use juror_files::http_client_builder;
use juror_tls::{TlsFileError, TlsSettingNames, read_certificates};
use juror_types::error_chain::with_causes;
use reqwest::{Certificate, Client, NoProxy, Proxy};
use std::{path::PathBuf, time::Duration};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which an idle connection is closed, below the five seconds of common servers: a
/// request sent while the server closes would be lost, and counted as spent.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Time without traffic after which a connection is probed (HTTP/2 only), so that a dead one does
/// not lose all calls that share it.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Connection settings of a vision API.
#[derive(Clone)]
pub struct HttpSettings {
    /// The base URL as in the SDKs: `https://api.openai.com/v1`.
    pub base_url: String,
    /// The key; `None` for servers that need none.
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

/// A client for calls to a vision API; `tls` is true if they use it.
pub(super) fn client(settings: &HttpSettings, tls: bool) -> Result<Client, SetupError> {
    let tls = tls || has_tls_proxy(settings);
    // The key must not be sent to another address, and retries are decided in `retry`.
    let builder = http_client_builder(tls)
        .connect_timeout(CONNECT_TIMEOUT.min(settings.timeout))
        .pool_idle_timeout(IDLE_TIMEOUT)
        .pool_max_idle_per_host(settings.concurrency.max(1))
        .http2_keep_alive_interval(KEEP_ALIVE)
        .http2_keep_alive_timeout(KEEP_ALIVE)
        .default_headers(settings.headers.map());
    let roots = root_certificates(settings)?;
    let builder = if tls { builder.tls_certs_merge(roots) } else { builder };
    let builder = match &settings.proxy {
        Some(proxy) => builder.proxy(reqwest_proxy(proxy)?),
        None => builder,
    };
    builder.build().map_err(|error| SetupError::Tls(with_causes(&error)))
}

fn has_tls_proxy(settings: &HttpSettings) -> bool {
    settings.proxy.as_ref().is_some_and(|proxy| proxy.url.starts_with("https:"))
}

fn reqwest_proxy(settings: &ProxySettings) -> Result<Proxy, SetupError> {
    let proxy = Proxy::all(&settings.url)
        .map_err(|error| SetupError::Proxy(with_causes(&error.without_url())))?;
    Ok(proxy.no_proxy(settings.except.as_deref().and_then(NoProxy::from_string)))
}

fn root_certificates(settings: &HttpSettings) -> Result<Vec<Certificate>, SetupError> {
    let Some(file) = &settings.ca_file else { return Ok(Vec::new()) };
    let read = read_certificates(TlsSettingNames::JUDGE.ca_file, file)?;
    let certificates = read.iter().map(|certificate| Certificate::from_der(certificate));
    certificates.collect::<Result<_, _>>().map_err(|error| SetupError::Tls(with_causes(&error)))
}
