//! Common settings of HTTP clients.

use reqwest::{Client, ClientBuilder, redirect, retry};

/// Builder of a client without redirects, retries and proxies. Without `tls` it reads no
/// certificates of the system.
pub fn http_client_builder(tls: bool) -> ClientBuilder {
    // It fails only if a provider is installed already, which works as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("juror/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .no_proxy();
    if tls { builder } else { builder.tls_certs_only([]) }
}
