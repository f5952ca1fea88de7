//! Reading a data file of ours or of the user's, so that a mistake is found by its place.

use crate::SCHEMA;
use serde::de::DeserializeOwned;

/// A data file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataFileError {
    /// It is not what it should be: no TOML, an unknown or missing key, a value of another kind.
    #[error("{origin}, line {line}: {problem}")]
    Invalid {
        /// The file, as the user named it.
        origin: String,
        /// From 1.
        line: usize,
        /// The problem there, the key named.
        problem: String,
    },
    /// It was written for another version of this program.
    #[error(
        "{origin}: schema {found} is unknown, this program reads schema {SCHEMA}: take a file that fits, or another version of the program"
    )]
    Schema {
        /// The file, as the user named it.
        origin: String,
        /// The version found.
        found: u32,
    },
}

/// Reads a file's text; `origin` names it in errors.
pub(super) fn read<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, DataFileError> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        DataFileError::Invalid { origin: origin.to_owned(), line, problem: error.message().into() }
    })
}

/// Refuses every version but ours.
pub(super) fn check_schema(found: u32, origin: &str) -> Result<(), DataFileError> {
    if found == SCHEMA {
        return Ok(());
    }
    Err(DataFileError::Schema { origin: origin.to_owned(), found })
}
