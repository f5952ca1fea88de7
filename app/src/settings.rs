//! Settings, documented in `config/default.toml`. They are resolved from layers, of which later
//! ones override earlier ones; this module reads no file and no environment.

mod base_layers;
mod batch;
mod check;
mod deadline;
mod evidence;
mod fleet;
mod header_source;
mod layer;
mod prune;
mod render;
mod serve;

pub use base_layers::BaseLayers;
pub use batch::{BatchLaneSettings, InvalidPause, Pause};
pub use deadline::{Deadline, InvalidDeadline};
pub use evidence::EvidenceSettings;
pub use fleet::FleetSettings;
pub use header_source::HeaderSource;
pub use layer::{Layer, SettingsError};
pub use prune::PruneSettings;
pub use render::RenderSettings;
pub use serve::ServeSettings;

use juror_analysis::metrics::AveragingPolicy;
use juror_files::FileSettings;
use juror_ledger::admission::BudgetSettings;
use juror_types::{
    job::{Detail, Provider},
    lane::Lane,
    model::PriceTerms,
    outcome::CountAs,
};
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf};

/// Text of `config/default.toml`: every key with its default.
pub const DEFAULTS: &str = include_str!("../../config/default.toml");

/// Resolved settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Version of the file format, [`juror_types::SCHEMA`].
    pub schema: u32,
    /// `[run]`.
    pub run: RunSettings,
    /// `[compare]`.
    pub compare: CompareSettings,
    /// `[judge]`.
    pub judge: JudgeSettings,
    /// `[limits]`.
    pub limits: LimitSettings,
    /// `[batch]`.
    pub batch: BatchLaneSettings,
    /// `[budget]`.
    pub budget: BudgetSettings,
    /// `[cache]`.
    pub cache: CacheSettings,
    /// `[prune]`.
    pub prune: PruneSettings,
    /// `[image]`.
    pub image: ImageSettings,
    /// `[stages]`.
    pub stages: StageSettings,
    /// `[evidence]`.
    pub evidence: EvidenceSettings,
    /// `[render]`.
    pub render: RenderSettings,
    /// `[files]`.
    pub files: FileSettings,
    /// `[fleet]`, unused by runs of this machine.
    pub fleet: FleetSettings,
    /// `[serve]`.
    pub serve: ServeSettings,
    /// `[log]`.
    pub log: LogSettings,
    /// `[models]`: the user's names of known models.
    pub models: BTreeMap<String, ModelAlias>,
    /// `[prices]`: prices by model, which override the built-in ones.
    pub prices: BTreeMap<String, PriceTerms>,
}

/// `[models."name"]`: the user's name of a known model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelAlias {
    /// The known model, whose capabilities and price apply.
    pub like: String,
}

/// `[run]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// Directory of the runs' journals and reports.
    pub runs_dir: PathBuf,
    /// Folder of `juror.db`.
    pub state_dir: Option<PathBuf>,
    /// Name or path of the rubric.
    pub rubric: String,
    /// True if a vision model judges.
    pub enable_llm_judge: bool,
    /// Number of judgments of each item.
    pub repeat: u32,
    /// Treatment of failed jobs in averages.
    pub failed_jobs: CountAs,
    /// Treatment of items without generated code in averages.
    pub missing_output: CountAs,
    /// Name or path of the gate.
    pub gate: Option<String>,
    /// Run that others are compared against: a blessed name, an id or a path; empty for none.
    pub baseline: Option<String>,
    /// Calibration of the judge against people: a file of `juror calibrate`.
    pub calibration: Option<PathBuf>,
    /// True if the judged inputs are copied into the run directory.
    pub keep_inputs: bool,
    /// Lane in which calls are bought.
    pub lane: Lane,
    /// Time after which no call starts.
    pub deadline: Option<Deadline>,
}

/// `[compare]`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareSettings {
    /// Largest change of the score, as a share, that does not matter.
    pub margin: f64,
    /// True if a criterion that got worse decides too.
    pub strict: bool,
    /// Maximum share of the base's items that the head may lose; above it the comparison is at best
    /// inconclusive.
    pub max_lost: f64,
    /// Change of an item's score, as a share, beyond which it falls or rises far.
    pub fallen_by: f64,
    /// Maximum share of the pairs that may fall far.
    pub fallen_share: f64,
    /// Effect of likely clusters that are not declared.
    pub likely_clusters: LikelyClusterPolicy,
    /// Days after which a blessed baseline is old; 0 for never.
    pub max_baseline_age_days: u32,
    /// Number of newest runs that are searched for flaky items; 0 for none.
    pub flaky_runs: usize,
    /// Effect of flaky items on gates and comparisons.
    pub flaky: FlakyPolicy,
}

/// Effect of flaky items on gates and comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlakyPolicy {
    /// They count.
    #[default]
    Count,
    /// They are left out of the gate's metrics and of the comparison's figures and decision.
    LeaveOut,
}

/// Effect on intervals of likely clusters that are not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LikelyClusterPolicy {
    /// Intervals use them where the changes differ between them.
    #[default]
    Use,
    /// Intervals ignore them, and a warning names them.
    Warn,
}

/// `[judge]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeSettings {
    /// API of the provider.
    pub provider: Provider,
    /// The model.
    pub model: String,
    /// Base URL of the API.
    pub base_url: String,
    /// File that holds the key.
    pub api_key_file: Option<PathBuf>,
    /// Sampling temperature.
    pub temperature: f64,
    /// Resolution at which the model sees images.
    pub detail: Detail,
    /// Maximum number of tokens of a reply.
    pub max_output_tokens: Option<u32>,
    /// True if comments and code that renders nothing are removed from the sent code.
    pub strip_comments: bool,
    /// Time limit of a call, in seconds.
    pub timeout_seconds: u64,
    /// Reaction to a reply of another model than the requested one.
    pub other_model: OtherModelPolicy,
    /// URL of the proxy, with its password; never printed. `none` also ignores the environment's.
    pub proxy: Option<String>,
    /// File of root certificates, in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Headers of every call.
    pub headers: BTreeMap<String, HeaderSource>,
    /// Number of consecutive items without a usable reply before the run pauses; 0: never.
    pub max_unusable_in_a_row: u32,
    /// Minutes of refused calls before the run pauses; 0: never.
    pub max_refusal_minutes: u64,
}

/// Reaction to a reply of another model than the requested one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherModelPolicy {
    /// The reply counts, with a warning.
    #[default]
    Warn,
    /// The run pauses.
    Refuse,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        Self {
            provider: Provider::OpenAi,
            model: String::new(),
            base_url: String::new(),
            api_key_file: None,
            temperature: 0.0,
            detail: Detail::High,
            max_output_tokens: None,
            strip_comments: true,
            timeout_seconds: 0,
            other_model: OtherModelPolicy::Warn,
            proxy: None,
            ca_file: None,
            headers: BTreeMap::new(),
            max_unusable_in_a_row: 0,
            max_refusal_minutes: 0,
        }
    }
}

/// `[limits]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Maximum number of requests per minute.
    pub rpm: Option<u64>,
    /// Maximum number of tokens per minute.
    pub tpm: Option<u64>,
    /// Maximum number of calls in flight.
    pub max_concurrency: Option<usize>,
    /// Maximum number of calls per second of this process.
    pub calls_per_second: Option<u32>,
}

/// `[cache]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheSettings {
    /// True if cached verdicts are used.
    pub enabled: bool,
}

/// `[image]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageSettings {
    /// Maximum side of a sent image, in pixels.
    pub max_side: Option<u32>,
    /// True if unchanged images are decoded for a signature.
    pub signatures: bool,
}

/// `[stages]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StageSettings {
    /// Token accuracy above which an item passes token extraction.
    pub token_accuracy: f64,
    /// Correctness above which an item passes the judge.
    pub min_correctness: Option<f64>,
    /// Program that checks whether code compiles.
    pub compile_command: Vec<String>,
    /// Time limit of that program, in seconds.
    pub compile_timeout_seconds: u64,
    /// Program that runs the user's pipeline.
    pub pipeline_command: Vec<String>,
    /// Time limit of that program, in seconds.
    pub pipeline_timeout_seconds: u64,
    /// Program that renders an item's code.
    pub render_command: Vec<String>,
    /// Time limit of that program, in seconds.
    pub render_timeout_seconds: u64,
}

/// `[log]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// Filter of the log.
    pub level: String,
    /// Format of the log.
    pub format: LogFormat,
}

/// Format of the log's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl RunSettings {
    /// The run to compare with, if one is set.
    pub fn baseline(&self) -> Option<&str> {
        self.baseline.as_deref().filter(|named| !named.is_empty())
    }

    /// Treatment of jobs without a verdict in averages.
    pub fn averaging_policy(&self) -> AveragingPolicy {
        AveragingPolicy { failed: self.failed_jobs, no_output: self.missing_output }
    }
}

impl Settings {
    /// Resolves layers over the defaults; later layers override earlier ones.
    pub fn resolve(layers: &[Layer]) -> Result<Self, SettingsError> {
        let mut merged = Layer::parse(DEFAULTS, "config/default.toml")?;
        for layer in layers {
            merged = merged.overlaid_with(layer);
        }
        let settings = merged.into_settings()?;
        settings.check()?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests;
