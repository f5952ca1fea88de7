//! Tokens, of which only a digest is stored.

use juror_types::id::Digest;
use std::fmt;
use subtle::ConstantTimeEq as _;

/// Minimum length of a token, against guessing.
const MIN_LENGTH: usize = 16;
const MAX_LENGTH: usize = 512;

/// SHA-256 of a token, compared in constant time.
#[derive(Clone)]
pub struct Secret(Digest);

/// An invalid token. The message does not contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token has {MIN_LENGTH} to {MAX_LENGTH} letters, digits or signs without spaces; create one with: openssl rand -hex 32"
)]
pub struct InvalidSecret;

impl Secret {
    /// Parses a token, without surrounding white space.
    pub fn new(text: &str) -> Result<Self, InvalidSecret> {
        let text = text.trim();
        let fits = (MIN_LENGTH..=MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !fits {
            return Err(InvalidSecret);
        }
        Ok(Self(Digest::from_content(text.as_bytes())))
    }

    /// True if this is the token; compares in constant time.
    pub(super) fn is(&self, given: &str) -> bool {
        *self == Self(Digest::from_content(given.as_bytes()))
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret([redacted])")
    }
}
