//! Parsing of a data file of the program or the user, with errors that name the line.

use crate::{SCHEMA, toml_problem::TomlProblem};
use serde::de::DeserializeOwned;

/// An invalid data file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataFileError {
    /// Malformed TOML, an unknown or missing key, or a value of another type.
    #[error("{origin}{problem}")]
    Invalid {
        /// The file, as the user named it.
        origin: String,
        /// The problem.
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

/// Parses a file's text; `origin` names it in errors.
pub(super) fn read<T: DeserializeOwned>(text: &str, origin: &str) -> Result<T, DataFileError> {
    toml::from_str(text).map_err(|error| DataFileError::Invalid {
        origin: origin.to_owned(),
        problem: TomlProblem::from_error(text, &error),
    })
}

/// Refuses other schema versions.
pub(super) fn check_schema(found: u32, origin: &str) -> Result<(), DataFileError> {
    if found == SCHEMA {
        return Ok(());
    }
    Err(DataFileError::Schema { origin: origin.to_owned(), found })
}
