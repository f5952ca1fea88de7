//! The API key.

use reqwest::header::HeaderValue;
use std::fmt;

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

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey([redacted])")
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
}
