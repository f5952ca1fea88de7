//! An alert by a webhook.

use super::ALERT_TIMEOUT;
use juror_files::http_client_builder;
use juror_types::error_chain::with_causes;
use reqwest::header::CONTENT_TYPE;

/// Posts the message as JSON, without a proxy, and follows no redirect: an address may hold a
/// secret, so no error shows more of it than its host.
pub async fn post(url: &str, message: &str) -> Result<(), String> {
    let builder = http_client_builder(url.starts_with("https:")).timeout(ALERT_TIMEOUT);
    let client = builder.build().map_err(|error| with_causes(&error))?;
    let request =
        client.post(url).header(CONTENT_TYPE, "application/json").body(message.to_owned());
    let response = request.send().await.map_err(|error| with_causes(&error.without_url()))?;
    let (host, status) = (response.url().host_str().unwrap_or_default(), response.status());
    match status.is_success() {
        true => Ok(()),
        false => Err(format!("{host} returned {status}")),
    }
}
