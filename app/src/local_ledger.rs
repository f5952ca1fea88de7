//! The ledger of this machine's runs.

use crate::{error::AppError, settings::Settings};
use juror_ledger::sqlite::SqliteLedger;
use juror_types::run::RunRecord;
use std::path::{Path, PathBuf};

/// Names of the ledgers of real and of simulated money.
const REAL: &str = "juror.db";
const SIMULATED: &str = "simulated.db";

/// Opens `juror.db`.
pub fn open_local_ledger(settings: &Settings) -> Result<SqliteLedger, AppError> {
    open(&ledger_file(settings), settings)
}

/// Opens the ledger of a run on this machine: `juror.db`, or that of simulated money.
pub fn open_ledger_of(record: &RunRecord, settings: &Settings) -> Result<SqliteLedger, AppError> {
    open(&ledger_file_of(record, settings), settings)
}

/// Path of `juror.db`.
pub fn ledger_file(settings: &Settings) -> PathBuf {
    settings.run.state_dir().join(REAL)
}

/// Path of the ledger of a run on this machine.
pub fn ledger_file_of(record: &RunRecord, settings: &Settings) -> PathBuf {
    match record.simulated {
        true => settings.run.state_dir().join(SIMULATED),
        false => ledger_file(settings),
    }
}

/// Path of the ledger in the folder that a run's record names; none without such a file.
pub fn ledger_in_record(record: &RunRecord) -> Option<PathBuf> {
    let name = if record.simulated { SIMULATED } else { REAL };
    let file = Path::new(record.state_dir.as_ref()?).join(name);
    file.is_file().then_some(file)
}

fn open(file: &Path, settings: &Settings) -> Result<SqliteLedger, AppError> {
    let folder = settings.run.state_dir();
    std::fs::create_dir_all(folder).map_err(|error| {
        AppError::internal(format!(
            "folder {} cannot be created: {error}; choose another one with --runs-dir or --state",
            folder.display()
        ))
    })?;
    SqliteLedger::open(file).map_err(AppError::internal)
}
