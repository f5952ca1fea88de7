//! A question to a vision model, as data: it can be sent now, or written down for later.

use bytes::Bytes;
use juror_types::{
    job::Detail,
    lane::Lane,
    model::{OutputLimit, PromptCache},
};
use std::sync::Arc;

/// One question with its images. Static text stands before what differs from item to item, so
/// that providers' prompt caches help.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model, as the provider spells it.
    pub model: String,
    /// Role of the judge, and what holds for every question.
    pub system: Arc<str>,
    /// The rubric's task, the same for every item of a run.
    pub task: Arc<str>,
    /// The item's own text.
    pub item: String,
    /// The images, in the rubric's order, sent between `task` and `item`.
    pub images: Vec<RequestImage>,
    /// Names the schema to the provider: letters, digits, `_` and `-`.
    pub schema_name: String,
    /// The strict JSON Schema of the reply, as JSON.
    pub schema: Arc<str>,
    /// Sampling temperature; none for models that take none.
    pub temperature: Option<f64>,
    /// Resolution at which the model looks at the images.
    pub detail: Detail,
    /// Most tokens that the answer may have.
    pub max_output_tokens: u32,
    /// This model's name for that limit.
    pub output_parameter: OutputLimit,
    /// Control over the provider's prompt cache; `task` is the end of what is worth keeping.
    pub prompt_cache: PromptCache,
    /// Lane of the call.
    pub lane: Lane,
    /// Wait twice as long for the answer: an earlier call was lost.
    pub slower: bool,
}

/// One image of a question.
#[derive(Clone, Debug)]
pub struct RequestImage {
    /// Said before the image, so that the judge knows which it is.
    pub label: String,
    /// As in `image/png`.
    pub media_type: &'static str,
    /// The image file, as it is sent.
    pub bytes: Bytes,
    /// URL from which the provider reads the file itself; none where the bytes are sent.
    pub url: Option<String>,
}
