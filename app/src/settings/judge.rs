//! Settings of the judge and its calls.

use juror_types::job::Detail;
use serde::Deserialize;
use std::{collections::BTreeMap, fmt, path::PathBuf};

/// `[judge]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeSettings {
    /// Name of the model.
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

/// Source of a header's value. `Debug` hides the value.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "a header's value is \"text\", { env = \"VARIABLE\" } or { file = \"path\" }"
)]
pub enum HeaderSource {
    /// The value itself.
    Value(String),
    /// An environment variable.
    Variable {
        /// Name of the variable.
        env: String,
    },
    /// A file that holds the value.
    File {
        /// Path of the file.
        file: PathBuf,
    },
}

impl fmt::Debug for HeaderSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => formatter.write_str("[redacted]"),
            Self::Variable { env } => write!(formatter, "env {env:?}"),
            Self::File { file } => write!(formatter, "file {file:?}"),
        }
    }
}
