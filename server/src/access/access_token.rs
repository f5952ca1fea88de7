//! Tokens, of which only a digest is stored.

use sha2::{Digest as _, Sha256};
use std::fmt;
use subtle::ConstantTimeEq as _;

/// Minimum length of a token, against guessing.
const MIN_LENGTH: usize = 16;
const MAX_LENGTH: usize = 512;

/// SHA-256 of a token.
#[derive(Clone)]
pub struct Secret {
    digest: [u8; 32],
}

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
        Ok(Self { digest: Sha256::digest(text.as_bytes()).into() })
    }

    /// True if this is the token; compares in constant time.
    pub(super) fn is(&self, given: &str) -> bool {
        let given: [u8; 32] = Sha256::digest(given.as_bytes()).into();
        self.digest.ct_eq(&given).into()
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.digest.ct_eq(&other.digest).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret([redacted])")
    }
}
