//! The ledger of this machine's runs.

use crate::{error::AppError, settings::Settings};
use juror_ledger::sqlite::SqliteLedger;
use std::path::PathBuf;

/// Opens `juror.db`.
pub fn open_local_ledger(settings: &Settings) -> Result<SqliteLedger, AppError> {
    let folder = settings.run.state_dir();
    std::fs::create_dir_all(folder).map_err(|error| {
        AppError::internal(format!(
            "folder {} cannot be created: {error}; choose another one with --runs-dir or --state",
            folder.display()
        ))
    })?;
    SqliteLedger::open(&ledger_file(settings)).map_err(AppError::internal)
}

/// Path of `juror.db`.
pub fn ledger_file(settings: &Settings) -> PathBuf {
    settings.run.state_dir().join("juror.db")
}
