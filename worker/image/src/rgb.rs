//! Pictures as pixels, for measuring.

use super::{ImageError, pixels::opaque_pixel, prepare_image};
use image::{DynamicImage, ImageEncoder as _, codecs::png::PngEncoder};

/// Maximum pixels of either side of a measured picture, which bounds memory and time.
pub const MAX_MEASURED_SIDE: u32 = 4096;

/// A picture of opaque pixels, as a viewer shows it on white.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbPixels {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// Red, green and blue of each pixel, row by row.
    pub pixels: Vec<[u8; 3]>,
}

impl RgbPixels {
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
        let place = y as usize * self.width as usize + x as usize;
        match self.pixels.get(place) {
            Some(&pixel) if x < self.width => pixel,
            _ => [255; 3],
        }
    }

    /// Encodes as PNG; `None` if the encoder fails, which it does for a picture without pixels.
    pub fn to_png(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let encoder = PngEncoder::new(&mut bytes);
        let color = image::ExtendedColorType::Rgb8;
        encoder.write_image(self.pixels.as_flattened(), self.width, self.height, color).ok()?;
        Some(bytes)
    }
}

impl From<DynamicImage> for RgbPixels {
    fn from(image: DynamicImage) -> Self {
        let (width, height) = (image.width(), image.height());
        let pixels = match image.color().has_alpha() {
            true => image.into_rgba8().pixels().map(opaque_pixel).collect(),
            false => image.into_rgb8().pixels().map(|pixel| pixel.0).collect(),
        };
        Self { width, height, pixels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::RgbaImage;

    #[test]
    fn image_is_decoded_losslessly_and_composited_on_white() {
        let image = RgbaImage::from_raw(2, 1, vec![10, 20, 30, 255, 0, 0, 0, 51]).unwrap();
        let picture = RgbPixels::from(DynamicImage::from(image));
        let decoded = RgbPixels::decode(&picture.to_png().unwrap()).unwrap();
        assert_eq!(decoded.pixels, [[10, 20, 30], [204; 3]]);
        assert_eq!(decoded.at(2, 0), [255; 3], "outside");
    }

    #[test]
    fn non_image_or_oversized_image_is_refused() {
        assert!(matches!(RgbPixels::decode(b"<html>"), Err(ImageError::UnknownFormat { .. })));
        let wide = RgbPixels { width: 4097, height: 1, pixels: vec![[255; 3]; 4097] };
        let refused = RgbPixels::decode(&wide.to_png().unwrap());
        assert!(matches!(refused, Err(ImageError::TooManyPixels { width: 4097, .. })));
    }
}
