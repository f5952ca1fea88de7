//! One line of a dataset: what is to be judged, and what is known of it.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A screenshot (or several named images) with what is known of it. Carries references, never
/// image bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Unique in its dataset; called `screenshot_id` in results.
    pub id: String,
    /// The images that the rubric names, by name, in the rubric's order.
    pub images: IndexMap<String, ImageReference>,
    /// The code that the user's pipeline made from the screenshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated_code: Option<Text>,
    /// Language of `generated_code`; guessed from a path's ending where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// The true design tokens: a JSON object, nested or flat, inline or in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_tokens: Option<TokenSource>,
    /// The design tokens that the user's pipeline found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extracted_tokens: Option<TokenSource>,
    /// A picture of the rendered code that is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<ImageReference>,
    /// Properties that the component is mounted with when its code is rendered.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub props: Map<String, Value>,
    /// The pattern that retrieval should find.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_pattern: Option<String>,
    /// The pattern that it found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved_pattern: Option<String>,
    /// The pipeline's own quality score, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<f64>,
    /// Name of the style that a restyled image was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// Free labels to filter and group by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Items of one cluster are not independent of each other; intervals allow for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Ratings by people, by criterion, to calibrate a judge against.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub labels: Map<String, Value>,
    /// Every further field of the manifest's line, at most 1 KB each.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl Item {
    /// Name of the picture of the rendered code, in manifests and among a result's inputs.
    pub const RENDERED: &str = "rendered";

    /// The picture of the rendered code that is there already, whether or not the rubric names it.
    pub fn rendered(&self) -> Option<&ImageReference> {
        self.rendered.as_ref().or_else(|| self.images.get(Self::RENDERED))
    }

    /// The image of this name, the rendered picture included.
    pub fn image(&self, name: &str) -> Option<&ImageReference> {
        let rendered = || self.rendered.as_ref().filter(|_| name == Self::RENDERED);
        self.images.get(name).or_else(rendered)
    }

    /// Paths of code, expected and extracted tokens, in this order: none where the item has no such
    /// text, an inner none where the text is inline.
    pub fn text_paths(&self) -> [Option<Option<&str>>; 3] {
        [
            self.generated_code.as_ref().map(Text::path),
            self.expected_tokens.as_ref().map(TokenSource::path),
            self.extracted_tokens.as_ref().map(TokenSource::path),
        ]
    }

    /// Every file that it names: images, the rendered picture, code, tokens.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let images = self.images.values().chain(&self.rendered);
        let images = images.map(|image| image.reference.as_str());
        images.chain(self.text_paths().into_iter().flatten().flatten())
    }
}

/// Reference to an image, with its digest if one is promised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImageReference {
    /// Path relative to the manifest's folder, or a URL; see [`crate::reference`].
    #[serde(rename = "ref")]
    pub reference: String,
    /// The digest that the manifest promises; the worker checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<crate::id::Digest>,
}

/// A text that stands in the manifest itself, or in a file of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Text {
    /// The text.
    Inline(String),
    /// Path relative to the manifest's folder, or a URL.
    Path(String),
}

/// Design tokens that stand in the manifest itself, or in a JSON file of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// The tokens as they were written: an object, nested or flat.
    Inline(Value),
    /// Path relative to the manifest's folder, or a URL.
    Path(String),
}

impl Text {
    /// The path of its file; none where it is inline.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Inline(_) => None,
            Self::Path(path) => Some(path),
        }
    }
}

impl TokenSource {
    /// The path of their file; none where they are inline.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Inline(_) => None,
            Self::Path(path) => Some(path),
        }
    }
}

/// Flat design tokens: dotted name to value.
pub type Tokens = BTreeMap<String, Value>;

/// A language in which generated code may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// TypeScript with JSX.
    Tsx,
    /// JavaScript with JSX.
    Jsx,
    /// TypeScript.
    Ts,
    /// JavaScript.
    Js,
    /// HTML.
    Html,
}

impl Language {
    /// The language that a file's ending (`tsx`, without the dot) tells.
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "tsx" => Some(Self::Tsx),
            "jsx" => Some(Self::Jsx),
            "ts" => Some(Self::Ts),
            "js" | "mjs" => Some(Self::Js),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }

    /// The name that a prompt's code block and a manifest's `language` carry.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tsx => "tsx",
            Self::Jsx => "jsx",
            Self::Ts => "ts",
            Self::Js => "js",
            Self::Html => "html",
        }
    }
}
