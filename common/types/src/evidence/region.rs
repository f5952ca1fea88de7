//! Regions in which two images differ: position, kind, responsible element and its repair.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Box in pixels of an image: x, y, width, height.
pub type PixelBox = [u32; 4];

/// Region in which the rendered image differs from the screenshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceRegion {
    /// The place in the screenshot.
    #[serde(rename = "box")]
    pub place: PixelBox,
    /// Position in the rendered image.
    pub render_box: PixelBox,
    /// Share of the screenshot's pixels that differ here, 0 to 1.
    pub share: f64,
    /// Mean color difference (CIEDE2000) of these pixels.
    pub delta_e: f64,
    /// The kind of difference.
    pub kind: RegionKind,
    /// Offset of the render's place from the screenshot's, right and down in pixels; `None` unless
    /// the region moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_by: Option<[i32; 2]>,
    /// The responsible element; `None` without a snapshot of the page.
    pub element: Option<RegionElement>,
    /// The CSS property that a repair sets (`display` for a removal, `size` for the width and the
    /// height of an image); `None` if no repair explains the region.
    pub property: Option<String>,
    /// The property's value in the code.
    pub is: Option<String>,
    /// The value that the screenshot shows.
    pub should_be: Option<String>,
    /// Share that the repair takes away of the difference of the areas that it touches, 0 to 1.
    pub explains: Option<f64>,
    /// Repairs that explain the region equally well.
    #[serde(default)]
    pub alternatives: Vec<AlternativeRepair>,
}

impl EvidenceRegion {
    /// True for content of the screenshot that its element lacks; an element that the code hides is
    /// missing itself.
    pub fn lacks_content(&self) -> bool {
        self.kind == RegionKind::Missing && self.property.is_none()
    }
}

crate::serde_enum! {
    /// Kind of difference between two images.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum RegionKind {
        /// The same shape in another color.
        Color = "color",
        /// The same content at another place.
        Moved = "moved",
        /// The same content in another size.
        Resized = "resized",
        /// Content of the screenshot that the render lacks.
        Missing = "missing",
        /// Content of the render that the screenshot lacks.
        Added = "added",
        /// Another text, or the same in another font.
        Text = "text",
        /// Another outline.
        Shape = "shape",
    }
}

/// An element of the rendered page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionElement {
    /// Tag, in lower case.
    pub tag: String,
    /// `id` attribute.
    pub id: Option<String>,
    /// Own text, at most 80 characters.
    pub text: String,
    /// A unique CSS path of it.
    pub path: String,
    /// A CSS selector of it and of the alike elements that need the same repair; `None` for a
    /// single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Position in pixels of the screenshot.
    #[serde(rename = "box")]
    pub place: PixelBox,
    /// Number of alike elements, including itself, that need the same repair.
    pub alike: u32,
}

impl fmt::Display for RegionElement {
    /// Writes tag, text and number of alike elements, as in `button "Save" and 2 alike`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.tag)?;
        if !self.text.is_empty() {
            write!(formatter, " {:?}", self.text)?;
        }
        match self.alike {
            0 | 1 => Ok(()),
            alike => write!(formatter, " and {} alike", alike - 1),
        }
    }
}

/// A declaration that explains a region as well as its repair does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlternativeRepair {
    /// CSS path of the element that it changes.
    pub path: String,
    /// The CSS property.
    pub property: String,
    /// The property's value in the code.
    pub is: String,
    /// The value that the screenshot shows.
    pub should_be: String,
}
