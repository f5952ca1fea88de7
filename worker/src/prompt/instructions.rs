//! Instructions of a rubric, the same for every item: rendered once for all requests of a run.

use super::{render_system, rubric_prompt};
use juror_types::{
    id::Digest,
    model::TextTokens,
    rubric::{Rubric, reply_schema},
};
use std::sync::Arc;

/// The part of every request that its rubric determines.
#[derive(Clone, Debug)]
pub struct Instructions {
    /// The system message.
    pub system: Arc<str>,
    /// Task, criteria and the form of the reply.
    pub task: Arc<str>,
    /// The strict JSON Schema of the reply, as JSON.
    pub schema: Arc<str>,
    /// Digest that represents system message and task in a request's key.
    pub digest: Digest,
    /// Tokens of these texts and the images' labels. The schema counts in the bound only: providers
    /// put it before the model in different forms.
    pub tokens: TextTokens,
}

impl Instructions {
    /// The instructions of a rubric.
    pub fn for_rubric(rubric: &Rubric) -> Self {
        let (system, task) = (render_system(rubric), rubric_prompt::render(rubric));
        let schema = reply_schema(rubric).to_string();
        let labels = rubric.images.iter().map(|image| image.label.as_str());
        let texts = [system.as_str(), task.as_str()].into_iter().chain(labels);
        let tokens = texts.map(TextTokens::from_text).fold(TextTokens::default(), TextTokens::plus);
        let of_schema = TextTokens { expected: 0, ..TextTokens::from_text(&schema) };
        Self {
            digest: Digest::from_content(format!("{}\n{system}{task}", system.len()).as_bytes()),
            tokens: tokens.plus(of_schema),
            system: system.into(),
            task: task.into(),
            schema: schema.into(),
        }
    }
}
