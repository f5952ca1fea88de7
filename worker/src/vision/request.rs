//! A request to a vision model, as data: it can be sent now, or stored for later.

use bytes::Bytes;
use juror_types::{
    job::Detail,
    lane::Lane,
    model::{OutputLimit, PromptCache},
};
use std::sync::Arc;

/// Request with its images. The static text precedes the item's own, so that providers' prompt
/// caches apply.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model, as the provider spells it.
    pub model: String,
    /// The judge's role and rules, the same for every request.
    pub system: Arc<str>,
    /// The rubric's task, the same for every item of a run.
    pub task: Arc<str>,
    /// The item's own text.
    pub item: String,
    /// The images, in the rubric's order, sent between `task` and `item`.
    pub images: Vec<RequestImage>,
    /// Name of the schema for the provider: letters, digits, `_` and `-`.
    pub schema_name: String,
    /// The strict JSON Schema of the reply, as JSON.
    pub schema: Arc<str>,
    /// Sampling temperature; `None` for models that take none.
    pub temperature: Option<f64>,
    /// Resolution at which the model looks at the images.
    pub detail: Detail,
    /// Maximum number of tokens of the reply.
    pub max_output_tokens: u32,
    /// This model's name for that limit.
    pub output_parameter: OutputLimit,
    /// Control over the provider's prompt cache; the cached part ends with `task`.
    pub prompt_cache: PromptCache,
    /// Lane of the call.
    pub lane: Lane,
    /// True if the time limit is doubled, since an earlier call was lost.
    pub slower: bool,
}

/// Image of a request.
#[derive(Clone, Debug)]
pub struct RequestImage {
    /// Label before the image, by which the judge knows it.
    pub label: String,
    /// As in `image/png`.
    pub media_type: &'static str,
    /// The image file, as it is sent.
    pub bytes: Bytes,
    /// URL from which the provider reads the file itself; `None` if the bytes are sent.
    pub url: Option<String>,
}
