//! Parsing of a data file of the program or the user, with errors that name the line.

use crate::{SCHEMA, toml_problem::TomlProblem};
use serde::de::DeserializeOwned;

/// An invalid data file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages name every field")]
pub enum DataFileError {
    /// Malformed TOML, an unknown or missing key, or a value of another type.
    #[error("{origin}{problem}")]
    Invalid {
        /// The file, as the user named it.
        origin: String,
        problem: TomlProblem,
    },
    /// Another schema version.
    #[error(
        "{origin}: schema {found} is not supported (this program reads schema {SCHEMA}): use a file of that schema, or another version of the program"
    )]
    Schema {
        /// The file, as the user named it.
        origin: String,
        /// The version found.
        found: u32,
    },
}

/// Parses a file's text, of a known schema version; `origin` names it in errors.
pub(super) fn read<T: DeserializeOwned>(
    text: &str,
    origin: &str,
    schema_of: fn(&T) -> u32,
) -> Result<T, DataFileError> {
    let file: T = toml::from_str(text).map_err(|error| DataFileError::Invalid {
        origin: origin.to_owned(),
        problem: TomlProblem::from_error(text, &error),
    })?;
    match schema_of(&file) {
        SCHEMA => Ok(file),
        found => Err(DataFileError::Schema { origin: origin.to_owned(), found }),
    }
}
