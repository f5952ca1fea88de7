//! Shrinks pictures.

use super::{ImageError, decode::DecodedImage};
use fast_image_resize::{
    FilterType, MulDiv, PixelTrait, ResizeAlg, ResizeOptions, Resizer,
    images::TypedImage,
    pixels::{U8x3, U8x4},
};
use image::{DynamicImage, ImageBuffer, Pixel};
use std::mem;

impl DecodedImage {
    /// Shrinks to this size with a Lanczos filter; leaves a picture of that size alone.
    pub fn shrink(&mut self, width: u32, height: u32) -> Result<(), ImageError> {
        if (self.image.width(), self.image.height()) != (width, height) {
            let image = mem::take(&mut self.image);
            self.image = resize(image, width, height).ok_or(ImageError::Interrupted)?;
        }
        Ok(())
    }
}

/// The largest size of the same proportions, not larger than given, with no side above `limit`.
pub(super) fn fit(width: u32, height: u32, limit: u32) -> (u32, u32) {
    let longest = u64::from(width.max(height));
    if longest <= u64::from(limit) {
        return (width, height);
    }
    let scaled = |side: u32| {
        let rounded = (u64::from(side) * u64::from(limit) + longest / 2) / longest;
        u32::try_from(rounded).unwrap_or(limit).max(1)
    };
    (scaled(width), scaled(height))
}

/// Shrinks as RGB or RGBA. Gray pictures are rare enough to be converted: each kind of pixel that
/// the resizer is compiled for costs ten seconds of build time, and its own dispatch would be
/// compiled for thirteen.
fn resize(image: DynamicImage, width: u32, height: u32) -> Option<DynamicImage> {
    let to = (width, height);
    match image {
        DynamicImage::ImageRgb8(image) => resized::<U8x3, _>(image, to).map(Into::into),
        DynamicImage::ImageRgba8(image) => resized::<U8x4, _>(image, to).map(Into::into),
        DynamicImage::ImageLuma8(_) => {
            let shrunk = resize(image.into_rgb8().into(), width, height)?;
            Some(shrunk.into_luma8().into())
        }
        DynamicImage::ImageLumaA8(_) => {
            let shrunk = resize(image.into_rgba8().into(), width, height)?;
            Some(shrunk.into_luma_alpha8().into())
        }
        _ => None,
    }
}

/// Shrinks samples of one kind of pixel; `Samples` are the resizer's type of a `Color`.
fn resized<Samples, Color>(
    image: ImageBuffer<Color, Vec<u8>>,
    (width, height): (u32, u32),
) -> Option<ImageBuffer<Color, Vec<u8>>>
where
    Samples: PixelTrait,
    Color: Pixel<Subpixel = u8>,
{
    let (from_width, from_height) = image.dimensions();
    let (mut from, mut to) = (image.into_raw(), ImageBuffer::new(width, height));
    let mut from = TypedImage::<Samples>::from_buffer(from_width, from_height, &mut from).ok()?;
    let mut shrunk = TypedImage::from_buffer(width, height, &mut to).ok()?;
    // Colors are weighted by alpha in place; the resizer itself would work on a whole copy.
    let weighting = MulDiv::new();
    if Color::HAS_ALPHA {
        weighting.multiply_alpha_inplace_typed(&mut from).ok()?;
    }
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
        .use_alpha(false);
    Resizer::new().resize_typed(&from, &mut shrunk, &options).ok()?;
    if Color::HAS_ALPHA {
        weighting.divide_alpha_inplace_typed(&mut shrunk).ok()?;
    }
    Some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitting_keeps_proportions_and_never_enlarges() {
        for (from, limit, to) in [
            ((100, 50), 200, (100, 50)),
            ((100, 50), 100, (100, 50)),
            ((100, 50), 10, (10, 5)),
            ((50, 101), 10, (5, 10)),
            ((60_000, 1), 100, (100, 1)),
            ((u32::MAX, u32::MAX), 8, (8, 8)),
        ] {
            assert_eq!(fit(from.0, from.1, limit), to, "{from:?} within {limit}");
        }
    }

    #[test]
    fn transparent_pixels_do_not_bleed_color() {
        let half = |x, _| image::Rgba(if x < 15 { [255, 0, 0, 255] } else { [0, 0, 255, 0] });
        let image = image::RgbaImage::from_fn(30, 30, half).into();
        let mut picture = DecodedImage { image, color_profile: None };
        picture.shrink(7, 7).unwrap();
        let shrunk = picture.image.to_rgba8();
        assert_eq!(shrunk.dimensions(), (7, 7));
        for pixel in shrunk.pixels().filter(|pixel| pixel.0[3] > 8) {
            assert!(pixel.0[0] > 245 && pixel.0[2] < 10, "{pixel:?}");
        }
    }

    #[test]
    fn resized_image_keeps_its_color_type_and_uniform_color() {
        let (gray, alpha) = (image::Luma([137]), image::LumaA([137, 255]));
        let color = image::Rgb([200, 137, 3]);
        for image in [
            DynamicImage::from(image::GrayImage::from_pixel(40, 30, gray)),
            image::GrayAlphaImage::from_pixel(40, 30, alpha).into(),
            image::RgbImage::from_pixel(40, 30, color).into(),
        ] {
            let first: Vec<u8> = image.as_bytes().to_vec();
            let mut picture = DecodedImage { image, color_profile: None };
            picture.shrink(8, 6).unwrap();
            let samples = picture.image.as_bytes();
            assert_eq!(samples, &first[..samples.len()], "{:?}", picture.image.color());
            assert_eq!(samples.len() * 25, first.len());
        }
    }
}
