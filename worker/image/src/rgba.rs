//! Pictures as pixels, for measuring.

use super::{ImageError, prepare_image};
use image::{DynamicImage, ImageEncoder as _, codecs::png::PngEncoder};

/// Maximum pixels of either side of a measured picture, which bounds memory and time.
pub const MAX_MEASURED_SIDE: u32 = 4096;

/// A picture of opaque pixels, as a viewer shows it on white.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbaPicture {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// Red, green, blue and 255 of each pixel, row by row.
    pub pixels: Vec<u8>,
}

impl RgbaPicture {
    /// Decodes a file, upright and blended with white. Synchronous; takes tens of milliseconds.
    ///
    /// # Errors
    /// [`ImageError::TooManyPixels`] above [`MAX_MEASURED_SIDE`] on a side, or an error of the file.
    pub fn decode(bytes: &[u8]) -> Result<Self, ImageError> {
        if let Some((width, height)) = prepare_image::dimensions(bytes)
            && width.max(height) > MAX_MEASURED_SIDE
        {
            return Err(ImageError::TooManyPixels { width, height });
        }
        Ok(Self::from(prepare_image::decode_upright(bytes)?))
    }

    /// The red, green and blue of a pixel; white outside.
    pub fn at(&self, x: u32, y: u32) -> [u8; 3] {
        let place = (y as usize * self.width as usize + x as usize) * 4;
        match self.pixels.get(place..place + 3) {
            Some(&[red, green, blue]) if x < self.width => [red, green, blue],
            _ => [255; 3],
        }
    }

    /// Encodes as PNG; none if the encoder fails, which it does for a picture without pixels.
    pub fn to_png(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let encoder = PngEncoder::new(&mut bytes);
        let color = image::ExtendedColorType::Rgba8;
        encoder.write_image(&self.pixels, self.width, self.height, color).ok()?;
        Some(bytes)
    }
}

impl From<DynamicImage> for RgbaPicture {
    fn from(image: DynamicImage) -> Self {
        let mut image = image.into_rgba8();
        for pixel in image.pixels_mut() {
            let [red, green, blue, alpha] = pixel.0;
            if alpha < 255 {
                pixel.0 = [
                    over_white(red, alpha),
                    over_white(green, alpha),
                    over_white(blue, alpha),
                    255,
                ];
            }
        }
        Self { width: image.width(), height: image.height(), pixels: image.into_raw() }
    }
}

fn over_white(sample: u8, alpha: u8) -> u8 {
    let (sample, alpha) = (u32::from(sample), u32::from(alpha));
    let mixed = (sample * alpha + 255 * (255 - alpha) + 127) / 255;
    u8::try_from(mixed).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_is_decoded_losslessly_and_composited_on_white() {
        let pixels = vec![10, 20, 30, 255, 0, 0, 0, 0];
        let picture = RgbaPicture { width: 2, height: 1, pixels };
        let decoded = RgbaPicture::decode(&picture.to_png().unwrap()).unwrap();
        assert_eq!(decoded.at(0, 0), [10, 20, 30]);
        assert_eq!(decoded.at(1, 0), [255; 3]);
        assert_eq!(decoded.at(2, 0), [255; 3], "outside");
    }

    #[test]
    fn non_image_or_oversized_image_is_refused() {
        assert!(matches!(RgbaPicture::decode(b"<html>"), Err(ImageError::UnknownFormat { .. })));
        let wide = RgbaPicture { width: 4097, height: 1, pixels: vec![255; 4097 * 4] };
        let refused = RgbaPicture::decode(&wide.to_png().unwrap());
        assert!(matches!(refused, Err(ImageError::TooManyPixels { width: 4097, .. })));
    }
}
