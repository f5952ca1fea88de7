//! Where a screenshot comes from: the same browser, or ways that change its pixels.

use super::browser::Browser;
use image::{DynamicImage, RgbImage, imageops};
use juror_evidence::{PageChange, Raster};

/// An origin of screenshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    SameBrowser,
    /// Each sample up to two levels off.
    Rounded,
    /// Drawn at twice the size and halved.
    Halved,
    Jpeg,
    /// Halved, with seven pixels more to the left and five above.
    OtherMargin,
}

impl Origin {
    pub const ELSEWHERE: [Self; 3] = [Self::Halved, Self::Jpeg, Self::OtherMargin];

    pub fn name(self) -> &'static str {
        match self {
            Self::SameBrowser => "same browser",
            Self::Rounded => "two levels of noise",
            Self::Halved => "twice the size, halved",
            Self::Jpeg => "JPEG of quality 85",
            Self::OtherMargin => "halved, another margin",
        }
    }

    /// The screenshot of a page with a change.
    pub fn screenshot(
        self,
        browser: &mut Browser,
        html: &str,
        size: [u32; 2],
        changes: &[PageChange],
    ) -> Raster {
        let scale = if matches!(self, Self::Halved | Self::OtherMargin) { 2 } else { 1 };
        browser.open(html, size, scale);
        browser.plant(changes);
        let mut picture = browser.capture();
        match self {
            Self::SameBrowser => {}
            Self::Rounded => {
                let mut state = 1u32;
                for sample in picture.iter_mut() {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    *sample = sample.saturating_add_signed(((state >> 24) % 5) as i8 - 2);
                }
            }
            Self::Halved => picture = halved(&picture, size),
            Self::Jpeg => {
                let mut bytes = std::io::Cursor::new(Vec::new());
                let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 85);
                picture.write_with_encoder(encoder).unwrap();
                picture = image::load_from_memory(bytes.get_ref()).unwrap().to_rgb8();
            }
            Self::OtherMargin => {
                let small = halved(&picture, size);
                let mut larger =
                    RgbImage::from_pixel(size[0] + 7, size[1] + 5, *small.get_pixel(0, 0));
                imageops::overlay(&mut larger, &small, 7, 5);
                picture = larger;
            }
        }
        let rgba = DynamicImage::ImageRgb8(picture).to_rgba8();
        Raster::from_rgba(rgba.width(), rgba.height(), rgba.as_raw()).unwrap()
    }
}

fn halved(picture: &RgbImage, [width, height]: [u32; 2]) -> RgbImage {
    imageops::resize(picture, width, height, imageops::FilterType::Triangle)
}
