//! Makes an image file ready for a vision API: as it is wherever that is safe, else decoded,
//! turned upright, shrunk and encoded again. Never enlarged; never unreadable in silence.

mod container;
mod decode;
mod encode;
mod format;
mod pixels;
mod pool;
mod prepare;
mod resize;
mod rgba;
mod signature;

pub use format::ReadableFormat;
pub use pool::Preparer;
pub use prepare::{check_container, dimensions, prepare};
pub use rgba::{MAX_MEASURED_SIDE, RgbaPicture};

use bytes::Bytes;
use juror_types::signature::Signature;

/// Changes whenever the same file would be prepared into other bytes; part of the cache key.
pub const PREPARATION_VERSION: u32 = 1;

/// An image as it goes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedImage {
    /// The encoded image.
    pub bytes: Bytes,
    /// Its media type.
    pub media_type: &'static str,
    /// Pixels from left to right, as a viewer shows it.
    pub width: u32,
    /// Pixels from top to bottom, as a viewer shows it.
    pub height: u32,
    /// Changes that a reader of the verdict should know ("first of 6 frames").
    pub note: Option<String>,
    /// The signature of the picture, where it was decoded and has enough in it.
    pub signature: Option<Signature>,
    /// True if the bytes are the original file's.
    pub passed_through: bool,
}

/// Limits of a provider and the user on an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRules {
    /// Formats that the provider reads; PNG or JPEG must be among them.
    pub formats: Vec<ReadableFormat>,
    /// Most bytes of an encoded image that the provider takes.
    pub max_bytes: u64,
    /// Most pixels of either side that the provider takes.
    pub max_side: u32,
    /// Most pixels of either side that the user wants to pay for (`image.max_side`).
    pub user_max_side: Option<u32>,
    /// True if images that go out as they are, are decoded for their signature.
    pub signatures: bool,
}

impl ImageRules {
    /// The size that an image of this size has when it goes out: the same, or shrunk in proportion.
    pub fn fit(&self, width: u32, height: u32) -> (u32, u32) {
        let limit = self.user_max_side.unwrap_or(u32::MAX).min(self.max_side).max(1);
        resize::fit(width, height, limit)
    }
}

/// Why an image cannot be judged. All of these are the file's own fault: asking again is no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Not an image, or in a format that is not read.
    #[error("this is {found}: give a PNG, JPEG, WebP, GIF or BMP file")]
    UnknownFormat {
        /// The format that it seems to have.
        found: &'static str,
    },
    /// Damaged, or of a kind that cannot be read faithfully.
    #[error("this {format} file cannot be read: {reason}", format = format.name())]
    Unreadable {
        /// Its format by its first bytes.
        format: ReadableFormat,
        /// The problem.
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
    /// No encoding is small enough for the provider.
    #[error("it cannot be made smaller than the {max_bytes} bytes that the provider takes")]
    DoesNotFit {
        /// The provider's limit.
        max_bytes: u64,
    },
    /// The process could not work on it, for instance while it is being stopped.
    #[error("image preparation was interrupted")]
    Interrupted,
}

#[cfg(test)]
mod tests;
