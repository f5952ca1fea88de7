//! Registration of the runs directory: the fleet's results must go to one directory, since with two
//! each would have only a part of them.

use super::{AggregatorError, runs_lock::RunsLock};
use juror_journal::{journal::JournalError, replace_file::replace_file};
use juror_ledger::{
    error::LedgerError,
    redis::{FleetBackend, RunsDirectory},
};
use std::{fs, io, io::Write as _, path::Path, time::Duration};
use tokio::time::sleep;

/// File with the id of a runs directory, in the directory itself.
const ID_FILE: &str = ".juror-fleet";
/// Interval of renewals of the claim.
const CLAIM_INTERVAL: Duration = Duration::from_secs(5);

/// The locked directory with its id; a new one gets an id.
///
/// # Errors
/// [`AggregatorError::RunsDirectory`] if the id cannot be read or written.
pub fn identify(lock: &RunsLock, host: String) -> Result<RunsDirectory, AggregatorError> {
    let runs_dir = lock.runs_dir();
    let id = id_of(runs_dir).map_err(AggregatorError::RunsDirectory)?;
    let path = fs::canonicalize(runs_dir).unwrap_or_else(|_| runs_dir.to_owned());
    Ok(RunsDirectory { id, host, path: path.display().to_string() })
}

/// Claims the fleet's results for this directory. If the backend is unreachable, `keep` tries
/// again; a take-over must be confirmed.
///
/// # Errors
/// [`AggregatorError::Elsewhere`] if they go to another directory.
pub async fn claim(
    backend: &dyn FleetBackend,
    directory: &RunsDirectory,
    take_over: bool,
) -> Result<(), AggregatorError> {
    match backend.claim_runs_directory(directory, take_over).await {
        Ok(holder) if holder.id == directory.id => Ok(()),
        Ok(theirs) => {
            let ours = directory.clone();
            Err(AggregatorError::Elsewhere { ours: Box::new(ours), theirs: Box::new(theirs) })
        }
        Err(LedgerError::Unavailable(_)) if !take_over => Ok(()),
        Err(error) => Err(AggregatorError::Backend(error)),
    }
}

/// Renews the claim repeatedly, since the backend may be emptied. Ends when another directory has
/// it.
pub(super) async fn keep(backend: &dyn FleetBackend, directory: &RunsDirectory) -> AggregatorError {
    loop {
        sleep(CLAIM_INTERVAL).await;
        match claim(backend, directory, false).await {
            Err(elsewhere @ AggregatorError::Elsewhere { .. }) => return elsewhere,
            Err(error) => tracing::debug!(%error, "claiming the runs directory failed"),
            Ok(()) => {}
        }
    }
}

fn id_of(runs_dir: &Path) -> Result<String, JournalError> {
    let path = runs_dir.join(ID_FILE);
    match fs::read_to_string(&path) {
        Ok(id) if !id.trim().is_empty() => return Ok(id.trim().to_owned()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(JournalError::io("read", &path, error));
        }
        Ok(_) | Err(_) => {}
    }
    let id = RunsDirectory::random_id();
    replace_file(&path, |out| writeln!(out, "{id}"))
        .map_err(|error| JournalError::io("write", &path, error))?;
    Ok(id)
}
