//! Attachments of an item's result: images and code, from a source that can read them.

use juror_types::{
    evidence::EvidenceOutcome,
    item::Language,
    outcome::{InputRecord, JobResult},
};
use std::collections::HashMap;

/// Source of images and code of results; queried at most once for each page.
pub trait Attachments {
    /// Images and code of the items of these results by item id; missing ones are left out with the
    /// reason. Earlier entries have priority.
    fn gather(&self, shown: &[AttachmentRequest]) -> HashMap<String, Attachment>;
}

/// A result that a page shows in full.
#[derive(Clone, Debug, PartialEq)]
pub struct AttachmentRequest {
    /// Id of the item.
    pub screenshot_id: String,
    /// Images, code and tokens as they were used.
    pub inputs: Vec<InputRecord>,
    /// The language of its code, as far as that is recorded.
    pub language: Option<Language>,
    /// True if its images were measured and differ, so that a page maps their differences.
    pub differs: bool,
}

impl From<JobResult> for AttachmentRequest {
    fn from(result: JobResult) -> Self {
        let measured = result.evidence.as_ref().and_then(EvidenceOutcome::measured);
        let differs = measured.is_some_and(|evidence| !evidence.regions.is_empty());
        let JobResult { screenshot_id, item, .. } = result;
        Self { screenshot_id, inputs: item.inputs, language: item.language, differs }
    }
}

impl AttachmentRequest {
    /// The images among the inputs.
    pub fn images(&self) -> impl Iterator<Item = &InputRecord> {
        self.inputs.iter().filter(|input| input.is_image())
    }

    /// The code that was judged, as far as that is recorded.
    pub fn code(&self) -> Option<&InputRecord> {
        self.inputs.iter().find(|input| input.name == InputRecord::CODE)
    }
}

/// Attachment of one item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Thumbnail of each image of the item, in the rubric's order, or the reason for its absence.
    pub pictures: Vec<(String, Result<Picture, String>)>,
    /// The generated code, or why there is none to be shown; `None` if the item has no code.
    pub code: Option<Result<Code, String>>,
}

impl Attachment {
    /// Remark on the image of this name if it differs from the present file; `None` if it does not.
    pub fn remark_on(&self, name: &str) -> Option<&str> {
        let picture = self.pictures.iter().find(|(other, _)| other == name)?.1.as_ref();
        picture.ok()?.remark.as_deref()
    }
}

/// Thumbnail in a format that every browser reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// PNG or JPEG, by its media type.
    pub media_type: &'static str,
    /// Encoded image.
    pub bytes: Vec<u8>,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// True if these are the bytes that were measured, and no reduced copy of them.
    pub is_original: bool,
    /// Remark on a file that has changed since; `None` if it has not.
    pub remark: Option<String>,
}

/// Generated code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Beginning of the code, or all of it.
    pub text: String,
    /// Language, where that is known.
    pub language: Option<Language>,
    /// Bytes that were left out at its end.
    pub left_out: usize,
    /// Remark on a file that has changed since; `None` if it has not.
    pub remark: Option<String>,
}

/// Shows results alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAttachments;

impl Attachments for NoAttachments {
    fn gather(&self, _: &[AttachmentRequest]) -> HashMap<String, Attachment> {
        HashMap::new()
    }
}
