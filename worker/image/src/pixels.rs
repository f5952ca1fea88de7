//! A picture's pixels as the JPEG encoder reads them, and the blending of transparent ones with
//! white. The encoder supports nine layouts of pixels and would be compiled for each; only these two
//! are used.

use super::RgbPixels;
use image::{DynamicImage, Rgba};
use jpeg_encoder::{ImageBuffer, JpegColorType, rgb_to_ycbcr};

/// Gray or colored pixels without transparency.
pub(super) struct Pixels<'picture> {
    samples: &'picture [u8],
    color: JpegColorType,
    width: u16,
    height: u16,
}

impl<'picture> Pixels<'picture> {
    /// The pixels; `None` for pictures that JPEG cannot hold: transparent ones, and those with a
    /// side of more than 65,535 pixels.
    pub(super) fn from_picture(picture: &'picture DynamicImage) -> Option<Self> {
        let color = match picture {
            DynamicImage::ImageLuma8(_) => JpegColorType::Luma,
            DynamicImage::ImageRgb8(_) => JpegColorType::Ycbcr,
            _ => return None,
        };
        let (width, height) = (picture.width().try_into().ok()?, picture.height().try_into().ok()?);
        Some(Self { samples: picture.as_bytes(), color, width, height })
    }

    /// Colored pixels; `None` with a side of more than 65,535 pixels.
    pub(super) fn from_rgb(picture: &'picture RgbPixels) -> Option<Self> {
        let (width, height) = (picture.width.try_into().ok()?, picture.height.try_into().ok()?);
        let samples = picture.pixels.as_flattened();
        Some(Self { samples, color: JpegColorType::Ycbcr, width, height })
    }

    fn row(&self, row: u16, samples_each: usize) -> &[u8] {
        let length = usize::from(self.width) * samples_each;
        let start = usize::from(row) * length;
        self.samples.get(start..start + length).unwrap_or_default()
    }
}

impl ImageBuffer for Pixels<'_> {
    fn get_jpeg_color_type(&self) -> JpegColorType {
        self.color
    }

    fn width(&self) -> u16 {
        self.width
    }

    fn height(&self) -> u16 {
        self.height
    }

    fn fill_buffers(&self, row: u16, [first, second, third, _]: &mut [Vec<u8>; 4]) {
        if self.color == JpegColorType::Luma {
            first.extend_from_slice(self.row(row, 1));
            return;
        }
        for [red, green, blue] in self.row(row, 3).as_chunks().0 {
            let (luma, blueness, redness) = rgb_to_ycbcr(*red, *green, *blue);
            first.push(luma);
            second.push(blueness);
            third.push(redness);
        }
    }
}

/// A pixel blended with white, as a browser shows it.
pub(super) fn opaque_pixel(&Rgba([red, green, blue, alpha]): &Rgba<u8>) -> [u8; 3] {
    [red, green, blue].map(|sample| over_white(sample, alpha))
}

/// A sample of a transparent pixel, blended with white.
pub(super) fn over_white(sample: u8, alpha: u8) -> u8 {
    let (sample, alpha) = (u32::from(sample), u32::from(alpha));
    ((sample * alpha + 255 * (255 - alpha) + 127) / 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{GrayImage, RgbImage};
    use jpeg_encoder::{ColorType, Encoder};

    #[test]
    fn encoding_matches_the_reference_encoder() {
        let noise = |number: u32| (number.wrapping_mul(2_654_435_761) >> 24) as u8;
        let (width, height) = (53, 31);
        let samples = |each: u32| (0..width * height * each).map(noise).collect::<Vec<_>>();
        let gray = GrayImage::from_vec(width, height, samples(1)).unwrap();
        let color = RgbImage::from_vec(width, height, samples(3)).unwrap();
        for (picture, kind) in [
            (DynamicImage::from(gray), ColorType::Luma),
            (DynamicImage::from(color), ColorType::Rgb),
        ] {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            Encoder::new(&mut ours, 90)
                .encode_image(Pixels::from_picture(&picture).unwrap())
                .unwrap();
            Encoder::new(&mut theirs, 90)
                .encode(picture.as_bytes(), width as u16, height as u16, kind)
                .unwrap();
            assert!(ours == theirs, "{kind:?}");
        }
    }
}
