//! Every setting, as `config/default.toml` explains it. Settings come in layers, later ones over
//! earlier ones; this module reads no file and no environment by itself.

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

/// The manual: every key with its default.
pub const DEFAULTS: &str = include_str!("../../config/default.toml");

/// All settings, resolved.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Version of the file format, [`juror_types::SCHEMA`].
    pub schema: u32,
    /// Runs.
    pub run: RunSettings,
    /// Comparisons of runs.
    pub compare: CompareSettings,
    /// The judge.
    pub judge: JudgeSettings,
    /// Rates and concurrency.
    pub limits: LimitSettings,
    /// Calls that are bought in batches.
    pub batch: BatchLaneSettings,
    /// Money.
    pub budget: BudgetSettings,
    /// The verdict cache.
    pub cache: CacheSettings,
    /// Runs that may go.
    pub prune: PruneSettings,
    /// Image preparation.
    pub image: ImageSettings,
    /// Deterministic stages.
    pub stages: StageSettings,
    /// Measured evidence.
    pub evidence: EvidenceSettings,
    /// The built-in renderer.
    pub render: RenderSettings,
    /// Files that may be read.
    pub files: FileSettings,
    /// The fleet; none of it matters to a run on one machine.
    pub fleet: FleetSettings,
    /// The HTTP server.
    pub serve: ServeSettings,
    /// Logging.
    pub log: LogSettings,
    /// Models that are known under other names.
    pub models: BTreeMap<String, ModelAlias>,
    /// Prices by model, over those that are compiled in.
    pub prices: BTreeMap<String, PriceTerms>,
}

/// `[models."name"]`: a name of the user's own for a known model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelAlias {
    /// The model whose facts and price hold for it.
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
    /// Judgements of each item.
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
    /// True if what is judged is kept in the run directory.
    pub keep_inputs: bool,
    /// Lane in which calls are bought.
    pub lane: Lane,
    /// Time after which no call begins any more.
    pub deadline: Option<Deadline>,
}

/// `[compare]`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareSettings {
    /// A change of the score, as a share, that does not matter.
    pub margin: f64,
    /// True if a criterion that got worse decides too.
    pub strict: bool,
    /// The share of the base's items that the head may lose before the comparison is at best
    /// inconclusive.
    pub max_lost: f64,
    /// The change of an item's score, as a share, beyond which it falls or rises far.
    pub fallen_by: f64,
    /// The share of the pairs that may fall far.
    pub fallen_share: f64,
    /// Effect of clusters that are likely and not declared.
    pub likely_clusters: LikelyClusterPolicy,
    /// Days after which a blessed baseline is old; 0 for never.
    pub max_baseline_age_days: u32,
    /// Runs that are looked at for flaky items, the newest included; 0 for none.
    pub flaky_runs: usize,
    /// Effect of flaky items on gates and comparisons.
    pub flaky: FlakyPolicy,
}

/// Effect of flaky items on gates and comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlakyPolicy {
    /// They count as any item does.
    #[default]
    Count,
    /// They are left out of the gate's metrics and of the comparison's figures and decision.
    LeaveOut,
}

/// Effect on intervals of clusters that are likely and not declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LikelyClusterPolicy {
    /// Intervals take them together where the changes differ between them.
    #[default]
    Use,
    /// Intervals leave them out, and a warning names them.
    Warn,
}

/// `[judge]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeSettings {
    /// Family of the API.
    pub provider: Provider,
    /// The model.
    pub model: String,
    /// Base URL of the API.
    pub base_url: String,
    /// File that holds the key.
    pub api_key_file: Option<PathBuf>,
    /// Sampling temperature.
    pub temperature: f64,
    /// Resolution at which images are looked at.
    pub detail: Detail,
    /// Most tokens of an answer.
    pub max_output_tokens: Option<u32>,
    /// True if comments and code that renders nothing are taken out before the code is sent.
    pub strip_comments: bool,
    /// Time limit of a call, in seconds.
    pub timeout_seconds: u64,
    /// Reaction to an answer of another model than the one that was asked for.
    pub other_model: OtherModelPolicy,
    /// Proxy of every call, with its account; never shown. `none` for none, whatever the
    /// environment says.
    pub proxy: Option<String>,
    /// File of root certificates beside the system's.
    pub ca_file: Option<PathBuf>,
    /// Headers that go out with every call.
    pub headers: BTreeMap<String, HeaderSource>,
    /// Items in a row without a usable answer before the run pauses; 0: never.
    pub max_unusable_in_a_row: u32,
    /// Minutes without an accepted call, while calls are refused, before the run pauses; 0: never.
    pub max_refusal_minutes: u64,
}

/// Reaction to an answer of another model than the one that was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherModelPolicy {
    /// The answer counts, with a warning.
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
    /// Requests per minute.
    pub rpm: Option<u64>,
    /// Tokens per minute.
    pub tpm: Option<u64>,
    /// Calls in flight.
    pub max_concurrency: Option<usize>,
    /// This process's own ceiling.
    pub calls_per_second: Option<u32>,
}

/// `[cache]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheSettings {
    /// True if verdicts are taken from the cache.
    pub enabled: bool,
}

/// `[image]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageSettings {
    /// Longest side that is sent, in pixels.
    pub max_side: Option<u32>,
    /// True if images that go out as they are, are decoded for a signature.
    pub signatures: bool,
}

/// `[stages]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StageSettings {
    /// An item passes token extraction above this.
    pub token_accuracy: f64,
    /// An item passes the judge above this.
    pub min_correctness: Option<f64>,
    /// Program that decides whether code compiles.
    pub compile_command: Vec<String>,
    /// Its time limit, in seconds.
    pub compile_timeout_seconds: u64,
    /// Program that runs the user's pipeline.
    pub pipeline_command: Vec<String>,
    /// Its time limit, in seconds.
    pub pipeline_timeout_seconds: u64,
    /// Program that renders an item's code.
    pub render_command: Vec<String>,
    /// Its time limit, in seconds.
    pub render_timeout_seconds: u64,
}

/// `[log]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// Filter of the log.
    pub level: String,
    /// Format of its lines.
    pub format: LogFormat,
}

/// Format of the log's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl RunSettings {
    /// The run to compare with, if one is named.
    pub fn baseline(&self) -> Option<&str> {
        self.baseline.as_deref().filter(|named| !named.is_empty())
    }

    /// The treatment of jobs without a verdict in averages.
    pub fn averaging_policy(&self) -> AveragingPolicy {
        AveragingPolicy { failed: self.failed_jobs, no_output: self.missing_output }
    }
}

impl Settings {
    /// Settles the layers, the first ones lowest, over the defaults.
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
