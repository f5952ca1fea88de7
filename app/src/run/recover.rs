//! Recovery of a run's journal after a crash.

use crate::{error::AppError, local_ledger::local_error};
use juror_aggregator::run_journal::RunJournal;
use juror_ledger::sqlite::SqliteLedger;
use juror_types::id::RunId;

/// Appends every stored result that the journal lacks: a result is stored before it is published,
/// so a crash can keep it from the journal. This precedes the planning of jobs, so that unscored
/// jobs are judged in their next round after any crash.
pub async fn append_stored_results(
    journal: &mut RunJournal,
    backend: &SqliteLedger,
    run: &RunId,
) -> Result<(), AppError> {
    let mut last = None;
    loop {
        let page = backend.stored_rounds(run, last.as_ref()).await.map_err(local_error)?;
        let mut missing = Vec::new();
        for (job, round) in &page {
            if journal.fold().latest(job).is_none_or(|latest| latest.round < *round) {
                missing.extend(backend.stored_result(run, job).await.map_err(local_error)?);
            }
        }
        journal.commit(&missing)?;
        match page.into_iter().next_back() {
            Some((job, _)) => last = Some(job),
            None => return Ok(()),
        }
    }
}
