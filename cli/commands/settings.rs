//! `juror settings`: every key with its default.

use crate::{
    exit::{AppError, Exit},
    terminal,
};
use juror_app::settings::DEFAULTS;

/// Prints the manual of settings; as JSON, its values alone, without keys that have no default.
pub fn run(json: bool) -> Result<Exit, AppError> {
    match json {
        true => terminal::print_json(
            &toml::from_str::<toml::Table>(DEFAULTS).map_err(AppError::internal)?,
        )?,
        false => terminal::print(DEFAULTS)?,
    }
    Ok(Exit::Done)
}
