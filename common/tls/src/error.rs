//! Errors of TLS files.

use std::path::Path;

/// An invalid file of certificates or keys: the setting, the file, the problem and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsFileError(String);

impl TlsFileError {
    pub(super) fn new(message: String) -> Self {
        Self(message)
    }

    pub(super) fn in_file(setting: &str, file: &Path, problem: &str) -> Self {
        Self(format!("{setting} {}: {problem}", file.display()))
    }
}
