//! A job: one item of one run, as a message.

use crate::{
    SCHEMA,
    evidence::EvidenceMode,
    id::{Digest, JobId, RunId},
    item::Item,
};
use serde::{Deserialize, Serialize};

/// A job for a worker. It contains no endpoint, no key and no command: those are the worker's own
/// settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Version of this message, [`SCHEMA`].
    pub schema: u32,
    /// Id of the run.
    pub run_id: RunId,
    /// Id, [`JobId::for_item`] run, item and repeat.
    pub job_id: JobId,
    /// Round: 0 at first; resume and retry open the next one.
    pub round: u32,
    /// Number of the item's repeat, from 0.
    pub repeat: u32,
    /// The item to judge.
    pub item: Item,
    /// The rubric; the run's record contains its text.
    pub rubric: RubricReference,
    /// The judge; `None` if only the deterministic stages run.
    pub judge: Option<Judge>,
    /// Mode of measured evidence: off, facts only, or also images for the judge.
    #[serde(default, skip_serializing_if = "EvidenceMode::is_none")]
    pub evidence: EvidenceMode,
}

impl Job {
    /// The job of an item's repeat, in round 0, without measured evidence.
    pub fn new(
        run_id: &RunId,
        item: Item,
        repeat: u32,
        rubric: RubricReference,
        judge: Option<Judge>,
    ) -> Self {
        let job_id = JobId::for_item(run_id, &item.id, repeat);
        Self {
            schema: SCHEMA,
            run_id: run_id.clone(),
            job_id,
            round: 0,
            repeat,
            item,
            rubric,
            judge,
            evidence: EvidenceMode::None,
        }
    }

    /// True if the job needs rendering: its code is to be measured, and the item has no image of
    /// it.
    pub fn needs_rendering(&self) -> bool {
        !self.evidence.is_none() && self.item.rendered().is_none()
    }
}

/// Exact reference to a rubric.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RubricReference {
    /// The rubric's id, as in `semantic`.
    pub id: String,
    /// Version of the rubric.
    pub version: u32,
    /// Digest of its file's bytes.
    pub digest: Digest,
}

impl RubricReference {
    /// Id, version and the beginning of the digest, as in `semantic@1 (5f2c8a90d1e3…)`.
    pub fn label(&self) -> String {
        format!("{}@{} ({}…)", self.id, self.version, self.digest.short())
    }
}

/// Provider, model and sampling settings that score a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judge {
    /// Family of its API.
    pub provider: Provider,
    /// The model's name, as the provider spells it.
    pub model: String,
    /// Sampling temperature; omitted for models without one.
    pub temperature: Option<f64>,
    /// Resolution at which the model sees images.
    pub detail: Detail,
    /// Maximum number of tokens of a reply.
    pub max_output_tokens: u32,
    /// True if comments and code that renders nothing are removed before the code is sent; false in
    /// runs of earlier versions of the program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strip_comments: bool,
}

crate::serde_enum! {
    /// A family of vision APIs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Provider {
        /// APIs compatible with OpenAI's chat completions.
        OpenAi = "openai",
        /// Anthropic's messages.
        Anthropic = "anthropic",
        /// Google's Gemini.
        Gemini = "gemini",
    }
}

crate::serde_enum! {
    /// Resolution at which a model sees an image.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Detail {
        /// A small version of the image.
        Low = "low",
        /// The image in tiles or patches; the default.
        #[default]
        High = "high",
        /// The provider decides.
        Auto = "auto",
        /// The original image, where a model supports that setting.
        Original = "original",
    }
}
