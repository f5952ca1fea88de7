//! Settings, documented in `config/default.toml`. They are resolved from layers, of which later
//! ones override earlier ones; this module reads no file and no environment.

mod batch;
mod check;
mod compare;
mod deadline;
mod evidence;
mod fleet;
mod judge;
mod layer;
mod paths;
mod serve;

pub use batch::{BatchLaneSettings, DurationSetting, InvalidDuration};
pub use check::MAX_REPEATS;
pub use compare::{CompareSettings, FlakyPolicy, LikelyClusterPolicy};
pub use deadline::{Deadline, InvalidDeadline};
pub use evidence::{EvidenceSettings, RenderSettings};
pub use fleet::FleetSettings;
pub use judge::{HeaderSource, JudgeSettings, OtherModelPolicy};
pub use layer::{BaseLayers, Layer, SettingsError, integer};
pub use serve::ServeSettings;

use juror_analysis::metrics::AveragingPolicy;
use juror_files::FileSettings;
use juror_ledger::admission::BudgetSettings;
use juror_types::{
    id::Digest, lane::Lane, model::PriceTerms, outcome::CountAs, run::StageCommands,
};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

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
    /// True if cached replies are used.
    pub enabled: bool,
}

/// `[prune]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PruneSettings {
    /// Days to keep a run after its last result; none is unlimited.
    pub keep_days: Option<u32>,
    /// Maximum size of all runs together, in megabytes (10⁶ bytes); none is unlimited.
    pub max_mb: Option<u64>,
    /// Number of first runs of each series that are always kept.
    pub keep_first: usize,
    /// Days to keep a cached reply after its last use; none is unlimited.
    pub keep_reply_days: Option<u32>,
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
    /// One JSON object per line.
    Json,
}

impl StageSettings {
    /// The commands, as a record has them.
    pub fn commands(&self) -> StageCommands {
        StageCommands {
            compile_command: command_digest(&self.compile_command),
            pipeline_command: command_digest(&self.pipeline_command),
            render_command: command_digest(&self.render_command),
            pending: false,
        }
    }

    /// True if the user's pipeline makes code and tokens of items.
    pub fn has_pipeline(&self) -> bool {
        !self.pipeline_command.is_empty()
    }
}

impl RunSettings {
    /// Folder of `juror.db`, rendered images and batch files.
    pub fn state_dir(&self) -> &Path {
        self.state_dir.as_ref().unwrap_or(&self.runs_dir)
    }

    /// The run to compare with, if one is set.
    pub fn baseline(&self) -> Option<&str> {
        self.baseline.as_deref().filter(|named| !named.is_empty())
    }

    /// The gate, if one is set.
    pub fn gate(&self) -> Option<&str> {
        self.gate.as_deref().filter(|named| !named.is_empty())
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
            merged = merged.overlaid_with(layer.clone());
        }
        let settings = merged.into_settings()?;
        settings.check()?;
        Ok(settings)
    }
}

/// Digest of a command's words, separated so that different splits differ; `None` without words.
fn command_digest(words: &[String]) -> Option<Digest> {
    (!words.is_empty()).then(|| Digest::from_content(words.join("\0").as_bytes()))
}

#[cfg(test)]
mod tests;
