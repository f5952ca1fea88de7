//! Record of a run, which is written before anything else.

mod difference;
mod judging;

pub use judging::JudgingTime;

use crate::{
    budget_label::BudgetLabel,
    evidence::EvidenceMode,
    id::{Digest, RunId},
    job::{Judge, RubricReference},
    lane::Lane,
    usage::Money,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `run.json`: what a run judges, by which rubric and judge. Written first; resume checks against
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this file, [`crate::SCHEMA`].
    pub schema: u32,
    /// The run.
    pub run_id: RunId,
    /// Time of its creation, RFC 3339 in UTC.
    pub created_at: String,
    /// Version of the program that created it.
    pub program_version: String,
    /// Dataset that is judged.
    pub dataset: DatasetRecord,
    /// Further folders that the dataset may name files in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_roots: Vec<String>,
    /// By which rubric.
    pub rubric: RubricReference,
    /// The rubric's file as it was, so that the run can be reported without it.
    pub rubric_text: String,
    /// By which judge; none with the judge off.
    pub judge: Option<Judge>,
    /// Mode of measured evidence: off, facts alone, or pictures for the judge too.
    #[serde(default, skip_serializing_if = "EvidenceMode::is_none")]
    pub evidence: EvidenceMode,
    /// The longest side that images were shrunk to, where the user asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_side: Option<u32>,
    /// Preparation of images for the judge; none with the judge off, and in records of versions
    /// that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    /// The worker's own settings of stages; none for a run of the fleet, whose workers have theirs,
    /// and in records of versions that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<StageTerms>,
    /// Base URL that the judge was asked at, without any key.
    pub base_url: Option<String>,
    /// Limits and cache that its calls go by, which resuming keeps; none for a run of the fleet,
    /// whose workers have theirs, and in records of versions that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallTerms>,
    /// Time for which it was judged; none for a run of the fleet, and in records of versions that
    /// did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<JudgingTime>,
    /// Lane in which its calls are bought.
    #[serde(default, skip_serializing_if = "Lane::is_realtime")]
    pub lane: Lane,
    /// The most that the run may cost; none is unlimited.
    pub budget_usd: Option<Money>,
    /// Labels under which its calls are booked too; none in records of versions that did not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget_labels: Vec<BudgetLabel>,
    /// The run that a fleet's aggregator compares it with at its end: a blessed name, an id or a
    /// path; none for a run on one machine, whose command compares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Judgements of each item.
    pub repeat: u32,
    /// Jobs of its dataset.
    pub planned: u64,
    /// Jobs of these that were published, if it was cancelled before the last one; none otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<u64>,
    /// The namespace of the fleet that judges it; none for a run on one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
    /// Place to which its files were uploaded for the workers, as in `s3://bucket/prefix`; none if
    /// the workers read them at the places that the dataset names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<String>,
    /// True if what is judged is kept in the run directory, which resuming goes on with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_inputs: bool,
    /// Time after which none of its calls begins, RFC 3339 in UTC; none without a deadline. Another
    /// round of the run has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl RunRecord {
    /// Jobs of the run, each of which ends in one outcome: all that were planned, or, once it is
    /// cancelled, those that were published.
    pub fn jobs(&self) -> u64 {
        self.published.unwrap_or(self.planned)
    }
}

/// Limits and cache that the calls of a run go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTerms {
    /// Requests per minute; none if they are learned from the provider.
    pub rpm: Option<u64>,
    /// Tokens per minute; none if they are learned from the provider.
    pub tpm: Option<u64>,
    /// Calls in flight; none if the number adapts.
    pub max_concurrency: Option<u64>,
    /// True if verdicts may come from the cache.
    pub cache: bool,
}

/// Preparation of images: where this differs, a judge may see other pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preparation {
    /// Version of the preparation itself.
    pub version: u32,
    /// Most bytes of an encoded image that the provider takes.
    pub max_bytes: u64,
    /// Most pixels of either side that the provider takes.
    pub max_side: u32,
}

impl std::fmt::Display for Preparation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { version, max_bytes, max_side } = self;
        write!(formatter, "version {version}, up to {max_bytes} bytes and {max_side} pixels a side")
    }
}

/// By what the deterministic stages and an item's success are told: where this differs, the same
/// item may end differently.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageTerms {
    /// An item passes token extraction above this.
    pub token_accuracy: f64,
    /// An item passes the judge above this; none for the rubric's own bound, or without a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correctness: Option<f64>,
    /// Digest of the program, with its arguments, that decides whether code compiles; none for the
    /// built-in parsers. The words themselves may hold what nobody should read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_command: Option<Digest>,
    /// Digest of the program, with its arguments, that runs the user's pipeline; none without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline_command: Option<Digest>,
    /// Digest of the program, with its arguments, that renders code; none without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render_command: Option<Digest>,
}

/// Items that a run judges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetRecord {
    /// The path as it was given.
    pub path: String,
    /// Digest of the manifest's bytes (of the listing, for a folder without one).
    pub digest: Digest,
    /// Only the first so many items.
    pub limit: Option<u64>,
    /// Only items whose field has this value, each `KEY=VALUE`.
    pub filters: Vec<String>,
    /// Only a random part of those; the limit counts within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleRecord>,
}

/// Random part of a dataset's items. Items, seed and number decide which items those are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleRecord {
    /// Number of items asked for; so far, where it grows until a width.
    pub items: u64,
    /// The seed.
    pub seed: u64,
    /// Number of items it was drawn from: those that the filters leave.
    pub of: u64,
    /// Width of the score's interval, as a share, until which the sample grows; none for a sample
    /// of a given size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_width: Option<f64>,
}
