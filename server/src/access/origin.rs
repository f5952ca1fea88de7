//! Origin of requests, against cross-site request forgery. Browsers set it, and pages cannot forge
//! it.

use super::host;
use axum::http::{HeaderMap, header};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A page of this server, or direct navigation.
    Own,
    /// A page of another site.
    Foreign,
    /// No origin: not a current browser.
    Unknown,
}

/// Origin of a request with these headers.
pub fn from_headers(headers: &HeaderMap) -> Origin {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let origin = text(header::ORIGIN.as_str());
    match (text("sec-fetch-site"), origin) {
        (Some("same-origin" | "none"), _) => Origin::Own,
        (Some(_), _) => Origin::Foreign,
        (None, Some(origin)) if is_own(origin, headers) => Origin::Own,
        (None, Some(_)) => Origin::Foreign,
        (None, None) => Origin::Unknown,
    }
}

/// True if the content type is JSON, which a foreign page cannot send without a preflight.
pub fn announces_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn is_own(origin: &str, headers: &HeaderMap) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    match (authority, host::named(headers)) {
        (Some(authority), Some(host)) => authority.eq_ignore_ascii_case(&host),
        _ => false,
    }
}
