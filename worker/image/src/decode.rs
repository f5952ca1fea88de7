//! Decodes a picture within bounds of memory.
//!
//! Peak memory of one preparation: the file; at most 256 MB in the decoder, including its output
//! (bounded beforehand by pixels times the memory that the format's decoder needs for each, and
//! again by the decoder's own limits). The decoder is dropped before pixels are processed:
//! conversion to 8 bits and rotation hold two versions of the image; resizing holds the image, the
//! intermediate version (new width, old height) and the new one. None of these is above 256 MB,
//! since an image has at most 64 Mi pixels of 4 bytes. So 768 MB and the file is the bound for one
//! worst image, and the pool is no wider than the cores.

use super::{ImageError, container::Facts};
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use std::{io::Cursor, panic::catch_unwind};

const MAX_PIXELS: u64 = 64 * 1024 * 1024;
const MAX_DECODER_BYTES: u64 = 256 * 1024 * 1024;
/// Largest color profile that is read, in bytes: profiles of screens take a few kilobytes, those of
/// printers up to two megabytes.
const MAX_COLOR_PROFILE: usize = 1024 * 1024;

/// Decoded pixels, 8 bits a sample, in gray or RGB, with or without alpha; not yet upright.
pub(super) struct DecodedImage {
    pub image: DynamicImage,
    /// The ICC profile of the samples, if the file carried a usable one.
    pub color_profile: Option<Vec<u8>>,
}

/// Decodes the only or first picture of a file.
pub(super) fn decode(bytes: &[u8], facts: &Facts) -> Result<DecodedImage, ImageError> {
    let pixels = u64::from(facts.width) * u64::from(facts.height);
    let decoder_bytes = pixels.saturating_mul(u64::from(facts.decoder_bytes_per_pixel));
    if pixels > MAX_PIXELS || decoder_bytes > MAX_DECODER_BYTES {
        return Err(ImageError::TooManyPixels { width: facts.width, height: facts.height });
    }
    let unreadable = |reason: String| ImageError::Unreadable { format: facts.format, reason };
    // A bug in a decoder that some file sets off must fail that file's item and nothing else. The
    // profiles unwind, and nothing that the closure borrows can be left half-changed.
    match catch_unwind(|| decode_unguarded(bytes, facts)) {
        Ok(decoded) => decoded.map_err(|error| unreadable(error.to_string())),
        Err(_) => Err(unreadable("its decoder failed".to_owned())),
    }
}

fn decode_unguarded(bytes: &[u8], facts: &Facts) -> image::ImageResult<DecodedImage> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(facts.width);
    limits.max_image_height = Some(facts.height);
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), facts.format.decoder());
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    // The profile of four inks would be wrong for the RGB that the decoder makes of them.
    let color_profile = if facts.cmyk { None } else { decoder.icc_profile().unwrap_or_default() }
        .filter(|profile| profile.len() <= MAX_COLOR_PROFILE);
    let image = narrow(DynamicImage::from_decoder(decoder)?);
    Ok(DecodedImage { image, color_profile })
}

/// Converts samples of any width to 8 bits.
fn narrow(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageLuma8(_)
        | DynamicImage::ImageLumaA8(_)
        | DynamicImage::ImageRgb8(_)
        | DynamicImage::ImageRgba8(_) => image,
        DynamicImage::ImageLuma16(_) => image.to_luma8().into(),
        DynamicImage::ImageLumaA16(_) => image.to_luma_alpha8().into(),
        DynamicImage::ImageRgb16(_) => image.to_rgb8().into(),
        _ => image.to_rgba8().into(),
    }
}
