//! The ledger of this machine's runs.

use crate::{error::AppError, settings::Settings};
use juror_ledger::sqlite::SqliteLedger;

/// Opens `juror.db`.
pub fn open_local_ledger(settings: &Settings) -> Result<SqliteLedger, AppError> {
    let folder = settings.run.state_dir.as_ref().unwrap_or(&settings.run.runs_dir);
    std::fs::create_dir_all(folder).map_err(|error| {
        AppError::internal(format!(
            "folder {} cannot be created: {error}; mend that, or choose another one by --runs-dir \
             or --state",
            folder.display()
        ))
    })?;
    SqliteLedger::open(&folder.join("juror.db")).map_err(AppError::internal)
}
