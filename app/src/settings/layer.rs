//! Layers of settings: one for each source, as a file, a variable or a flag.

use super::Settings;
use crate::environment::Environment;
use juror_files::InvalidFileSetting;
use juror_types::{SCHEMA, toml_problem::TomlProblem};
use std::{fmt, path::PathBuf};
use toml::{Table, Value};

/// Settings of one source, which override those of layers below.
#[derive(Clone, Debug, Default)]
pub struct Layer(Table);

/// Layers of settings other than a command's own flags, and a snapshot of the environment.
#[derive(Clone, Debug, Default)]
pub struct BaseLayers {
    /// Path of the settings file, which need not exist.
    pub settings_file: PathBuf,
    /// Settings file and environment.
    pub below: Layer,
    /// Global flags.
    pub above: Layer,
    /// Environment variables that settings may name.
    pub environment: Environment,
}

/// Error in settings, which the user must fix.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum SettingsError {
    /// An invalid file.
    #[error("{origin}{problem}; `juror settings` prints every key with its default")]
    File { origin: String, problem: TomlProblem },
    /// A file of another version.
    #[error("{origin}: schema {found} is not supported: this version reads schema {SCHEMA}")]
    Schema {
        origin: String,
        /// The version that it carries.
        found: i64,
    },
    /// An environment variable that is not a setting, or has an invalid value.
    #[error(
        "environment variable {name}: {problem}; variables are named JUROR_<SECTION>_<KEY>, as in JUROR_JUDGE_MODEL"
    )]
    Variable { name: String, problem: String },
    /// An invalid value.
    #[error("setting {key} is {value}: {remedy}")]
    Value {
        /// The setting, with its section.
        key: String,
        value: String,
        /// Remedy: the value to set.
        remedy: &'static str,
    },
}

impl From<InvalidFileSetting> for SettingsError {
    fn from(invalid: InvalidFileSetting) -> Self {
        let InvalidFileSetting { key, value, remedy } = invalid;
        Self::Value { key: key.to_owned(), value, remedy }
    }
}

impl SettingsError {
    pub(super) fn value(
        key: impl Into<String>,
        value: impl fmt::Display,
        remedy: &'static str,
    ) -> Self {
        Self::Value { key: key.into(), value: value.to_string(), remedy }
    }
}

impl BaseLayers {
    /// Resolves all layers: `flags` over the environment over the settings file over the defaults.
    ///
    /// # Errors
    /// An invalid value.
    pub fn resolve(&self, flags: Layer) -> Result<Settings, SettingsError> {
        Settings::resolve(&[self.below.clone(), flags, self.above.clone()])
    }
}

impl Layer {
    /// Parses the text of a settings file; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SettingsError> {
        let error = |error| SettingsError::File {
            origin: origin.to_owned(),
            problem: TomlProblem::from_error(text, &error),
        };
        let table: Table = toml::from_str(text).map_err(error)?;
        match table.get("schema").and_then(Value::as_integer) {
            Some(found) if found != i64::from(SCHEMA) => {
                return Err(SettingsError::Schema { origin: origin.to_owned(), found });
            }
            _ => toml::from_str::<Settings>(text).map_err(error)?,
        };
        Ok(Self(table))
    }

    /// Parses an environment variable, `JUROR_<SECTION>_<KEY>`.
    pub fn from_variable(name: &str, value: &str) -> Result<Self, SettingsError> {
        let problem = |problem: String| SettingsError::Variable { name: name.to_owned(), problem };
        let lower = name.strip_prefix("JUROR_").unwrap_or(name).to_ascii_lowercase();
        if !lower.contains('_') {
            return Err(problem("it is not a setting".to_owned()));
        }
        let setting = lower.replacen('_', ".", 1);
        let as_string = Self::default().with(&setting, Some(value));
        // A value is read as TOML, else as a plain string.
        let as_toml = toml::from_str::<Table>(&format!("value = {value}"))
            .ok()
            .and_then(|mut table| table.remove("value"))
            .map(|value| Self::default().with(&setting, Some(value)));
        let parse = |layer: &Self| layer.clone().into_settings();
        match (as_toml.filter(|layer| parse(layer).is_ok()), parse(&as_string)) {
            (Some(layer), _) => Ok(layer),
            (None, Ok(_)) => Ok(as_string),
            (None, Err(error)) => Err(problem(match error {
                SettingsError::File { problem, .. } => problem.message,
                other => other.to_string(),
            })),
        }
    }

    /// This layer with a setting, named `section.key`, if it has a value.
    pub fn with<V: Into<Value>>(self, setting: &str, value: Option<V>) -> Self {
        let Some(value) = value else { return self };
        let (section, key) = setting.split_once('.').unwrap_or(("", setting));
        let section_table = Table::from_iter([(key.to_owned(), value.into())]);
        self.overlaid_with(Self(Table::from_iter([(section.to_owned(), section_table.into())])))
    }

    /// This layer, overridden by another one.
    pub fn overlaid_with(mut self, other: Self) -> Self {
        overlay(&mut self.0, other.0);
        self
    }

    /// True if it sets nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_settings(self) -> Result<Settings, SettingsError> {
        // Through text: a second instantiation of `Deserialize` would double the generated code.
        let text = self.0.to_string();
        toml::from_str(&text).map_err(|error| SettingsError::File {
            origin: "settings".to_owned(),
            problem: TomlProblem { line: None, ..TomlProblem::from_error(&text, &error) },
        })
    }
}

/// TOML integer of a count, saturating at `i64::MAX`.
pub fn integer(count: u64) -> Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

fn overlay(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => overlay(inner, over),
            (_, value) => drop(below.insert(key, value)),
        }
    }
}
