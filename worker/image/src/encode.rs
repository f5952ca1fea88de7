//! Encodes a picture in a format and size that the provider accepts.

use super::{
    ImageError, ImageRules, ReadableFormat,
    decode::DecodedImage,
    pixels::{Pixels, opaque_pixel, over_white},
    resize,
};
use bytes::Bytes;
use image::{
    DynamicImage, ImageEncoder, Luma, Rgb,
    codecs::png::{CompressionType, FilterType, PngEncoder},
};
use jpeg_encoder::{Encoder, SamplingFactor};

/// JPEG quality that keeps the edges of small text clean.
const JPEG_QUALITY: u8 = 90;
/// Maximum number of attempts to reach a size; each reduces the sides by at least a tenth.
const MAX_ATTEMPTS: u32 = 40;

/// A picture in its encoded form.
pub(super) struct Encoded {
    pub bytes: Bytes,
    pub format: ReadableFormat,
    pub width: u32,
    pub height: u32,
    /// True if transparency was replaced by white.
    pub flattened: bool,
}

/// Encodes losslessly if the source was lossless or is transparent and the PNG fits, as JPEG
/// otherwise, and shrinks if neither fits.
pub(super) fn encode_within(
    mut picture: DecodedImage,
    lossy_source: bool,
    rules: &ImageRules,
) -> Result<Encoded, ImageError> {
    let prefer_jpeg = lossy_source && !picture.image.color().has_alpha();
    let order = if prefer_jpeg {
        [ReadableFormat::Jpeg, ReadableFormat::Png]
    } else {
        [ReadableFormat::Png, ReadableFormat::Jpeg]
    };
    for _ in 0..MAX_ATTEMPTS {
        let mut smallest = u64::MAX;
        for format in order.into_iter().filter(|format| rules.formats.contains(format)) {
            let Some(encoded) = encode(&picture, format) else { continue };
            if encoded.bytes.len() as u64 <= rules.max_bytes {
                return Ok(encoded);
            }
            smallest = smallest.min(encoded.bytes.len() as u64);
        }
        let (width, height) = (picture.image.width(), picture.image.height());
        if width.max(height) == 1 {
            break;
        }
        // Bytes grow about with the area; aim a little below, and move by a tenth at least.
        let ratio = (rules.max_bytes as f64 / smallest as f64).sqrt() * 0.95;
        let longest = f64::from(width.max(height)) * ratio.clamp(0.1, 0.9);
        let (width, height) = resize::fit(width, height, (longest as u32).max(1));
        picture.shrink(width, height)?;
    }
    Err(ImageError::DoesNotFit { max_bytes: rules.max_bytes })
}

fn encode(picture: &DecodedImage, format: ReadableFormat) -> Option<Encoded> {
    let flattened = format == ReadableFormat::Jpeg && picture.image.color().has_alpha();
    let color_profile = picture.color_profile.as_deref();
    let bytes = if flattened {
        encode_jpeg(&lay_on_white(&picture.image), color_profile)
    } else if format == ReadableFormat::Jpeg {
        encode_jpeg(&picture.image, color_profile)
    } else {
        encode_png(&picture.image, color_profile)
    }?;
    Some(Encoded {
        bytes: bytes.into(),
        format,
        width: picture.image.width(),
        height: picture.image.height(),
        flattened,
    })
}

fn encode_png(image: &DynamicImage, color_profile: Option<&[u8]>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder =
        PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Adaptive);
    if let Some(profile) = color_profile {
        encoder.set_icc_profile(profile.to_owned()).ok()?;
    }
    let (width, height) = (image.width(), image.height());
    encoder.write_image(image.as_bytes(), width, height, image.color().into()).ok()?;
    Some(bytes)
}

fn encode_jpeg(image: &DynamicImage, color_profile: Option<&[u8]>) -> Option<Vec<u8>> {
    let pixels = Pixels::from_picture(image)?;
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, JPEG_QUALITY);
    // Colors at full resolution: half of it blurs colored text.
    encoder.set_sampling_factor(SamplingFactor::F_1_1);
    if let Some(profile) = color_profile {
        encoder.add_icc_profile(profile).ok()?;
    }
    encoder.encode_image(pixels).ok()?;
    Some(bytes)
}

/// Blends a transparent picture with white, as a browser shows it; JPEG has no transparency.
fn lay_on_white(image: &DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageLumaA8(gray) => {
            let mut opaque = image::GrayImage::new(gray.width(), gray.height());
            for (to, from) in opaque.pixels_mut().zip(gray.pixels()) {
                let [sample, alpha] = from.0;
                *to = Luma([over_white(sample, alpha)]);
            }
            opaque.into()
        }
        DynamicImage::ImageRgba8(color) => {
            let mut opaque = image::RgbImage::new(color.width(), color.height());
            for (to, from) in opaque.pixels_mut().zip(color.pixels()) {
                *to = Rgb(opaque_pixel(from));
            }
            opaque.into()
        }
        _ => image.to_rgb8().into(),
    }
}
