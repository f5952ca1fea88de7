//! Code to render.

use crate::error::RenderError;
use juror_types::evidence::PageFrame;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum side of an image in pixels.
const MAX_SIDE: u32 = 4096;

/// Code to render, and the size of the image.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageSource {
    /// Code to render.
    pub code: PageCode,
    /// Properties that a component is mounted with.
    pub props: Map<String, Value>,
    /// The page around a component; `None` without padding, on white.
    pub frame: Option<PageFrame>,
    /// Width and height in CSS pixels.
    pub viewport: [u32; 2],
    /// Device pixels for each CSS pixel.
    pub scale: u32,
}

/// Code by the way in which it becomes a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PageCode {
    /// A page as it is.
    Html(String),
    /// A component, to be mounted in a page.
    Component(ComponentModule),
}

/// A component's code as an ES module without types and JSX.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ComponentModule {
    /// The module's text.
    pub script: String,
    /// Modules that it imports, by specifier.
    pub imports: BTreeMap<String, ImportedNames>,
    /// Names of the exports that may be the component, the likeliest first; empty if the module
    /// mounts its component itself.
    pub candidates: Vec<String>,
}

/// Names that a module imports of another, each with a name to show for it.
pub type ImportedNames = BTreeMap<String, String>;

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
