//! `[judge.headers]`: headers with secret values.

use serde::Deserialize;
use std::{fmt, path::PathBuf};

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
