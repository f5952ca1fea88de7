//! The API key, and its removal from all messages.

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

/// Maximum length of a provider's message, in characters.
const MESSAGE_LIMIT: usize = 300;

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

/// A foreign message without these secrets or anything that looks like a key, without control
/// characters, and truncated. Secrets of less than four bytes are ignored, since any message may
/// contain them.
pub(super) fn redact<'secret>(
    message: &str,
    secrets: impl IntoIterator<Item = &'secret str>,
) -> String {
    let long = secrets.into_iter().filter(|secret| secret.len() >= 4);
    let without_keys = long.fold(message.to_owned(), |text, secret| text.replace(secret, "[key]"));
    let plain: String =
        without_keys.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let scrubbed = without_lookalikes(plain.trim());
    if scrubbed.chars().count() <= MESSAGE_LIMIT {
        return scrubbed;
    }
    scrubbed.chars().take(MESSAGE_LIMIT - 1).chain(['…']).collect()
}

/// Replaces every `sk-…` word: providers repeat keys, whole or with stars in the middle.
fn without_lookalikes(text: &str) -> String {
    let belongs = |c: char| c.is_ascii_alphanumeric() || "-_*.…".contains(c);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("sk-") {
        kept.push_str(before);
        // "task-list" is a word, not a key.
        let within_word = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let secret = after.split(|c| !belongs(c)).next().unwrap_or_default();
        if within_word || secret.is_empty() {
            kept.push_str("sk-");
            rest = after;
        } else {
            kept.push_str("[key]");
            rest = after.strip_prefix(secret).unwrap_or_default();
        }
    }
    kept.push_str(rest);
    kept
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

    #[test]
    fn messages_are_redacted_and_truncated() {
        let key = ApiKey::new("house-key-77").unwrap();
        for (message, shown) in [
            ("no such key: house-key-77.", "no such key: [key]."),
            ("key sk-abc***xyz is wrong", "key [key] is wrong"),
            ("sk-proj-1_2", "[key]"),
            ("'sk-a', 'sk-b'", "'[key]', '[key]'"),
            ("the task-list and sk- stay", "the task-list and sk- stay"),
            ("bell\u{7} and\nline", "bell  and line"),
        ] {
            assert_eq!(redact(message, [key.secret()]), shown);
        }
        let cut = redact(&"é".repeat(1_000), []);
        assert_eq!(cut.chars().count(), 300);
        // A key that stands across the cut must not survive in part.
        let across = format!("{} sk-{}", "x".repeat(290), "k".repeat(40));
        assert!(!redact(&across, []).contains("kkk"));
    }
}
