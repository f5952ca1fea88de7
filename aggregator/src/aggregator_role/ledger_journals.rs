//! Costs in the journals of a runs directory, for a ledger that may have lost them. All operations
//! block on disk I/O.

use juror_analysis::fold::Fold;
use juror_journal::{
    journal::{JournalError, RunFiles},
    replace_file::replace_file,
};
use juror_ledger::redis::JournalCost;
use juror_types::{id::RunId, outcome::JobResult, usage::Money};
use std::path::Path;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Number of results that are sent at a time.
const RESTORE_BATCH: usize = 200;

/// Marker file of a runs directory whose fleet has had a ledger: if Redis has none, it was emptied.
pub(super) const USED_FILE: &str = ".juror-ledger";

/// Cost of a run by its journal; zero without one of the fleet. A `known` cost is not read again.
pub(super) fn cost_of(
    runs_dir: &Path,
    run: &RunId,
    known: Option<Money>,
    stop: &CancellationToken,
) -> Result<JournalCost, JournalError> {
    let none = JournalCost::current(run.clone(), known.unwrap_or_default());
    let Some(files) = files_of_fleet(runs_dir, run, stop.clone())? else { return Ok(none) };
    let cost = match known {
        Some(cost) => cost,
        None => Fold::from_journal(&files)?.spent().cost,
    };
    let (last_result_at, labels) = (files.last_written(), files.record().budget_labels.clone());
    Ok(JournalCost { cost: Some(cost), last_result_at, labels, ..none })
}

/// Names of all directories in the runs directory that may be runs.
pub(super) fn run_ids_in(runs_dir: &Path) -> Vec<RunId> {
    let entries = std::fs::read_dir(runs_dir).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| RunId::parse(&name).ok()).collect()
}

/// Sends the results in a run's journal, if it is one of the fleet.
pub(super) fn send_results(
    runs_dir: &Path,
    run: &RunId,
    stop: CancellationToken,
    sender: &mpsc::Sender<Vec<JobResult>>,
) -> Result<(), JournalError> {
    let Some(files) = files_of_fleet(runs_dir, run, stop)? else { return Ok(()) };
    let mut batch = Vec::new();
    for read in files.results()? {
        batch.push(read?.1);
        if batch.len() == RESTORE_BATCH && sender.blocking_send(std::mem::take(&mut batch)).is_err()
        {
            return Ok(());
        }
    }
    // The receiver is gone if the backend is unreachable; all results are sent again later.
    let _ = sender.blocking_send(batch);
    Ok(())
}

/// Records that the fleet of this runs directory has a ledger.
pub(super) fn mark_used(marker: &Path) -> Result<(), JournalError> {
    replace_file(marker, |_| Ok(())).map_err(|error| JournalError::io("write", marker, error))
}

/// The files of a run, until `stop`; `None` if there is no such run, or none of the fleet.
fn files_of_fleet(
    runs_dir: &Path,
    run: &RunId,
    stop: CancellationToken,
) -> Result<Option<RunFiles>, JournalError> {
    match RunFiles::open(runs_dir, run) {
        Ok(files) => Ok(files.record().fleet.is_some().then(|| files.until(stop))),
        Err(JournalError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
