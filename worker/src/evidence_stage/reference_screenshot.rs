//! The screenshot of an item, as reference for its renders.

use crate::source_image::SourceImage;
use bytes::Bytes;
use juror_evidence::Raster;
use juror_image::{ImageError, JpegCompression, RgbPixels};
use juror_types::item::Tokens;
use serde_json::Value;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The screenshot of an item, and its expected tokens.
pub(super) struct ReferenceScreenshot {
    pub screenshot: Raster,
    /// Compression of a JPEG screenshot.
    compression: Option<JpegCompression>,
    /// Names and values of the tokens whose values are texts, such as colors and lengths.
    pub tokens: Vec<(String, String)>,
}

/// A render as it is compared with the screenshot.
#[derive(Clone)]
pub(super) struct ComparableRender {
    pub pixels: Arc<Raster>,
    /// True if it was compressed as the screenshot.
    pub is_compressed_alike: bool,
}

impl ReferenceScreenshot {
    /// Decodes a screenshot; none if it has no pixels, or while the process ends.
    pub async fn new(
        screenshot: &SourceImage,
        tokens: Option<&Tokens>,
    ) -> Result<Option<Arc<Self>>, ImageError> {
        let bytes = screenshot.bytes.clone();
        let tokens = token_values(tokens);
        let decoding = spawn_blocking(move || {
            let screenshot = raster(&bytes)?;
            let compression = JpegCompression::from_file(&bytes);
            Ok(screenshot.map(|screenshot| Arc::new(Self { screenshot, compression, tokens })))
        });
        decoding.await.unwrap_or(Ok(None))
    }

    /// Decodes a render to compare it with the screenshot; none if it has no pixels, or while the
    /// process ends.
    pub async fn decode_render(
        self: &Arc<Self>,
        bytes: Bytes,
    ) -> Result<Option<ComparableRender>, ImageError> {
        let own = Arc::clone(self);
        let decoding = spawn_blocking(move || {
            let Some(render) = raster(&bytes)? else { return Ok(None) };
            // A JPEG render has traces of its own compression.
            let is_compressed_alike = own.compression_for(&render).is_some()
                && JpegCompression::from_file(&bytes).is_none();
            let compared = match is_compressed_alike {
                true => own.as_compressed(render),
                false => Some(render),
            };
            let comparable =
                |pixels| ComparableRender { pixels: Arc::new(pixels), is_compressed_alike };
            Ok(compared.map(comparable))
        });
        decoding.await.unwrap_or(Ok(None))
    }

    /// The render compressed as the screenshot, so that both have equal traces of it; unchanged if
    /// the screenshot is no JPEG file or of another size. None for a render without pixels.
    pub fn as_compressed(&self, render: Raster) -> Option<Raster> {
        let Some(compression) = self.compression_for(&render) else { return Some(render) };
        let (width, height) = (render.width(), render.height());
        let render = RgbPixels { width, height, pixels: render.into_pixels() };
        let compressed = compression.apply(&render).unwrap_or(render);
        Raster::from_pixels(width, height, compressed.pixels)
    }

    /// Compression of the screenshot; none for a render of another size, whose blocks of pixels lie
    /// elsewhere.
    fn compression_for(&self, render: &Raster) -> Option<&JpegCompression> {
        let size = |picture: &Raster| (picture.width(), picture.height());
        self.compression.as_ref().filter(|_| size(render) == size(&self.screenshot))
    }
}

fn raster(bytes: &[u8]) -> Result<Option<Raster>, ImageError> {
    let RgbPixels { width, height, pixels } = RgbPixels::decode(bytes)?;
    Ok(Raster::from_pixels(width, height, pixels))
}

fn token_values(tokens: Option<&Tokens>) -> Vec<(String, String)> {
    let tokens = tokens.into_iter().flatten();
    let text = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    tokens.filter_map(text).collect()
}
