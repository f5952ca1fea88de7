//! Signatures of inputs, for comparing near-equal ones without their bytes.

use std::{fmt, str::FromStr};

/// A 64-bit signature; near-equal inputs share most bits. Serialized as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SimilaritySignature(u64);

/// Text that is not a signature.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a signature (16 hexadecimal digits)")]
pub struct InvalidSignature(String);

impl SimilaritySignature {
    /// Maximum distance of near-equal inputs. `docs/compare.md` gives the share of real pairs
    /// within it.
    pub const MAX_DISTANCE: u32 = 7;

    /// The signature of these bits.
    pub fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// The signature as bytes.
    pub fn bytes(self) -> [u8; 8] {
        self.0.to_be_bytes()
    }

    /// Number of bits in which two signatures differ.
    pub fn distance(self, other: Self) -> u32 {
        (self.0 ^ other.0).count_ones()
    }
}

impl fmt::Display for SimilaritySignature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl FromStr for SimilaritySignature {
    type Err = InvalidSignature;

    fn from_str(text: &str) -> Result<Self, InvalidSignature> {
        let mut bytes = [0; 8];
        match hex::decode_to_slice(text, &mut bytes) {
            Ok(()) => Ok(Self(u64::from_be_bytes(bytes))),
            Err(_) => Err(InvalidSignature(text.to_owned())),
        }
    }
}

crate::serde_as_text::serde_as_text!(SimilaritySignature);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_round_trips_as_digits() {
        let signature = SimilaritySignature::new(0x00ff_0000_0000_0001);
        assert_eq!(serde_json::json!(signature), "00ff000000000001");
        assert_eq!("00ff000000000001".parse::<SimilaritySignature>().unwrap(), signature);
        for text in ["", "ff", "+0ff000000000001", "00ff00000000000g", "00ff0000000000011"] {
            assert!(text.parse::<SimilaritySignature>().is_err(), "{text}");
        }
        assert_eq!(signature.distance(SimilaritySignature::new(1)), 8);
    }
}
