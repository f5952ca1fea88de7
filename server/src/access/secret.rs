//! A token, and keeping it out of everything that people read.

use sha2::{Digest as _, Sha256};
use std::fmt;
use subtle::ConstantTimeEq as _;

/// Shorter tokens could be guessed.
const MIN_LENGTH: usize = 16;
const MAX_LENGTH: usize = 512;

/// A token that opens the server, as its SHA-256.
#[derive(Clone)]
pub struct Secret {
    digest: [u8; 32],
}

/// Text that cannot be a token. Does not repeat the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a token takes {MIN_LENGTH} to {MAX_LENGTH} letters, digits or signs without spaces; make one by: openssl rand -hex 32"
)]
pub struct InvalidSecret;

impl Secret {
    /// Takes a token as it was written; white space around it is dropped.
    pub fn new(text: &str) -> Result<Self, InvalidSecret> {
        let text = text.trim();
        let fits = (MIN_LENGTH..=MAX_LENGTH).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !fits {
            return Err(InvalidSecret);
        }
        Ok(Self { digest: Sha256::digest(text.as_bytes()).into() })
    }

    /// True if this is the token. Takes the same time whatever was given of its length.
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
