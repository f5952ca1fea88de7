//! Origin of a screenshot: the same browser, or ways that change its pixels.

use super::{
    browser::{BenchBrowser, raster_of},
    firefox::Firefox,
};
use image::{RgbImage, imageops};
use juror_evidence::{PageChange, Raster};
use juror_image::JpegCompression;
use serde_json::json;

/// Browsers that render pages: one as in the product, another for screenshots of another origin.
pub struct Browsers {
    pub chromium: BenchBrowser,
    pub firefox: Option<Firefox>,
}

/// Pixels of another margin, to the left and above.
const MARGIN: [u32; 2] = [7, 5];

juror_types::named_enum! {
    /// An origin of screenshots.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ScreenshotOrigin {
        SameBrowser = "same browser",
        /// Each sample up to two levels off.
        Rounded = "two levels of noise",
        /// Rendered at twice the size.
        Double = "twice the size",
        /// Rendered at twice the size and halved.
        Halved = "twice the size, halved",
        Jpeg = "JPEG of quality 85",
        /// As browsers write it: one color for four pixels.
        CoarseJpeg = "JPEG of quality 80, coarse colors",
        /// Halved, with a further margin to the left and above.
        OtherMargin = "halved, another margin",
        OtherBrowser = "another browser",
    }
}

impl ScreenshotOrigin {
    pub const ELSEWHERE: [Self; 5] =
        [Self::Halved, Self::Jpeg, Self::CoarseJpeg, Self::OtherMargin, Self::OtherBrowser];

    /// Device pixels per CSS pixel in the product's render for the comparison.
    pub fn device_scale(self) -> u32 {
        if self == Self::Double { 2 } else { 1 }
    }

    /// Width and height of the product's render for the comparison: those of the screenshot.
    pub fn viewport(self, size: [u32; 2]) -> [u32; 2] {
        let [width, height] = size;
        if self == Self::OtherMargin { [width + MARGIN[0], height + MARGIN[1]] } else { size }
    }

    /// Screenshot of a page with a change; `None` without the required browser.
    pub fn screenshot(
        self,
        browsers: &mut Browsers,
        html: &str,
        size: [u32; 2],
        changes: &[PageChange],
    ) -> Option<Raster> {
        if let Self::OtherBrowser = self {
            browsers.chromium.compression = None;
            return Some(raster_of(&browsers.firefox.as_mut()?.draw(html, size, changes)));
        }
        let browser = &mut browsers.chromium;
        let is_double = matches!(self, Self::Double | Self::Halved | Self::OtherMargin);
        browser.open(html, size, if is_double { 2 } else { 1 });
        browser.plant(changes);
        let file = match self {
            Self::Jpeg => full_colors(&browser.capture()),
            Self::CoarseJpeg => browser.capture_file(&json!({"format": "jpeg", "quality": 80})),
            _ => return Some(raster_of(&self.degraded(browser, size))),
        };
        browser.compression = JpegCompression::from_file(&file);
        Some(raster_of(&image::load_from_memory(&file).unwrap().to_rgb8()))
    }

    fn degraded(self, browser: &mut BenchBrowser, size: [u32; 2]) -> RgbImage {
        browser.compression = None;
        let mut picture = browser.capture();
        self.degrade(&mut picture, size);
        picture
    }

    /// Changes the pixels of an image as its origin does.
    fn degrade(self, picture: &mut RgbImage, size: [u32; 2]) {
        match self {
            Self::SameBrowser
            | Self::Double
            | Self::Jpeg
            | Self::CoarseJpeg
            | Self::OtherBrowser => {}
            Self::Rounded => {
                let mut state = 1u32;
                for sample in picture.iter_mut() {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    *sample = sample.saturating_add_signed(((state >> 24) % 5) as i8 - 2);
                }
            }
            Self::Halved => *picture = halved(picture, size),
            Self::OtherMargin => {
                let small = halved(picture, size);
                let [width, height] = self.viewport(size);
                let mut larger = RgbImage::from_pixel(width, height, *small.get_pixel(0, 0));
                let [left, top] = MARGIN.map(i64::from);
                imageops::overlay(&mut larger, &small, left, top);
                *picture = larger;
            }
        }
    }
}

fn halved(picture: &RgbImage, [width, height]: [u32; 2]) -> RgbImage {
    imageops::resize(picture, width, height, imageops::FilterType::Triangle)
}

/// JPEG file with a color for each pixel.
fn full_colors(picture: &RgbImage) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 85);
    picture.write_with_encoder(encoder).unwrap();
    bytes.into_inner()
}
