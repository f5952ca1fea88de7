//! Shrinks pictures.

use super::{ImageError, decode::Picture};
use fast_image_resize::{
    FilterType, MulDiv, PixelType, ResizeAlg, ResizeOptions, Resizer, images::Image,
};
use image::{DynamicImage, GrayAlphaImage, GrayImage, RgbImage, RgbaImage};
use std::mem;

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

impl Picture {
    /// Shrinks to this size with a Lanczos filter; leaves a picture of that size alone.
    pub fn shrink(&mut self, width: u32, height: u32) -> Result<(), ImageError> {
        if (self.image.width(), self.image.height()) != (width, height) {
            let image = mem::take(&mut self.image);
            self.image = resize(image, width, height).ok_or(ImageError::Interrupted)?;
        }
        Ok(())
    }
}

fn resize(image: DynamicImage, width: u32, height: u32) -> Option<DynamicImage> {
    let pixel_type = match image {
        DynamicImage::ImageLuma8(_) => PixelType::U8,
        DynamicImage::ImageLumaA8(_) => PixelType::U8x2,
        DynamicImage::ImageRgb8(_) => PixelType::U8x3,
        DynamicImage::ImageRgba8(_) => PixelType::U8x4,
        _ => return None,
    };
    let (from_width, from_height) = (image.width(), image.height());
    let has_alpha = image.color().has_alpha();
    let mut from =
        Image::from_vec_u8(from_width, from_height, image.into_bytes(), pixel_type).ok()?;
    let mut to = Image::new(width, height, pixel_type);
    // Colours are weighted by alpha in place; the resizer itself would work on a whole copy.
    let weighting = MulDiv::new();
    if has_alpha {
        weighting.multiply_alpha_inplace(&mut from).ok()?;
    }
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
        .use_alpha(false);
    Resizer::new().resize(&from, &mut to, &options).ok()?;
    if has_alpha {
        weighting.divide_alpha_inplace(&mut to).ok()?;
    }
    let samples = to.into_vec();
    match pixel_type {
        PixelType::U8 => GrayImage::from_raw(width, height, samples).map(Into::into),
        PixelType::U8x2 => GrayAlphaImage::from_raw(width, height, samples).map(Into::into),
        PixelType::U8x3 => RgbImage::from_raw(width, height, samples).map(Into::into),
        _ => RgbaImage::from_raw(width, height, samples).map(Into::into),
    }
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
    fn colours_of_clear_pixels_do_not_bleed() {
        let half = |x, _| image::Rgba(if x < 15 { [255, 0, 0, 255] } else { [0, 0, 255, 0] });
        let image = RgbaImage::from_fn(30, 30, half).into();
        let mut picture = Picture { image, colour_profile: None };
        picture.shrink(7, 7).unwrap();
        let shrunk = picture.image.to_rgba8();
        assert_eq!(shrunk.dimensions(), (7, 7));
        for pixel in shrunk.pixels().filter(|pixel| pixel.0[3] > 8) {
            assert!(pixel.0[0] > 245 && pixel.0[2] < 10, "{pixel:?}");
        }
    }
}
