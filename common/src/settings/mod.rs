//! Every setting, as `config/default.toml` explains it. Settings come in layers, later ones over
//! earlier ones; this module reads no file and no environment by itself.

mod layer;

pub use layer::{Layer, SettingsError};

use crate::{
    job::{Detail, Provider},
    model::PriceTerms,
    usage::Money,
};
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf};

/// The manual: every key with its default.
pub const DEFAULTS: &str = include_str!("../../../config/default.toml");

/// All settings, resolved.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Version of the file format, [`crate::SCHEMA`].
    pub schema: u32,
    /// Runs.
    pub run: RunSettings,
    /// The judge.
    pub judge: JudgeSettings,
    /// Rates and concurrency.
    pub limits: LimitSettings,
    /// Money.
    pub budget: BudgetSettings,
    /// The verdict cache.
    pub cache: CacheSettings,
    /// Image preparation.
    pub image: ImageSettings,
    /// Deterministic stages.
    pub stages: StageSettings,
    /// Which files may be read.
    pub files: FileSettings,
    /// Logging.
    pub log: LogSettings,
    /// Prices by model, over those that are compiled in.
    pub prices: BTreeMap<String, PriceTerms>,
}

/// `[run]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// Where runs keep their journals and reports.
    pub runs_dir: PathBuf,
    /// Folder of `juror.db`.
    pub state: Option<PathBuf>,
    /// Name or path of the rubric.
    pub rubric: String,
    /// Whether a vision model judges.
    pub enable_llm_judge: bool,
    /// How many times each item is judged.
    pub repeat: u32,
    /// How failed jobs enter averages.
    pub failures: Failures,
    /// Name or path of the gate.
    pub gate: Option<String>,
}

/// How failed jobs enter averages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Failures {
    /// They are left out, and shown.
    #[default]
    Excluded,
    /// They count as zero.
    Zero,
}

/// `[judge]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeSettings {
    /// Family of the API.
    pub provider: Provider,
    /// The model.
    pub model: String,
    /// Where the API is.
    pub base_url: String,
    /// File that holds the key.
    pub api_key_file: Option<PathBuf>,
    /// Sampling temperature.
    pub temperature: f64,
    /// How closely images are looked at.
    pub detail: Detail,
    /// Most tokens of an answer.
    pub max_output_tokens: Option<u32>,
    /// How long a call may take, in seconds.
    pub timeout_seconds: u64,
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
            timeout_seconds: 0,
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

/// `[budget]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// For one run.
    #[serde(deserialize_with = "layer::optional_money")]
    pub run_usd: Option<Money>,
    /// For all runs of a day.
    #[serde(deserialize_with = "layer::optional_money")]
    pub day_usd: Option<Money>,
    /// For all runs of a month.
    #[serde(deserialize_with = "layer::optional_money")]
    pub month_usd: Option<Money>,
}

/// `[cache]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CacheSettings {
    /// Whether verdicts are taken from the cache.
    pub enabled: bool,
}

/// `[image]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImageSettings {
    /// Longest side that is sent, in pixels.
    pub max_side: Option<u32>,
}

/// `[stages]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StageSettings {
    /// An item passes token extraction above this.
    pub token_accuracy: f64,
    /// An item passes the judge above this.
    pub correctness: Option<f64>,
    /// Program that decides whether code compiles.
    pub compile_command: Vec<String>,
    /// How long it may take, in seconds.
    pub compile_timeout_seconds: u64,
    /// Program that runs the user's pipeline.
    pub pipeline_command: Vec<String>,
    /// How long it may take, in seconds.
    pub pipeline_timeout_seconds: u64,
}

/// `[files]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Folders that a dataset may name files in, beside its own.
    pub data_roots: Vec<PathBuf>,
}

/// `[log]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// Filter of the log.
    pub level: String,
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

    fn check(&self) -> Result<(), SettingsError> {
        let share = |key, value: f64| {
            let remedy = "give a number from 0 to 1";
            if (0.0..=1.0).contains(&value) {
                Ok(())
            } else {
                Err(SettingsError::value(key, value, remedy))
            }
        };
        share("stages.token_accuracy", self.stages.token_accuracy)?;
        share("stages.correctness", self.stages.correctness.unwrap_or(0.0))?;
        if !(0.0..=2.0).contains(&self.judge.temperature) {
            let remedy = "give a number from 0 to 2";
            return Err(SettingsError::value("judge.temperature", self.judge.temperature, remedy));
        }
        let counts = [
            ("run.repeat", Some(u64::from(self.run.repeat))),
            ("judge.timeout_seconds", Some(self.judge.timeout_seconds)),
            ("judge.max_output_tokens", self.judge.max_output_tokens.map(u64::from)),
            ("limits.rpm", self.limits.rpm),
            ("limits.tpm", self.limits.tpm),
            ("limits.max_concurrency", self.limits.max_concurrency.map(|count| count as u64)),
            ("limits.calls_per_second", self.limits.calls_per_second.map(u64::from)),
            ("image.max_side", self.image.max_side.map(u64::from)),
            ("stages.compile_timeout_seconds", Some(self.stages.compile_timeout_seconds)),
            ("stages.pipeline_timeout_seconds", Some(self.stages.pipeline_timeout_seconds)),
        ];
        for (key, value) in counts {
            if value == Some(0) {
                return Err(SettingsError::value(key, 0, "give at least 1, or leave the key out"));
            }
        }
        for (key, amount) in [
            ("budget.run_usd", self.budget.run_usd),
            ("budget.day_usd", self.budget.day_usd),
            ("budget.month_usd", self.budget.month_usd),
        ] {
            if amount.is_some_and(|amount| amount < Money::ZERO) {
                let remedy = "give 0 or more, or leave the key out for no cap";
                return Err(SettingsError::value(key, amount.unwrap_or_default(), remedy));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
