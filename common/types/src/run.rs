//! Record of a run, written before anything else.

mod judging_time;
mod resume_differences;

pub use judging_time::JudgingTime;
pub use resume_differences::SettingDifference;

use crate::{
    budget_label::BudgetLabel,
    evidence::EvidenceMode,
    id::{Digest, RunId},
    job::{Judge, RubricReference},
    lane::Lane,
    outcome::CountAs,
    usage::Money,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// `run.json`: the dataset, rubric and judge of a run. Written first; resuming checks against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this file, [`crate::SCHEMA`].
    pub schema: u32,
    /// Id of the run.
    pub run_id: RunId,
    /// Time of its creation, RFC 3339 in UTC.
    pub created_at: String,
    /// Version of the program that created it.
    pub program_version: String,
    /// The judged dataset.
    pub dataset: DatasetRecord,
    /// Further folders in which the dataset's files may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_roots: Vec<String>,
    /// Id, version and digest of the rubric.
    pub rubric: RubricReference,
    /// Text of the rubric's file, so that the run can be reported without the file.
    pub rubric_text: String,
    /// The judge; `None` with the judge off.
    pub judge: Option<Judge>,
    /// Mode of measured evidence: off, facts only, or also images for the judge.
    #[serde(default, skip_serializing_if = "EvidenceMode::is_none")]
    pub evidence: EvidenceMode,
    /// Longest side to which images were shrunk, if the user set one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_side: Option<u32>,
    /// Preparation of images for the judge; `None` with the judge off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    /// Settings of the deterministic stages and of an item's success; `None` in records of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stages: Option<StageTerms>,
    /// Base URL of the judge, without any key.
    pub base_url: Option<String>,
    /// Limits and cache of its calls, which resuming keeps; `None` for a run of the fleet, whose
    /// workers have their own, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallTerms>,
    /// Judging time; `None` for a run of the fleet, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<JudgingTime>,
    /// Lane in which its calls are bought.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub lane: Lane,
    /// Maximum cost; none is unlimited.
    pub budget_usd: Option<Money>,
    /// Labels under which its calls are booked too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget_labels: Vec<BudgetLabel>,
    /// The run with which it is compared at its end: a blessed name, an id or a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Gate and terms of the comparison, which resuming keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionTerms>,
    /// True if the built-in simulator judges the run: its cost is simulated, and has a separate
    /// ledger.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
    /// Folder of its ledger, if that is not its runs directory; `None` for a run of the fleet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_dir: Option<String>,
    /// Number of judgments of each item.
    pub repeat: u32,
    /// Number of planned jobs.
    pub planned: u64,
    /// Number of published jobs, if it was cancelled before the last one; none otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<u64>,
    /// The namespace of its fleet; `None` for a run on one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<String>,
    /// Bucket to which its files were uploaded for the workers, as in `s3://bucket/prefix`; `None`
    /// if the workers read them from the dataset's places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<String>,
    /// True if inputs are kept in the run directory, which resuming continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_inputs: bool,
    /// Time after which none of its calls starts, RFC 3339 in UTC; `None` without a deadline.
    /// Another round of the run has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
}

impl RunRecord {
    /// The record as a run of this fleet has it, whose workers have their own endpoint, calls and
    /// commands.
    pub fn for_fleet(self, namespace: String) -> Self {
        let stages =
            self.stages.map(|terms| StageTerms { commands: terms.commands.for_fleet(), ..terms });
        Self {
            base_url: None,
            calls: None,
            stages,
            state_dir: None,
            fleet: Some(namespace),
            ..self
        }
    }

    /// Number of jobs of the run, each with one outcome: all planned ones, or, once it is
    /// cancelled, the published ones.
    pub fn jobs(&self) -> u64 {
        self.published.unwrap_or(self.planned)
    }
}

/// Limits and cache of a run's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTerms {
    /// Requests per minute; `None` if learned from the provider.
    pub rpm: Option<u64>,
    /// Tokens per minute; `None` if learned from the provider.
    pub tpm: Option<u64>,
    /// Calls in flight; `None` if adaptive.
    pub max_concurrency: Option<u64>,
    /// True if verdicts may come from the cache.
    pub cache: bool,
}

/// The gate of a run, the terms of its comparison with a baseline, and the jobs that its averages
/// count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecisionTerms {
    /// The gate: the name of a built-in one, or an absolute path; `None` without a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// Digest of the gate's file when the run began; `None` for a built-in gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_digest: Option<Digest>,
    /// Largest change of the score, as a share, that does not matter.
    pub margin: f64,
    /// True if a criterion that got worse decides too.
    pub strict: bool,
    /// Maximum share of the baseline's items that may be lost.
    pub max_lost: f64,
    /// Failed jobs in averages; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_jobs: Option<CountAs>,
    /// Items without output in averages; `None` in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_output: Option<CountAs>,
}

/// Preparation of images: if it differs, a judge may see other pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preparation {
    /// Version of the preparation itself.
    pub version: u32,
    /// Maximum number of bytes of an encoded image that the provider accepts.
    pub max_bytes: u64,
    /// Maximum number of pixels of either side that the provider accepts.
    pub max_side: u32,
}

impl std::fmt::Display for Preparation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { version, max_bytes, max_side } = self;
        write!(formatter, "version {version}, up to {max_bytes} bytes and {max_side} pixels a side")
    }
}

/// Settings of the deterministic stages and of an item's success: if they differ, the same item may
/// have another outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageTerms {
    /// Exclusive minimum of token accuracy.
    pub token_accuracy: f64,
    /// Exclusive minimum of correctness; `None` for the rubric's own bound, or without a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correctness: Option<f64>,
    /// The user's commands.
    #[serde(flatten)]
    pub commands: StageCommands,
}

/// Commands of the deterministic stages, as digests with their arguments, which may contain secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageCommands {
    /// Digest of the compile command; `None` for the built-in parsers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compile_command: Option<Digest>,
    /// Digest of the pipeline command; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline_command: Option<Digest>,
    /// Digest of the render command; `None` without one, and for a run of the fleet, whose workers
    /// may render in different ways.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub render_command: Option<Digest>,
    /// True if the commands are those of the fleet's first worker that judges the run, and none has
    /// judged it yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
}

impl StageCommands {
    /// The commands of a fleet's run with these settings: those that are set, or else, once it
    /// begins, those of its first worker.
    pub fn for_fleet(self) -> Self {
        let pending = self.compile_command.is_none() && self.pipeline_command.is_none();
        Self { render_command: None, pending, ..self }
    }
}

/// The dataset of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetRecord {
    /// The path as given.
    pub path: String,
    /// Digest of the manifest's bytes (of the listing, for a folder without one).
    pub digest: Digest,
    /// Maximum number of items, from the first on.
    pub limit: Option<u64>,
    /// Filters on items' fields, each `KEY=VALUE`.
    pub filters: Vec<String>,
    /// Random sample of those items; the limit applies within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampleRecord>,
}

/// Random sample of a dataset's items. Items, seed and number determine the sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleRecord {
    /// Number of sampled items; the current one, where the sample grows until a width.
    pub items: u64,
    /// Seed of the random choice.
    pub seed: u64,
    /// Number of items from which it was drawn, after filters.
    pub of: u64,
    /// Width of the score's interval, as a share, until which the sample grows; `None` for a sample
    /// of fixed size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_width: Option<f64>,
}
