//! An item: one line of a dataset.

use crate::reference::shown;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, path::Path};

/// A screenshot (or several named images) with its data. Contains references, never image bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// Unique id in its dataset; `screenshot_id` in results.
    pub id: String,
    /// The rubric's images by name, in the rubric's order.
    pub images: IndexMap<String, ImageReference>,
    /// The code that the user's pipeline made from the screenshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated_code: Option<Text>,
    /// Language of `generated_code`; by default, from a path's extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// The expected design tokens: a JSON object, nested or flat, inline or in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_tokens: Option<TokenSource>,
    /// The design tokens that the user's pipeline extracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extracted_tokens: Option<TokenSource>,
    /// Existing image of the rendered code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<ImageReference>,
    /// Properties with which the component is mounted when its code is rendered.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub props: Map<String, Value>,
    /// The expected pattern of retrieval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_pattern: Option<String>,
    /// The pattern that it retrieved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieved_pattern: Option<String>,
    /// The pipeline's own quality score, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<f64>,
    /// Name of the style of a restyled image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// Labels for filtering and grouping.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Cluster of the item; items of one cluster are not independent, which intervals allow for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Ratings by people, by criterion, to calibrate a judge against.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub labels: Map<String, Value>,
    /// Further fields of the manifest's line, at most 1 KB each.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl Item {
    /// Name of the image of the rendered code, in manifests and in a result's inputs.
    pub const RENDERED: &str = "rendered";

    /// Existing image of the rendered code, even if the rubric does not name it.
    pub fn rendered(&self) -> Option<&ImageReference> {
        self.rendered.as_ref().or_else(|| self.images.get(Self::RENDERED))
    }

    /// Image of this name, including the rendered image.
    pub fn image(&self, name: &str) -> Option<&ImageReference> {
        let rendered = || self.rendered.as_ref().filter(|_| name == Self::RENDERED);
        self.images.get(name).or_else(rendered)
    }

    /// Paths of code, expected and extracted tokens, in this order: none where the item has no such
    /// text, an inner none where it is inline.
    pub fn text_paths(&self) -> [Option<Option<&str>>; 3] {
        [
            self.generated_code.as_ref().map(Text::path),
            self.expected_tokens.as_ref().map(TokenSource::path),
            self.extracted_tokens.as_ref().map(TokenSource::path),
        ]
    }

    /// All files of the item: images, rendered image, code, tokens.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let images = self.images.values().chain(&self.rendered);
        let images = images.map(|image| image.reference.as_str());
        images.chain(self.text_paths().into_iter().flatten().flatten())
    }
}

/// Reference to an image, with its expected digest if given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImageReference {
    /// Path relative to the manifest's folder, or a URL; see [`crate::reference`].
    #[serde(rename = "ref")]
    pub reference: String,
    /// The digest in the manifest; the worker verifies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<crate::id::Digest>,
}

/// A value in the manifest itself or in a separate file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InlineOrPath<T> {
    /// Value in the manifest itself.
    Inline(T),
    /// Path relative to the manifest's folder, or a URL.
    Path(String),
}

/// A text in the manifest itself or in a separate file.
pub type Text = InlineOrPath<String>;

/// Design tokens, an object, nested or flat, in the manifest itself or in a separate JSON file.
pub type TokenSource = InlineOrPath<Value>;

impl<T> InlineOrPath<T> {
    /// The path of its file; `None` if it is inline.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Inline(_) => None,
            Self::Path(path) => Some(path),
        }
    }
}

/// Flat design tokens: dotted name to value.
pub type Tokens = BTreeMap<String, Value>;

crate::serde_enum! {
    /// A language of generated code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Language {
        /// TypeScript with JSX.
        Tsx = "tsx",
        /// JavaScript with JSX.
        Jsx = "jsx",
        /// TypeScript.
        Ts = "ts",
        /// JavaScript.
        Js = "js",
        /// HTML.
        Html = "html",
    }
}

impl Language {
    /// File extensions, without the dot, and their languages.
    pub const EXTENSIONS: [(&str, Self); 7] = [
        ("tsx", Self::Tsx),
        ("jsx", Self::Jsx),
        ("ts", Self::Ts),
        ("js", Self::Js),
        ("mjs", Self::Js),
        ("html", Self::Html),
        ("htm", Self::Html),
    ];

    /// The language of a path or URL by its extension.
    pub fn from_path(path: &str) -> Option<Self> {
        Self::from_extension(Path::new(&*shown(path)).extension()?.to_str()?)
    }

    /// The language of a file extension (`tsx`, without the dot).
    pub fn from_extension(extension: &str) -> Option<Self> {
        let known = Self::EXTENSIONS.iter().find(|(name, _)| name.eq_ignore_ascii_case(extension));
        known.map(|(_, language)| *language)
    }
}
