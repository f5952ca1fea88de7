//! Secrets of every call: the API key, and the user's own headers, as gateways require them.

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;

/// Headers that belong to the connection or to the body.
const RESERVED: [&str; 5] =
    ["connection", "content-length", "content-type", "host", "transfer-encoding"];
/// Headers that replace the API key.
const CREDENTIALS: [&str; 3] = ["authorization", "api-key", "x-api-key"];

/// A provider's key. Never displayed, not even by `Debug`.
#[derive(Clone)]
pub struct ApiKey {
    text: String,
    bearer: HeaderValue,
}

/// Text that cannot be a key. Does not repeat the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the API key is empty or has invalid characters; check the variable or file it is read from"
)]
pub struct InvalidApiKey;

impl ApiKey {
    /// A key as it was written; white space around it is dropped.
    pub fn new(text: &str) -> Result<Self, InvalidApiKey> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(InvalidApiKey);
        }
        let mut bearer =
            HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| InvalidApiKey)?;
        bearer.set_sensitive(true);
        Ok(Self { text: text.to_owned(), bearer })
    }

    /// The key as it was written, to be kept out of messages.
    pub(super) fn secret(&self) -> &str {
        &self.text
    }

    /// The value of an `authorization` header.
    pub(super) fn bearer(&self) -> HeaderValue {
        self.bearer.clone()
    }
}

/// Further headers of every call. Their values are secrets: `Debug` shows the names alone.
#[derive(Clone, Default)]
pub struct ExtraHeaders(HeaderMap);

/// A header that no call can carry. Its value is not repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("header {name:?} {problem}")]
pub struct InvalidHeader {
    name: String,
    problem: &'static str,
}

impl ExtraHeaders {
    /// Checks names and values; white space around a value is dropped.
    pub fn new(headers: impl IntoIterator<Item = (String, String)>) -> Result<Self, InvalidHeader> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let invalid = |problem| InvalidHeader { name: name.clone(), problem };
            let parsed = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| invalid("has an invalid name"))?;
            if RESERVED.contains(&parsed.as_str()) {
                return Err(invalid("is set by the program; remove it"));
            }
            let mut value = HeaderValue::from_str(value.trim())
                .map_err(|_| invalid("has a value with invalid characters"))?;
            value.set_sensitive(true);
            map.insert(parsed, value);
        }
        Ok(Self(map))
    }

    /// True if one of them authenticates the account, so that no API key is needed or sent.
    pub fn replace_key(&self) -> bool {
        CREDENTIALS.iter().any(|name| self.0.contains_key(*name))
    }

    pub(super) fn map(&self) -> HeaderMap {
        self.0.clone()
    }

    /// Their values, to be kept out of messages.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> {
        self.0.values().filter_map(|value| value.to_str().ok()).map(str::to_owned)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey([redacted])")
    }
}

impl fmt::Debug for ExtraHeaders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = ApiKey::new(" sk-secret\n").unwrap();
        assert_eq!(format!("{key:?} {:?}", key.bearer()), "ApiKey([redacted]) Sensitive");
        assert_eq!(key.bearer().to_str().unwrap(), "Bearer sk-secret");
        for bad in ["", "  ", "a b", "ключ", "a\nb"] {
            assert_eq!(ApiKey::new(bad).unwrap_err(), InvalidApiKey, "{bad}");
        }
    }

    fn headers(name: &str, value: &str) -> Result<ExtraHeaders, InvalidHeader> {
        ExtraHeaders::new([(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn values_are_never_shown() {
        let azure = headers("Api-Key", " hidden \n").unwrap();
        assert_eq!(format!("{azure:?}"), "[\"api-key\"]");
        assert_eq!(azure.map()["api-key"], "hidden");
        assert!(azure.replace_key());
        assert!(!headers("x-team", "blue").unwrap().replace_key());
    }

    #[test]
    fn invalid_header_is_reported_without_its_value() {
        for (name, value) in [("a b", "hidden"), ("host", "hidden"), ("x-team", "hid\u{7f}den\n1")]
        {
            let error = headers(name, value).unwrap_err().to_string();
            assert!(error.contains(name) && !error.contains("hid"), "{error}");
        }
    }
}
