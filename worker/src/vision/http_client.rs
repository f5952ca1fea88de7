//! The HTTP client of a vision API: connections, proxy and certificates.

use super::http_settings::{HttpSettings, ProxySettings, SetupError};
use juror_files::http_client_builder;
use juror_tls::{TlsSettingNames, read_certificates};
use juror_types::error_chain::with_causes;
use reqwest::{Certificate, Client, NoProxy, Proxy};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Time after which an idle connection is closed, below the five seconds of common servers: a
/// request sent while the server closes would be lost, and counted as spent.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// Time without traffic after which a connection is probed (HTTP/2 only), so that a dead one does
/// not lose all calls that share it.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// A client for calls to a vision API; `tls` is true if they use it.
pub(super) fn build(settings: &HttpSettings, tls: bool) -> Result<Client, SetupError> {
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
