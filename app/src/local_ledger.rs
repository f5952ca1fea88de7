//! The ledger of this machine's runs.

use crate::{error::AppError, settings::Settings};
use juror_ledger::{error::LedgerError, sqlite::SqliteLedger};
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
    settings.run.state_dir().join(file_name(record))
}

/// Folder that a run's record names, if the run's ledger is still in it.
pub fn recorded_folder(record: &RunRecord) -> Option<&str> {
    let folder = record.state_dir.as_deref()?;
    Path::new(folder).join(file_name(record)).is_file().then_some(folder)
}

/// Path of the ledger that a run began with, if that is still there; else that of the settings.
pub(crate) fn recorded_ledger_file(record: &RunRecord, settings: &Settings) -> PathBuf {
    let folder = recorded_folder(record).map_or_else(|| settings.run.state_dir(), Path::new);
    folder.join(file_name(record))
}

/// Error of this machine's ledger: a damaged file is no mistake in the command line or the settings.
pub(crate) fn local_error(error: LedgerError) -> AppError {
    match error {
        LedgerError::Broken(_) => AppError::internal(error),
        LedgerError::Unavailable(_) => error.into(),
    }
}

/// Opens a ledger; its folder is created if it is that of the settings.
pub(crate) fn open(file: &Path, settings: &Settings) -> Result<SqliteLedger, AppError> {
    let folder = settings.run.state_dir();
    std::fs::create_dir_all(folder).map_err(|error| {
        AppError::internal(format!(
            "folder {} cannot be created: {error}; choose another one with --runs-dir or --state",
            folder.display()
        ))
    })?;
    SqliteLedger::open(file).map_err(local_error)
}

fn file_name(record: &RunRecord) -> &'static str {
    if record.simulated { SIMULATED } else { REAL }
}
