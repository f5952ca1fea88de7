//! The part of an item that its result carries.

use crate::{id::Digest, item::Language, signature::Signature};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The part of an item that its result carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemRecord {
    /// Labels for grouping.
    pub tags: Vec<String>,
    /// Cluster of the item; items of one cluster are not independent.
    pub cluster: Option<String>,
    /// Ratings by people.
    pub labels: Map<String, Value>,
    /// Further fields of the manifest's line.
    pub metadata: Map<String, Value>,
    /// Name of the style of a restyled image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
    /// Language of the code that stages and judge received; none without code, and in records of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
    /// The expected pattern of retrieval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_pattern: Option<String>,
    /// The images, the code and the tokens that stages and judge received.
    pub inputs: Vec<InputRecord>,
}

/// One image or text of an item, as it was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputRecord {
    /// The rubric's name of an image, or one of [`InputRecord::TEXTS`].
    pub name: String,
    /// Origin: a path, a URL without its query, [`InputRecord::INLINE`] or
    /// [`InputRecord::PIPELINE`].
    #[serde(rename = "ref")]
    pub reference: String,
    /// SHA-256 of an image's bytes, of code as UTF-8 without a byte order mark, of flat tokens as
    /// JSON sorted by name; none if it was not read.
    pub digest: Option<Digest>,
    /// Changes by preparation, as in "first of 6 frames".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Signature for comparing near-equal inputs: of code that is long enough, and of an image that
    /// had to be decoded; none in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl ItemRecord {
    /// The images among the inputs.
    pub fn images(&self) -> impl Iterator<Item = &InputRecord> {
        self.inputs.iter().filter(|input| input.is_image())
    }
}

impl InputRecord {
    /// Name of the generated code.
    pub const CODE: &str = "generated_code";
    /// Name of the expected design tokens.
    pub const EXPECTED_TOKENS: &str = "expected_tokens";
    /// Name of the design tokens that the user's pipeline extracted.
    pub const EXTRACTED_TOKENS: &str = "extracted_tokens";
    /// Names of the text inputs.
    pub const TEXTS: [&str; 3] = [Self::CODE, Self::EXPECTED_TOKENS, Self::EXTRACTED_TOKENS];
    /// Reference of a text in the dataset or the job itself.
    pub const INLINE: &str = "inline";
    /// Reference of a picture made by the user's render command.
    pub const RENDER_COMMAND: &str = "render_command";
    /// Reference of a picture rendered by the built-in browser.
    pub const BROWSER: &str = "browser";
    /// Reference of a picture made while measuring, of the screenshot and the rendered picture.
    pub const EVIDENCE: &str = "evidence";
    /// Reference of a text returned by the user's pipeline command.
    pub const PIPELINE: &str = "pipeline_command";

    /// The record of an input that was not read.
    pub fn unread(name: &str, reference: impl Into<String>) -> Self {
        let (name, reference) = (name.to_owned(), reference.into());
        Self { name, reference, digest: None, note: None, signature: None }
    }

    /// True if it is a picture that was rendered for this job.
    pub fn is_render(&self) -> bool {
        [Self::RENDER_COMMAND, Self::BROWSER, Self::EVIDENCE].contains(&self.reference.as_str())
    }

    /// True if it is an image.
    pub fn is_image(&self) -> bool {
        !Self::TEXTS.contains(&self.name.as_str())
    }
}
