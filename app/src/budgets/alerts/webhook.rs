//! An alert by a webhook.

use super::{ALERT_TIMEOUT, AlertPayload};
use juror_types::error_chain::with_causes;
use reqwest::{Client, header::CONTENT_TYPE, redirect};

/// Posts the message as JSON, without a proxy, and follows no redirect: an address may hold a
/// secret, so no error shows more of it than its host.
pub async fn post(url: &str, payload: &AlertPayload) -> Result<(), String> {
    // An error means that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .user_agent(concat!("juror/", env!("CARGO_PKG_VERSION")))
        .timeout(ALERT_TIMEOUT)
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy();
    // Without TLS the system's certificates are not read.
    let builder = if url.starts_with("https:") { builder } else { builder.tls_certs_only([]) };
    let client = builder.build().map_err(|error| with_causes(&error))?;
    let message = serde_json::to_vec(payload).map_err(|error| error.to_string())?;
    let request = client.post(url).header(CONTENT_TYPE, "application/json").body(message);
    let response = request.send().await.map_err(|error| with_causes(&error.without_url()))?;
    let (host, status) = (response.url().host_str().unwrap_or_default(), response.status());
    match status.is_success() {
        true => Ok(()),
        false => Err(format!("{host} returned {status}")),
    }
}
