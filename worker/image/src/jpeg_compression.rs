//! Compression of a JPEG file, to be applied to other pictures: two pictures that were compressed
//! alike differ by their content alone.

use super::{
    RgbPixels,
    container::{QuantizationTable, jpeg_headers},
    format::ReadableFormat,
    pixels::Pixels,
    prepare_image,
};
use image::metadata::Orientation;
use jpeg_encoder::{ChromaSubsamplingMethod, Encoder, QuantizationTableType, SamplingFactor};
use std::panic::catch_unwind;

/// Quality of the encoder, which has its own tables.
const UNUSED_QUALITY: u8 = 100;

/// Quantization and color sampling of a JPEG picture.
#[derive(Clone, Debug, PartialEq)]
pub struct JpegCompression {
    brightness: QuantizationTable,
    color: QuantizationTable,
    sampling: SamplingFactor,
}

impl JpegCompression {
    /// The compression of a file; `None` if it is no JPEG file, or one that is turned, gray, or has
    /// no brightness and two colors of one compression.
    pub fn from_file(bytes: &[u8]) -> Option<Self> {
        // Checked first, since the facts take a pass over the file.
        if ReadableFormat::from_bytes(bytes)? != ReadableFormat::Jpeg {
            return None;
        }
        let facts = prepare_image::facts_of(bytes).ok()?;
        let headers = jpeg_headers(bytes)?;
        let [brightness, blueness, redness] = headers.components?;
        let is_usual = facts.orientation == Orientation::NoTransforms
            && [blueness.sampling, redness.sampling] == [(1, 1); 2]
            && blueness.table == redness.table;
        let (across, down) = brightness.sampling;
        Some(Self {
            brightness: headers.table(brightness)?,
            color: headers.table(blueness)?,
            sampling: SamplingFactor::from_factors(across, down).filter(|_| is_usual)?,
        })
    }

    /// The picture as it looks compressed; `None` if it has no pixels, or too many for JPEG.
    /// Synchronous; takes tens of milliseconds.
    pub fn apply(&self, picture: &RgbPixels) -> Option<RgbPixels> {
        // The tables are those of a file that may be hostile.
        catch_unwind(|| self.apply_unguarded(picture)).ok()?
    }

    fn apply_unguarded(&self, picture: &RgbPixels) -> Option<RgbPixels> {
        let table = |table: QuantizationTable| QuantizationTableType::Custom(Box::new(table));
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, UNUSED_QUALITY);
        encoder.set_quantization_tables(table(self.brightness), table(self.color));
        encoder.set_sampling_factor(self.sampling);
        // As browsers, cameras and libjpeg do.
        encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
        encoder.encode_image(Pixels::from_rgb(picture)?).ok()?;
        Some(RgbPixels::from(prepare_image::decode_upright(&bytes).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jpeg_encoder::ColorType;

    /// Colored stripes on a gradient.
    fn picture() -> RgbPixels {
        let pixel = |place: u32| {
            let (x, y) = (place % 53, place / 53);
            let is_ink = x % 7 < 2 && y % 11 < 8;
            if is_ink { [37, 99, 235] } else { [250, 250 - y as u8, 200 + x as u8] }
        };
        RgbPixels { width: 53, height: 37, pixels: (0..53 * 37).map(pixel).collect() }
    }

    fn file(quality: u8, sampling: SamplingFactor, color: ColorType) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, quality);
        encoder.set_sampling_factor(sampling);
        encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
        let samples = picture().pixels.into_flattened();
        let samples = if color == ColorType::Luma { samples[..53 * 37].to_vec() } else { samples };
        encoder.encode(&samples, 53, 37, color).unwrap();
        bytes
    }

    #[test]
    fn compressing_a_picture_as_a_file_was_gives_its_pixels() {
        for quality in [30, 60, 80, 95] {
            for sampling in [SamplingFactor::F_1_1, SamplingFactor::F_2_1, SamplingFactor::F_2_2] {
                let bytes = file(quality, sampling, ColorType::Rgb);
                let compression = JpegCompression::from_file(&bytes).unwrap();
                let compressed = compression.apply(&picture()).unwrap();
                assert!(compressed == RgbPixels::decode(&bytes).unwrap(), "{quality} {sampling:?}");
                assert!(compressed != picture(), "{quality} {sampling:?}");
            }
        }
    }

    #[test]
    fn hostile_tables_and_every_sampling_give_a_picture_of_the_same_size() {
        for divisor in [0, 1, 255, 256, u16::MAX] {
            for factors in [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (1, 4), (4, 2), (2, 4)] {
                let sampling = SamplingFactor::from_factors(factors.0, factors.1).unwrap();
                let table = [divisor; 64];
                let compression = JpegCompression { brightness: table, color: table, sampling };
                let compressed = compression.apply(&picture()).unwrap();
                assert_eq!(
                    (compressed.width, compressed.height),
                    (53, 37),
                    "{divisor} {factors:?}"
                );
            }
        }
    }

    #[test]
    fn files_of_another_kind_have_no_such_compression() {
        let gray = file(80, SamplingFactor::F_1_1, ColorType::Luma);
        let inks = |color| {
            let mut bytes = Vec::new();
            Encoder::new(&mut bytes, 80).encode(&[90; 4 * 64], 8, 8, color).unwrap();
            bytes
        };
        for bytes in
            [&gray, &inks(ColorType::Cmyk), &picture().to_png().unwrap(), &b"<html>".to_vec()]
        {
            assert_eq!(JpegCompression::from_file(bytes), None);
        }
        let mut cut = file(80, SamplingFactor::F_2_2, ColorType::Rgb);
        cut.truncate(200);
        assert_eq!(JpegCompression::from_file(&cut), None);
    }
}
