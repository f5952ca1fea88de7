//! `juror settings`: every key with its default.

use crate::{
    exit::{AppError, Exit},
    terminal,
};
use juror_app::settings::DEFAULTS;

/// Prints the manual of settings; as JSON, its values alone, without keys that have no default.
pub fn run() -> Result<Exit, AppError> {
    let values: toml::Table = toml::from_str(DEFAULTS).map_err(AppError::internal)?;
    terminal::print_result(&values, || DEFAULTS.to_owned())?;
    Ok(Exit::Done)
}
