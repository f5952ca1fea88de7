//! Code to draw.

use crate::error::RenderError;
use juror_types::item::Language;
use serde_json::{Map, Value};

/// Pixels of a picture's side at most.
const MAX_SIDE: u32 = 4096;

/// Code to draw, and the size to draw it in.
#[derive(Clone, Debug, PartialEq)]
pub struct PageSource {
    /// The code.
    pub code: String,
    /// Its language.
    pub language: Language,
    /// Properties that a component is mounted with.
    pub props: Map<String, Value>,
    /// Width and height in CSS pixels.
    pub viewport: [u32; 2],
    /// Device pixels for each CSS pixel.
    pub scale: u32,
}

impl PageSource {
    pub(crate) fn check_viewport(&self) -> Result<(), RenderError> {
        let [width, height] = self.viewport.map(|side| side.saturating_mul(self.scale));
        let is_drawable = |side: u32| (1..=MAX_SIDE).contains(&side);
        if is_drawable(width) && is_drawable(height) {
            Ok(())
        } else {
            Err(RenderError::Viewport { width, height, max: MAX_SIDE })
        }
    }
}
