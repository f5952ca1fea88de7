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
    /// Names and values of the tokens whose values are texts or numbers, such as colors, lengths and
    /// weights.
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
    /// Decodes a screenshot; `None` if it has no pixels, or while the process ends.
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

    /// Decodes a render to compare it with the screenshot; `None` if it has no pixels, or while the
    /// process ends.
    pub async fn decode_render(
        self: &Arc<Self>,
        bytes: Bytes,
    ) -> Result<Option<ComparableRender>, ImageError> {
        let own = Arc::clone(self);
        let decoding = spawn_blocking(move || {
            let Some(render) = raster(&bytes)? else { return Ok(None) };
            // A JPEG render has traces of its own compression.
            let is_jpeg = JpegCompression::from_file(&bytes).is_some();
            let compressed = if is_jpeg { None } else { own.compressed(&render) };
            let is_compressed_alike = compressed.is_some();
            let pixels = Arc::new(compressed.unwrap_or(render));
            Ok(Some(ComparableRender { pixels, is_compressed_alike }))
        });
        decoding.await.unwrap_or(Ok(None))
    }

    /// The render compressed as the screenshot, so that both have equal traces of it. `None` if the
    /// screenshot is no JPEG file, for a render of another size, whose blocks of pixels lie
    /// elsewhere, and for one that cannot be compressed.
    pub fn compressed(&self, render: &Raster) -> Option<Raster> {
        let (width, height) = (render.width(), render.height());
        let is_of_one_size = [width, height] == [self.screenshot.width(), self.screenshot.height()];
        let compression = self.compression.as_ref().filter(|_| is_of_one_size)?;
        let render = RgbPixels { width, height, pixels: render.clone().into_pixels() };
        Raster::from_pixels(width, height, compression.apply(&render)?.pixels)
    }
}

fn raster(bytes: &[u8]) -> Result<Option<Raster>, ImageError> {
    let RgbPixels { width, height, pixels } = RgbPixels::decode(bytes)?;
    Ok(Raster::from_pixels(width, height, pixels))
}

fn token_values(tokens: Option<&Tokens>) -> Vec<(String, String)> {
    let tokens = tokens.into_iter().flatten();
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    tokens.filter_map(|(key, value)| Some((key.clone(), text(value)?))).collect()
}
