//! Measured evidence: differences between an item's screenshot and the image of its rendered code.

mod outcome_record;
mod region;

pub use region::{AlternativeRepair, EvidenceRegion, PixelBox, RegionElement, RegionKind};

use crate::SCHEMA;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum color difference (CIEDE2000) of two colors that count as equal.
pub const SAME_COLOR_DELTA_E: f64 = 2.0;

crate::serde_enum! {
    /// Amount of measured evidence of a run, and the part of it that the judge receives.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum EvidenceMode {
        /// Nothing is rendered or measured.
        #[default]
        None = "none",
        /// Measured; the judge receives the facts as text.
        Facts = "facts",
        /// Measured; the judge receives the facts, the rendered image and crops of the regions.
        Full = "full",
    }
}

impl EvidenceMode {
    /// True if nothing is measured.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Result of rendering and measuring one item.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EvidenceOutcome {
    /// The code was rendered, and its image measured.
    Measured(Box<Evidence>),
    /// The code could not be rendered.
    Failed {
        /// The reason in one line, as in "throws: x is not a function".
        error: String,
    },
}

impl EvidenceOutcome {
    /// The evidence, if rendering succeeded.
    pub fn measured(&self) -> Option<&Evidence> {
        match self {
            Self::Measured(evidence) => Some(evidence),
            Self::Failed { .. } => None,
        }
    }

    /// The error of rendering, if it failed.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Measured(_) => None,
            Self::Failed { error } => Some(error),
        }
    }
}

/// Differences between a screenshot and the image of the rendered code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Version of this record, [`SCHEMA`].
    pub schema: u32,
    /// Source of the rendered image.
    pub source: EvidenceSource,
    /// Name and version of the browser; `None` unless it is the source.
    pub browser: Option<String>,
    /// Digest of what renders a browser's image beside the user's files: the browser and its flags,
    /// fonts, Tailwind and the version of this program, in 12 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renderer: Option<String>,
    /// Pixels of the screenshot for each CSS pixel, 1 or 2.
    pub scale: u32,
    /// Shift of the rendered image, right and down in pixels of the screenshot, that fits the
    /// screenshot best.
    pub shift: [i32; 2],
    /// The page around the component that its code does not contain; `None` if none was fitted.
    pub frame: Option<PageFrame>,
    /// Default styles of the browser that took the screenshot with which the page was rendered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<BrowserDefault>,
    /// Width and height of the screenshot in pixels.
    pub size: [u32; 2],
    /// Width and height of the rendered image in pixels.
    pub render_size: [u32; 2],
    /// Width and height of the rendered image divided by those of the screenshot; `None` if they
    /// are equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_ratio: Option<[f64; 2]>,
    /// Pixels by which the page goes on beyond the right and the bottom edge of the screenshot,
    /// where nothing is compared; `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<[u32; 2]>,
    /// Share of the pixels in which the pair differs without any change, 0 to 1.
    pub noise: f64,
    /// Levels of a color channel by which flat areas may differ beside that noise; `None` without
    /// noise, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_levels: Option<u8>,
    /// Names of the code's imports and scripts that were replaced by stand-ins.
    pub partial: Vec<String>,
    /// Addresses that the page requested and did not get, without their query; at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<String>,
    /// First error, in one line, of code that throws and still shows something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_error: Option<String>,
    /// True if rendering ended, by its time limit or a failure of the browser, before all scales,
    /// frames, viewports and repairs were tried: what differs may differ less.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
    /// Share of the pixels that are equal up to noise, 0 to 1.
    pub pixels_equal: f64,
    /// Mean structural similarity, at most 1.
    pub ssim: f64,
    /// Mean structural similarity of the lowest tenth.
    pub ssim_low: f64,
    /// Share of the blocks by area that are in both images, 0 to 1; `None` without blocks.
    pub block_match: Option<f64>,
    /// Proximity of matched blocks, 0 to 1; `None` without matched blocks.
    pub block_position: Option<f64>,
    /// Mean color difference (CIEDE2000) of the pixels that differ; 0 where none does.
    pub delta_e: f64,
    /// Share of all differences that the repairs remove, 0 to 1; `None` if none was tried.
    pub explained: Option<f64>,
    /// True if an image in the code covers much of the render and equals the screenshot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pastes_screenshot: bool,
    /// Differing regions, causes before their consequences.
    pub regions: Vec<EvidenceRegion>,
    /// Expected tokens in the two images.
    pub tokens: Vec<TokenEvidence>,
}

impl Evidence {
    /// True if nothing differs, within the screenshot or beyond its edges.
    pub fn is_equal(&self) -> bool {
        self.regions.is_empty() && self.overflow.is_none()
    }

    /// Evidence of two equal images, without tokens.
    pub fn for_equal_pictures(source: EvidenceSource) -> Self {
        Self {
            schema: SCHEMA,
            source,
            scale: 1,
            pixels_equal: 1.0,
            ssim: 1.0,
            ssim_low: 1.0,
            ..Self::default()
        }
    }
}

crate::serde_enum! {
    /// Source of the image of an item's code.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum EvidenceSource {
        /// The item references the image as `rendered`.
        #[default]
        Rendered = "rendered",
        /// The user's `stages.render_command` made it.
        Command = "command",
        /// The worker's browser rendered it.
        Browser = "browser",
    }
}

/// The page around a component that its code does not contain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageFrame {
    /// Padding in CSS pixels.
    pub padding: u32,
    /// True if the component stands in the middle of the page, no larger than its content needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub centered: bool,
    /// The page's color, as `#RRGGBB`.
    pub color: String,
}

impl fmt::Display for PageFrame {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { padding, centered, color } = self;
        match centered {
            true => write!(formatter, "in the middle of a page of {color}"),
            false => write!(formatter, "in a page of {color} with {padding} pixels around it"),
        }
    }
}

/// Default style of another browser, which explains differences that are not in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrowserDefault {
    /// The CSS property.
    pub property: String,
    /// Its value in the other browser.
    pub value: String,
    /// The elements that have it, as in "form controls without a font".
    pub elements: String,
}

impl fmt::Display for BrowserDefault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { property, value, elements } = self;
        write!(formatter, "{property}: {value} for {elements}")
    }
}

/// Expected design token in the two images.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenEvidence {
    /// The token's dotted name.
    pub key: String,
    /// The expected value.
    pub expected: String,
    /// Color difference (CIEDE2000) of the nearest color in the screenshot; `None` for tokens that
    /// are not colors.
    pub screenshot_delta_e: Option<f64>,
    /// The same in the rendered image.
    pub render_delta_e: Option<f64>,
    /// The nearest color in the screenshot, as `#RRGGBB`; `None` for tokens that are not colors,
    /// and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screenshot_color: Option<String>,
    /// The same in the rendered image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render_color: Option<String>,
    /// Number of elements of the page that use a length, radius, font size or weight; `None` for
    /// colors and without a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_by: Option<u32>,
    /// Elements that use another value beside neighbors with the expected one: CSS path and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_values: Vec<[String; 2]>,
}

#[cfg(test)]
mod tests;
