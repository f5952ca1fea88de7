//! Preparation of an image file for a vision API: unchanged if that is safe, else decoded, turned
//! upright, shrunk and encoded again. Never enlarged; an unreadable file is an error.

mod container;
mod decode;
mod encode;
mod format;
mod jpeg_compression;
mod pixels;
mod preparation_pool;
mod prepare_image;
mod resize;
mod rgb;
mod similarity_signature;

pub use format::ReadableFormat;
pub use jpeg_compression::JpegCompression;
pub use preparation_pool::PreparationPool;
pub use prepare_image::{check_container, dimensions, prepare};
pub use rgb::{MAX_MEASURED_SIDE, RgbPixels};

use bytes::Bytes;
use juror_types::similarity_signature::SimilaritySignature;

/// Version of the preparation, part of the cache key: it changes whenever the same file would be
/// prepared into other bytes.
pub const PREPARATION_VERSION: u32 = 1;

/// An image as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedImage {
    /// The encoded image.
    pub bytes: Bytes,
    /// Media type.
    pub media_type: &'static str,
    /// Pixels from left to right, as a viewer shows it.
    pub width: u32,
    /// Pixels from top to bottom, as a viewer shows it.
    pub height: u32,
    /// Changes that a reader of the verdict should know, as in "first of 6 frames".
    pub note: Option<String>,
    /// The signature of the picture, if it was decoded and has enough contrast.
    pub signature: Option<SimilaritySignature>,
    /// True if the bytes are the original file's.
    pub unchanged: bool,
}

/// Limits of a provider and the user on an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRules {
    /// Formats that the provider reads; PNG or JPEG must be among them.
    pub formats: Vec<ReadableFormat>,
    /// Maximum size of an encoded image in bytes, by the provider.
    pub max_bytes: u64,
    /// Maximum pixels of either side, by the provider.
    pub max_side: u32,
    /// Maximum pixels of either side, by the user (`image.max_side`).
    pub user_max_side: Option<u32>,
    /// True if images that are sent unchanged are decoded for their signature.
    pub signatures: bool,
}

impl ImageRules {
    /// The size in which an image of this size is sent: the same, or shrunk in proportion.
    pub fn fit(&self, width: u32, height: u32) -> (u32, u32) {
        let limit = self.user_max_side.unwrap_or(u32::MAX).min(self.max_side).max(1);
        resize::fit(width, height, limit)
    }
}

/// Reason why an image cannot be judged. Every reason is the file's own fault, so a retry is no
/// use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum ImageError {
    /// Not an image, or in a format that is not supported.
    #[error("this is {found}: use a PNG, JPEG, WebP, GIF or BMP file")]
    UnknownFormat {
        /// The detected format.
        found: &'static str,
    },
    /// Damaged, or of a kind that cannot be read faithfully.
    #[error("this {format} file cannot be read: {reason}", format = format.name())]
    Unreadable {
        /// Format by its first bytes.
        format: ReadableFormat,
        reason: String,
    },
    /// Decoding it would take too much memory.
    #[error(
        "{width}x{height} pixels are too many to decode (limits: 64 megapixels, 256 MB): shrink the file first"
    )]
    TooManyPixels {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// Every encoding is too large for the provider.
    #[error("it cannot be reduced to the provider's limit of {max_bytes} bytes")]
    DoesNotFit {
        /// The provider's limit.
        max_bytes: u64,
    },
    /// The work on it was interrupted, for instance while the process stops.
    #[error("image preparation was interrupted")]
    Interrupted,
}

#[cfg(test)]
mod tests;
