//! Walk through an image file's container from end to end without decoding a pixel.
//!
//! The result decides if an image may be sent byte for byte, so a walker must reject a file that is
//! truncated or contradicts itself. It costs one pass over the bytes and no memory.

mod bmp;
mod cursor;
mod gif;
mod jpeg;
mod jpeg_headers;
mod png;
mod webp;

pub(super) use jpeg_headers::{QuantizationTable, jpeg_headers};

use super::format::ReadableFormat;
use image::metadata::Orientation;

/// Facts in a container about its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// The format, by content.
    pub format: ReadableFormat,
    /// Pixels from left to right, as stored (before orientation).
    pub width: u32,
    /// Pixels from top to bottom, as stored.
    pub height: u32,
    /// Number of pictures in the file; more than one is an animation.
    pub frames: u32,
    /// Bits per sample.
    pub bits: u8,
    /// True for four ink channels, which programs outside of printing read differently.
    pub cmyk: bool,
    /// True if the pixels went through a lossy codec already.
    pub lossy: bool,
    /// Rotation that turns the stored picture upright.
    pub orientation: Orientation,
    /// Maximum memory per pixel that the decoder takes, its output included, in bytes.
    pub decoder_bytes_per_pixel: u8,
    /// Reason why the file should not be sent unchanged although a lenient decoder may read it.
    pub flaw: Option<&'static str>,
}

impl Facts {
    /// Facts of a valid still image of this format and size, 8 bits, upright.
    fn still(format: ReadableFormat, width: u32, height: u32) -> Self {
        Self {
            format,
            width,
            height,
            frames: 1,
            bits: 8,
            cmyk: false,
            lossy: false,
            orientation: Orientation::NoTransforms,
            decoder_bytes_per_pixel: 8,
            flaw: None,
        }
    }

    /// Records a flaw; the first one stays.
    fn add_flaw(&mut self, flaw: &'static str) {
        self.flaw.get_or_insert(flaw);
    }

    /// Width and height as a viewer shows them.
    pub fn upright_dimensions(&self) -> (u32, u32) {
        match self.orientation {
            Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH => (self.height, self.width),
            _ => (self.width, self.height),
        }
    }
}

/// Reason why no decoder can read the file faithfully.
pub(super) type Damage = &'static str;

const ENDS_EARLY: Damage = "the file ends early";
const NO_PIXELS: Damage = "its width or height is 0";
const TRAILING: Damage = "it has bytes after its end";

/// Walks a container of this format.
pub(super) fn walk(format: ReadableFormat, bytes: &[u8]) -> Result<Facts, Damage> {
    let facts = match format {
        ReadableFormat::Png => png::walk(bytes),
        ReadableFormat::Jpeg => jpeg::walk(bytes),
        ReadableFormat::Gif => gif::walk(bytes),
        ReadableFormat::WebP => webp::walk(bytes),
        ReadableFormat::Bmp => bmp::walk(bytes),
    }?;
    if facts.width == 0 || facts.height == 0 { Err(NO_PIXELS) } else { Ok(facts) }
}

/// Orientation of an Exif block; upright if it is not usable.
fn orientation_of(exif: &[u8]) -> Orientation {
    let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    Orientation::from_exif_chunk(tiff).unwrap_or(Orientation::NoTransforms)
}

/// True if the bytes behind an image's end are padding that some writers leave.
fn is_padding(rest: &[u8]) -> bool {
    rest.iter().all(|byte| matches!(byte, 0 | b'\n' | b'\r' | b' '))
}

#[cfg(test)]
mod tests;
